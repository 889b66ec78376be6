#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/validate.h"
#include "plan/observation.h"
#include "plan/verdict.h"

// What follows from an observation by joining and comparing alone, before any rule is asked. Every
// rule sees the same one.
namespace quorate::plan {

// One member of this cluster (by UID), with all that bears its ordinal. A member of the formation
// that stands is listed even if nothing of it is there. Pointers point into the observation.
struct Member {
  Ordinal ordinal;
  std::string name;
  const RecordFacts* record = nullptr;
  const ClaimFacts* claim = nullptr;
  const PodFacts* pod = nullptr;
  const MemberAnswer* answer = nullptr;  // of that Pod, given, and fresh; etcd still runs in it
  const ListedMember* listed = nullptr;  // its entry in the roster, by its peer URL

  api::Identity identity;     // merged from record, claim and Pod
  bool contradicted = false;  // they say different things

  bool exists() const { return record || claim || pod; }
  // Its Pod may exist: the claim, if it has one, was there before. Without a record, what is there
  // says so: only a claim or Pod can be left of a member that once had a record.
  bool may_run() const { return record ? record->spec.run : claim || pod; }
  // It ran, and was stopped for as long as no member is wanted; its volume waits for it.
  bool is_stopped() const { return record && !record->spec.run && record->spec.volume_uid; }
  // A record was written so that it joins, and etcd was not seen to know it yet.
  bool is_pending() const {
    return record && !listed && identity.joins() && !identity.member_id && !identity.started;
  }
  // The volume that its record names is not there: its data is lost.
  bool volume_lost() const;
};

// An object under a name of ours that is not ours.
struct Foreign {
  std::string object;    // Pod c-0
  std::string owner;     // whose it is, for people
  bool leaving = false;  // it is being deleted, or its owner is gone: it will go by itself
};

struct Situation {
  const Observation& seen;

  // ---- Identity, believed from any witness ----
  bool formed = false;
  std::optional<ClusterId> cluster_id;
  std::string formed_by;      // the witness, for people
  std::string contradiction;  // why identity is in doubt; empty = it is not

  // ---- What is to be ----
  api::Problems problems;  // of the declaration, by itself or as a change
  // The spec to work towards: the declaration if it may be taken up, else the last good one; its
  // version is set. Absent if there is neither.
  std::optional<api::ClusterSpec> target;

  // ---- What is ----
  std::vector<Member> members;  // of this cluster, by ordinal
  std::vector<Foreign> foreign;
  // The formation under way, or the one that formed: the highest number, unless it was abandoned.
  std::optional<api::Formation> formation;
  int last_formation = 0;  // the highest number seen anywhere, abandoned or not
  // The member list of a formed cluster, as its members read it linearizably in this attempt;
  // nullptr if none did, or if two of them read different ones.
  const std::vector<ListedMember>* roster = nullptr;
  bool rosters_differ = false;
  std::vector<std::string> strangers;  // entries of the roster that no member of ours can be
  Ordinal next_ordinal;                // one above the highest seen anywhere

  bool claimed = false;           // our cluster, as its status says
  bool claimed_by_other = false;  // another operator's

  const Member* find(Ordinal ordinal) const;
  const SharedFacts* find(Shared which) const;  // whoever's it is
  bool is_ours(const SharedFacts& shared) const;
  const Foreign* find_foreign(std::string_view object) const;

  bool is_of_formation(const Member& member) const;
  bool is_current(const Member& member) const;
  // Of the formation that stands, or joined to it, and not removed.
  std::vector<const Member*> current() const;
  std::vector<const Member*> removed() const;    // of it, too, and no members any more
  std::vector<const Member*> abandoned() const;  // of other formations

  // A member of the formation that stands has a cluster ID: it formed, whether we have written that
  // down or not.
  bool any_member_answers() const;
  // Whether the answer was asked for in this attempt.
  bool live(const MemberAnswer& answer) const { return answer.asked_at >= seen.began; }
  bool live_answer(const Member& member) const { return member.answer && live(*member.answer); }
  // The fresh answer of a formed cluster's member agrees with all that is written down.
  bool verified(const Member& member) const;

  // The member answers for a quorum that lacks entries which this cluster had committed: what it
  // says of the membership is of long ago. Its data, or a quorum's, is an older copy.
  //
  // Guarantees   a linearizable read is answered by who has applied all that was committed before,
  //              and the index was asked for after it; every floor is an entry that was committed.
  bool lacks_entries(const Member& member) const;

  // Whether a member of a formed cluster has a vote: by the roster, or, without one, by its record.
  bool votes(const Member& member) const;
  int count_voters() const;
  // A membership call or other disruptive step of a formed cluster whose end nobody has seen: its
  // intent still stands in status, and has not stood there for long enough that it can have no
  // effect any more. That is measured by our own clock, since we first saw it, or since our own
  // call ended: what other machines' clocks say does not shorten it.
  bool unresolved() const;
  // A step that etcd refused a moment ago; nullptr if there is none.
  const Refusal* find_refused() const;

  // No member is wanted to run: all stop, and keep what they have.
  bool hibernates() const { return formed && target && target->replicas == 0; }

  // How many voters of a formed cluster answer as whom they should, and whether a quorum confirmed
  // a read through one of them: for us, or for the kubelet, whose readiness probe is such a read.
  struct Quorum {
    int voters = 0;
    int answering = 0;
    bool confirmed = false;
    bool stands() const { return confirmed && answering >= voters / 2 + 1; }
  };
  Quorum quorum() const;

  // Verdicts. `since` is when status first said it; the deadline follows from it.
  WallTime since(std::string_view rule, std::string_view reason) const;
  // How long something may take before status says that it is late.
  Duration progress_deadline() const;
  Waiting waiting(std::string_view rule, std::string code, std::string message) const;
  Blocked blocked(std::string_view rule, std::string code, std::string message,
                  bool frozen = false) const;
  Acts acts(std::string_view rule, std::string code, std::string message) const;
};

// How long a call whose answer was lost may still take effect after it ended: longer than etcd
// itself waits for a quorum, and than the longest call of ours.
inline constexpr auto kUnresolvedFor = std::chrono::seconds(15);
// Whether etcd is left in peace after it refused something. It wants its members connected for five
// seconds before it changes its membership (E6), counted from a moment that only it knows: so it is
// asked again soon, and later each time, at most that long.
[[nodiscard]] bool is_left_in_peace(const Refusal& refusal, Monotonic now);
// How long from one entry that we propose for nothing to the next (nudge.cc).
inline constexpr auto kNudgePause = std::chrono::seconds(10);
// How long nothing is tried in a namespace that is going away.
inline constexpr auto kNamespacePause = std::chrono::seconds(60);
// Beyond this no ordinal is given out: far from overflow, and far from anything real.
inline constexpr int kMaxOrdinal = 1'000'000'000;

[[nodiscard]] Situation make_situation(const Observation& seen);

// Its parts, in the order in which they are made.
void join_members(Situation& now);
void find_formation(Situation& now);
void believe_witnesses(Situation& now);
void find_roster(Situation& now);
void list_absent_members(Situation& now);
void choose_target(Situation& now);

}  // namespace quorate::plan
