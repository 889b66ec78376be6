#include "plan/gate.h"
#include "plan/rules.h"

// No member is wanted: all stop, and keep what they have.
//
// How it goes. Clients are sent away (`ensure` takes the labels); `run` is cleared on every record;
// then every Pod is deleted, all at once. Waking is the reverse, and `ensure` alone does it: `run`
// is set, and each member comes back on its own volume under its own ID.
//
// Guarantees   no volume and no record goes, whatever `storage.retention` says; nobody is removed,
//              added or promoted meanwhile, so that the members who wake are those who went to
//              sleep. A change of mind in between needs no clean-up.
// Assumptions  etcd bears that all its members stop at once, in any order.
// Caveats      while they sleep, a lost volume is not noticed by etcd; it is replaced on waking.
namespace quorate::plan {
namespace {

constexpr std::string_view kRule = "hibernate";

template <class T>
void act(const Situation& now, Finding& out, std::vector<Victim> victims, std::string message) {
  auto permit = QuorumGate::hibernate(now);
  if (!permit) {
    out.verdicts.push_back(now.blocked(kRule, permit.error().code, permit.error().message));
    return;
  }
  out.verdicts.push_back(now.acts(kRule, "Hibernating", std::move(message)));
  out.stages.push_back({{T{*permit, std::move(victims)}}, true});
}

}  // namespace

Finding hibernate(const Situation& now) {
  if (!now.hibernates()) return {};
  Finding out;
  out.rest = Finding::Rest::kNothing;
  std::vector<Victim> records, pods;
  bool leaving = false;
  for (const auto& member : now.members) {
    if (!now.is_of_formation(member)) continue;
    if (member.record && member.record->spec.run && !member.record->deleting)
      records.push_back({member.record->name, member.record->uid});
    if (!member.pod) continue;
    leaving = leaving || member.pod->deleting;
    if (!member.pod->deleting) pods.push_back({member.pod->name, member.pod->uid});
  }
  if (!records.empty())
    act<StopMembers>(now, out, std::move(records), "no member is wanted; all are stopped");
  else if (!pods.empty())
    act<StopPods>(now, out, std::move(pods), "no member is wanted; deletes their Pods");
  else if (leaving)
    out.verdicts.push_back(now.waiting(kRule, "PodsLeaving", "the last Pods are going"));
  return out;
}

}  // namespace quorate::plan
