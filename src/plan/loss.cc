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
  if (!member.may_run()) return false;
  if (now.target->storage.claim) return !member.claim || member.volume_lost();
  return !member.pod || is_finished(*member.pod);
}

}  // namespace quorate::plan
