#include "plan/floor.h"

#include <algorithm>
#include <limits>

namespace quorate::plan {
namespace {

std::optional<std::int64_t> find_applied(const Situation& now, const api::Identity& known) {
  for (const auto& seen : now.seen.applied) {
    if (seen.ordinal != known.ordinal || seen.cluster_id != known.cluster_id ||
        seen.member_id != known.member_id)
      continue;
    if (seen.applied.value() == 0 ||
        seen.applied.value() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      return std::nullopt;
    return static_cast<std::int64_t>(seen.applied.value());
  }
  return std::nullopt;
}

// Something of it has to be written whether the floor is raised or not.
bool is_written_anyway(const Member& member, const api::Identity& known) {
  return !member.pod || member.pod->identity != known ||
         (member.record && member.record->spec.identity != known) ||
         (member.claim && member.claim->identity != known);
}

bool is_due(const Situation& now, const api::Identity& known) {
  if (!known.raft_floor) return true;
  const auto age = now.seen.now.wall - known.raft_floor->noted;
  return age >= kFloorPeriod || age <= -kFloorPeriod;
}

// How many voters the member's own log knows: it has applied every change of them that the list
// shows which it read. 0 if it read none in this attempt.
int count_known_voters(const Situation& now, const Member& member) {
  if (!now.live_answer(member) || !member.answer->members) return 0;
  const auto& list = *member.answer->members;
  return static_cast<int>(std::count_if(list.begin(), list.end(),
                                        [](const ListedMember& one) { return !one.learner; }));
}

bool knows_other_voters(const api::Identity& known, int voters) {
  if (voters == 0 || !known.raft_floor) return false;
  const int before = known.raft_floor->voters;
  return voters != (before > 0 ? before : known.formation.size);
}

}  // namespace

api::Identity raise_floor(const Situation& now, const Member& member, api::Identity known) {
  if (!known.started || known.removed) return known;
  const auto applied = find_applied(now, known);
  const int before = known.raft_floor ? known.raft_floor->voters : 0;
  if (!applied || (known.raft_floor && *applied < known.raft_floor->index)) return known;
  const int voters = count_known_voters(now, member);
  const bool higher = !known.raft_floor || *applied > known.raft_floor->index;
  if (knows_other_voters(known, voters) ||
      (higher && (is_written_anyway(member, known) || is_due(now, known))))
    known.raft_floor =
        api::RaftFloor{*applied, std::chrono::floor<std::chrono::seconds>(now.seen.now.wall),
                       voters > 0 ? voters : before};
  return known;
}

}  // namespace quorate::plan
