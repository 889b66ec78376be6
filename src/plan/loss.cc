#include "plan/loss.h"

#include <algorithm>

#include "plan/trouble.h"

namespace quorate::plan {

bool is_gone(const Situation& now, const Member& member) {
  if (member.exists()) return false;
  // Claims and Pods are made only when every record of the formation is there.
  auto current = now.current();
  return now.formed || std::any_of(current.begin(), current.end(), [](const Member* other) {
           return other->claim || other->pod || (other->record && other->record->spec.run);
         });
}

bool is_lost(const Situation& now, const Member& member) {
  if (is_gone(now, member)) return true;
  if (!member.may_run() && !member.is_stopped()) return false;
  if (now.target->storage.claim) return !member.claim || member.volume_lost();
  return !member.pod || is_finished(*member.pod);
}

namespace {

// "0/3 nodes are available: 3 node(s) had volume node affinity conflict. ...": the scheduler counts
// why each node was refused. Only if that is so for all of them, the volume's own node is gone; one
// that is merely full is counted under another reason.
bool says_no_node_has_its_volume(std::string_view message) {
  const auto slash = message.find("0/");
  const auto colon = message.find(" nodes are available: ");
  if (slash != 0 || colon == std::string_view::npos) return false;
  const auto all = message.substr(2, colon - 2);
  for (std::string_view reason : {" node(s) had volume node affinity conflict",
                                  " node(s) didn't match PersistentVolume's node affinity"}) {
    const auto wanted =
        std::string(" nodes are available: ") + std::string(all) + std::string(reason);
    if (message.substr(colon).starts_with(wanted)) return true;
  }
  return false;
}

}  // namespace

std::optional<WallTime> cut_off_since(const Member& member) {
  if (!member.pod || member.answer || member.pod->ready) return std::nullopt;
  const auto& pod = *member.pod;
  if (pod.node_silent_since) return pod.node_silent_since;
  if (pod.deleting) return pod.deleting_since;
  if (says_no_node_has_its_volume(pod.unschedulable)) return pod.unschedulable_since;
  return std::nullopt;
}

}  // namespace quorate::plan
