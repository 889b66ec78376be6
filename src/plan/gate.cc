#include "plan/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/launch_report.h"
#include "api/names.h"
#include "plan/formation.h"
#include "plan/trouble.h"

namespace quorate::plan {

bool may_have_started(const Member& member) {
  if (member.record && !member.record->spec.run) return false;
  const auto* pod = member.pod;
  bool provably_not = pod && pod->first_pod && !pod->etcd.ever_ran() && !member.answer;
  return !provably_not;
}

bool may_hold_data(const Member& member) {
  if (!may_have_started(member)) return false;
  if (member.pod && member.pod->etcd.running) return true;
  if (auto report = guard_report(member)) return report->holds_data;
  if (member.pod && !is_finished(*member.pod)) return true;
  // Nothing runs. What is left is the volume, if it had one of its own.
  bool had_claim = !member.record || member.record->spec.volume_uid.has_value();
  return had_claim && member.claim && !member.volume_lost();
}

namespace {

// A live, linearizable answer of a member of the formation, to which the whole formation is known.
const Member* find_quorum_reader(const Situation& now) {
  for (const auto* member : now.current())
    if (now.live_answer(*member) && member->answer->keys && member->answer->members &&
        is_list_of_formation(now, *member->answer->members))
      return member;
  return nullptr;
}

template <class Predicate>
int count_current(const Situation& now, Predicate predicate) {
  auto current = now.current();
  return static_cast<int>(std::count_if(current.begin(), current.end(),
                                        [&](const Member* member) { return predicate(*member); }));
}

tl::unexpected<Reason> refuse(std::string code, std::string message) {
  return tl::unexpected(Reason{std::move(code), std::move(message)});
}

}  // namespace

QuorumGate::Answer QuorumGate::abandon_formation(const Situation& now) {
  if (now.formed) return refuse("Formed", fmt::format("{} says it has formed", now.formed_by));
  if (!now.contradiction.empty()) return refuse("IdentityInDoubt", now.contradiction);
  if (!now.formation) return refuse("NoFormation", "there is no formation to give up");

  auto allow = [&](std::string proof) {
    return Permit(Disruption::kAbandonFormation, now.seen.cluster.uid, now.formation->number,
                  now.seen.op.epoch, std::move(proof));
  };
  int started = count_current(now, may_have_started);
  if (started < now.formation->quorum())
    return allow(fmt::format("{} of {} members can ever have started: nothing was committed",
                             started, now.formation->size));
  if (const auto* reader = find_quorum_reader(now)) {
    if (*reader->answer->keys == 0)
      return allow(fmt::format("a linearizable read through {} found no keys", reader->name));
    return refuse("FormationHoldsKeys", fmt::format("a linearizable read through {} found {} keys",
                                                    reader->name, *reader->answer->keys));
  }
  int holders = count_current(now, may_hold_data);
  if (holders == 0) return allow("none of its members holds data any more");
  return refuse("FormationInDoubt",
                fmt::format("{} of {} members may hold data, and no quorum of them answers whether "
                            "there are keys",
                            holders, now.formation->size));
}

QuorumGate::Answer QuorumGate::discard_formations(const Situation& now) {
  if (!now.contradiction.empty()) return refuse("IdentityInDoubt", now.contradiction);
  for (const auto* member : now.abandoned())
    if (member->identity.cluster_id || member->contradicted)
      return refuse("IdentityInDoubt", fmt::format("{} has a cluster ID", member->name));
  return Permit(Disruption::kDiscardFormation, now.seen.cluster.uid, now.last_formation,
                now.seen.op.epoch, "it was given up before it formed");
}

QuorumGate::Answer QuorumGate::replace_unformed_pod(const Situation& now, const Member& member) {
  if (now.formed) return refuse("Formed", fmt::format("{} says it has formed", now.formed_by));
  if (!now.contradiction.empty()) return refuse("IdentityInDoubt", now.contradiction);
  if (!now.formation || !now.is_current(member) || !member.record || !member.pod)
    return refuse("NoPod", fmt::format("{} has no Pod in this formation", member.name));
  if (!member.record->spec.volume_uid || !member.claim || member.volume_lost())
    return refuse("PodBoundData", fmt::format("the data of {} would go with its Pod", member.name));
  return Permit(Disruption::kReplaceUnformedPod, now.seen.cluster.uid, now.formation->number,
                now.seen.op.epoch,
                fmt::format("the cluster has not formed, and claim {} stays", member.claim->name));
}

}  // namespace quorate::plan
