#include "plan/restart.h"

#include <fmt/format.h>

#include "plan/pods.h"

namespace quorate::plan {

Finding restart(const Situation& now, std::string_view rule, const Member& member,
                const Permit& permit, std::string_view why) {
  const auto shape = make_shape(now, member);
  const Victim pod{member.pod->name, member.pod->uid};
  Finding out;
  out.rest = Finding::Rest::kHarmless;
  out.verdicts.push_back(
      now.acts(rule, "RestartingMember", fmt::format("{} {}; restarts it", member.name, why)));
  if (compare(now, member) != Difference::kImage) {
    out.stages.push_back({{RestartMember{permit, pod}}, true});
    return out;
  }
  if (member.record && member.record->spec.version != shape.version)
    out.stages.push_back({{NoteVersion{member.name, member.record->uid, shape.version}}, true});
  out.stages.push_back(
      {{ReimageMember{permit, pod, shape.image, fingerprint(shape), member.pod->etcd.restarts}},
       true});
  return out;
}

}  // namespace quorate::plan
