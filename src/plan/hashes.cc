#include "plan/hashes.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/fingerprint.h"

namespace quorate::plan {
namespace {

bool comparable(const MemberHash& a, const MemberHash& b) {
  return a.compacted == b.compacted && a.version.major == b.version.major &&
         a.version.minor == b.version.minor;
}

bool differ(const MemberHash& a, const MemberHash& b) {
  return comparable(a, b) && a.hash != b.hash;
}

const MemberHash* find(const HashRound& round, MemberId member) {
  auto found = std::find_if(round.hashes.begin(), round.hashes.end(),
                            [&](const MemberHash& one) { return one.member == member; });
  return found == round.hashes.end() ? nullptr : &*found;
}

// Whether two members differ in this round, and, if there is another one to confirm it, in that.
bool differ_in(const HashRound& round, const HashRound* before) {
  for (const auto& a : round.hashes)
    for (const auto& b : round.hashes) {
      if (!differ(a, b)) continue;
      if (!before) return true;
      const auto* first = find(*before, a.member);
      const auto* second = find(*before, b.member);
      if (first && second && differ(*first, *second)) return true;
    }
  return false;
}

// "the data of members differs at revision 120: c-0 1a2b3c4d, c-1 1a2b3c4d, c-2 5e6f7a8b"
std::string describe(const Situation& now, const HashRound& round) {
  std::string out;
  for (const auto& one : round.hashes) {
    const auto* member = now.find(one.ordinal);
    out += fmt::format("{}{} {:08x}", out.empty() ? "" : ", ",
                       member ? member->name : one.member.text(), one.hash);
  }
  return fmt::format("the data of members differs at revision {}: {}", round.revision.value(), out);
}

std::optional<std::string> told_before(const Situation& now) {
  if (!now.seen.cluster.status) return std::nullopt;
  for (const auto& entry : now.seen.cluster.status->waiting)
    if (entry.rule == "doubt" && entry.reason == kHashesDiffer)
      return entry.message.substr(0, entry.message.find(';'));
  return std::nullopt;
}

// What was told of the same members, or else what is known now: revisions go on, and a difference
// that stays is told in the same words.
std::string tell(const Situation& now, const HashRound& round) {
  auto told = told_before(now);
  const bool same = told && std::all_of(round.hashes.begin(), round.hashes.end(), [&](auto& one) {
                      const auto* member = now.find(one.ordinal);
                      return member && told->find(member->name + " ") != std::string::npos;
                    });
  return same ? *told : describe(now, round);
}

// Voters that answer as whom they should, and so can be asked for their hash.
std::vector<const Member*> find_askable(const Situation& now) {
  std::vector<const Member*> out;
  for (const auto* member : now.current())
    if (now.verified(*member) && now.votes(*member)) out.push_back(member);
  return out;
}

// Everybody who votes was compared with everybody, and nobody differs.
bool agree(const Situation& now, const HashRound& round) {
  if (round.hashes.empty()) return false;
  for (const auto* member : now.current()) {
    if (!now.votes(*member)) continue;
    const auto* own =
        member->identity.member_id ? find(round, *member->identity.member_id) : nullptr;
    if (!own || !comparable(*own, round.hashes.front()) || differ(*own, round.hashes.front()))
      return false;
  }
  return true;
}

const HashRound* newest(const Situation& now) {
  return now.seen.hash_rounds.empty() ? nullptr : &now.seen.hash_rounds.back();
}
const HashRound* before_newest(const Situation& now) {
  const auto& rounds = now.seen.hash_rounds;
  return rounds.size() < 2 ? nullptr : &rounds[rounds.size() - 2];
}

}  // namespace

Duration hash_turn(const Uid& cluster, Duration every) {
  constexpr std::uint64_t kParts = 1 << 20;
  const auto hash = std::stoull(Fingerprint().add(cluster.value()).text(), nullptr, 16);
  return every / kParts * static_cast<std::int64_t>(hash % kParts);
}

std::optional<std::string> find_difference(const Situation& now) {
  if (!now.formed) return std::nullopt;
  const auto* last = newest(now);
  const auto* first = before_newest(now);
  if (!last) return told_before(now);
  if (first && differ_in(*last, first)) return tell(now, *last);
  return agree(now, *last) ? std::nullopt : told_before(now);
}

bool suspects_difference(const Situation& now) {
  const auto* last = newest(now);
  const auto* first = before_newest(now);
  if (!now.formed || !last || !differ_in(*last, nullptr)) return false;
  return !first || !differ_in(*last, first);
}

bool wants_hashes(const Situation& now) {
  if (!now.formed || !now.target || now.hibernates() || now.unresolved()) return false;
  const auto askable = find_askable(now);
  if (askable.size() < 2) return false;
  const auto* last = newest(now);
  const auto every = now.seen.op.hash_every;
  const auto known_for = now.seen.now.monotonic - now.seen.known_since;
  if (!last) return told_before(now) || known_for >= hash_turn(now.seen.cluster.uid, every);
  const auto age = now.seen.now.monotonic - last->asked_at;
  if (suspects_difference(now)) return age >= kHashAgain;
  if (find_difference(now)) return age >= std::min<Duration>(kHashInDoubt, every);
  const bool joined = std::any_of(askable.begin(), askable.end(), [&](const Member* member) {
    return !find(*last, member->answer->member_id);
  });
  return age >= every || (joined && age >= kHashAgain);
}

}  // namespace quorate::plan
