#include <fmt/format.h>

#include <algorithm>

#include "plan/doubts.h"
#include "plan/electorate.h"
#include "plan/membership.h"
#include "plan/rules.h"

// Something is proposed to etcd so that a member finds out that it has everything.
//
// Why. A member of 3.6 and 3.7 that gets the leader's database as a snapshot counts nothing as
// applied until the next entry comes. With more than 5000 entries behind it, it takes itself for
// slow meanwhile: it refuses its own publication, and answers nobody. Where nobody writes, no entry
// comes, and it would wait for ever (docs/etcd-facts.md).
//
// Guarantees   what is proposed changes nothing: neither a key, nor a revision, nor a lease, nor
//              the membership; its outcome is not needed, whatever it is. It is proposed only
//              where a quorum stands and its leader was asked in this attempt, and never where
//              identity or data are in doubt, or an earlier step of ours is unresolved. Not more
//              than once in kNudgePause for a cluster; the longer a member is silent, the rarer.
// Assumptions  etcd answers the question for its alarms through the log (all versions do).
// Caveats      a member that is silent for another reason makes the log of an idle cluster grow,
//              by at most one entry in kNudgePause, and by one in kRareNudge in the end.
namespace quorate::plan {
namespace {

// How long a member that runs may take to answer before it is helped.
constexpr Duration kPatience = std::chrono::seconds(3);
constexpr Duration kRareNudge = std::chrono::minutes(5);

// Nothing if it answers, was not asked, or cannot be expected to answer.
std::optional<Duration> silent_for(const Situation& now, const Member& member) {
  for (const auto& answer : now.seen.answers)
    if (answer.ordinal == member.ordinal && answer.pod == member.pod->uid && !answer.answered &&
        answer.alike_since)
      return now.seen.now.monotonic - *answer.alike_since;
  return std::nullopt;
}

bool is_expected_to_run(const Situation& now, const Member& member) {
  return member.listed && now.is_current(member) && member.pod && !member.pod->deleting &&
         member.pod->etcd.running && !is_beyond_return(now, member);
}

// How often this member is worth an entry; nothing if it does not need any.
std::optional<Duration> pause_for(const Situation& now, const Electorate& all,
                                  const Member& member) {
  if (!is_expected_to_run(now, member)) return std::nullopt;
  if (const auto silent = silent_for(now, member)) {
    if (*silent < kPatience) return std::nullopt;
    return std::clamp<Duration>(*silent / 4, kNudgePause, kRareNudge);
  }
  const bool behind = now.live_answer(member) && member.answer->applied.value() + kNearEntries <
                                                     all.leader->answer->applied.value();
  return behind ? std::optional<Duration>(kNudgePause) : std::nullopt;
}

}  // namespace

Finding nudge(const Situation& now) {
  if (!now.formed || !now.target || !now.roster || now.hibernates()) return {};
  if (now.unresolved() || !now.contradiction.empty() || !find_doubts(now).empty()) return {};
  const auto all = find_electorate(now);
  if (!all.leader || static_cast<int>(all.healthy.size()) < all.quorum()) return {};
  std::optional<Duration> pause;
  for (const auto& member : now.members)
    if (auto wanted = pause_for(now, all, member); wanted && (!pause || *wanted < *pause))
      pause = wanted;
  const auto& last = now.seen.nudged_at;
  if (!pause || (last && now.seen.now.monotonic - *last < *pause)) return {};
  Finding out;
  out.stages.push_back({{Nudge{contact(now, *all.leader)}}, false});
  return out;
}

}  // namespace quorate::plan
