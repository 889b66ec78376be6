#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/decide.h"
#include "plan/observation.h"

// A small world for tests of the decision core: it shows itself as an observation and takes steps
// as an executor would. No clock runs and nothing happens by itself: a test says what etcd, kubelet
// and people do.
namespace quorate::plan {

class World {
 public:
  // A cluster that was declared, and claimed by us.
  explicit World(api::ClusterSpec spec = {});

  Observation seen;  // the truth, and what is observed of it

  // Who may refuse a write: tests put a predicate here. Absent: nobody.
  std::function<bool(const Step&)> refuses;

  [[nodiscard]] Decision decide() const;

  // Takes the steps of a decision as an executor does: stage by stage, not beyond an essential
  // stage that failed, and not more than `at_most` of them (a crash). Returns how many were taken.
  int carry_out(const Decision& decision, int at_most = 1000);
  void publish(const Decision& decision);
  // One whole pass. Returns how many steps were taken.
  int pass(int at_most = 1000);
  // Passes until nothing is done any more, kubelet and etcd doing their part in between. Fails the
  // test if that never happens.
  void settle();

  // ---- What others do ----

  void advance(std::chrono::seconds time);
  // Every Pod's container runs; every running member of a formation whose quorum runs answers, and
  // clients are sent where the labels say.
  void run_pods();
  void answer();
  void silence();  // nobody answers any more
  // A step of ours was begun just now, and nobody knows what became of it.
  void leave_intent(std::string step);
  void edit(const std::function<void(api::ClusterSpec&)>& change);
  // All of it but whose the cluster is, which is written again before anything else.
  void lose_status() { seen.cluster.status.emplace().operator_identity = seen.op.identity; }
  void delete_pod(const std::string& name);
  void delete_claim(const std::string& name);
  void delete_record(const std::string& name);
  // The container of a Pod ended with this code and message, and waits to be started again.
  void end_container(const std::string& pod, int code, const std::string& message);
  // The member runs, and does not answer before something is proposed to etcd.
  void mute(Ordinal ordinal) { unheard_[ordinal] = seen.now.monotonic; }
  void set_keys(std::int64_t keys) { keys_ = keys; }
  // What members say that they are, whatever their image.
  void set_version(std::string version) { version_ = std::move(version); }

  // ---- What a test asks ----

  [[nodiscard]] RecordFacts* record(const std::string& name);
  [[nodiscard]] ClaimFacts* claim(const std::string& name);
  [[nodiscard]] PodFacts* pod(const std::string& name);
  [[nodiscard]] SharedFacts* shared(Shared which);
  [[nodiscard]] std::vector<std::string> pod_names() const;
  [[nodiscard]] const api::ClusterStatus& status() const { return *seen.cluster.status; }
  [[nodiscard]] const std::vector<Step>& history() const { return history_; }
  // etcd's own list of the formation: to be looked at, and to be changed behind our back.
  [[nodiscard]] std::vector<ListedMember>& list(int formation = 1) { return lists_[formation]; }
  [[nodiscard]] std::vector<std::string> voters(int formation = 1) const;  // names
  // Whom the members follow, if it is there: the voter of the lowest ordinal.
  void set_leader(Ordinal leader) { leader_ = leader; }

  static constexpr ClusterId kClusterId{0xcafe};
  static MemberId member_id(Ordinal ordinal) {
    return MemberId(0x100 + static_cast<std::uint64_t>(ordinal.value()));
  }

 private:
  // Whether it could be done.
  bool take(const Step& step);
  bool on(const ApplyShared& step);
  bool on(const RemoveBudget& step);
  bool on(const SetMetadata& step);
  bool on(const CreateAuthority& step);
  bool on(const IssueLeaf& step);
  bool on(const CreateRecord& step);
  bool on(const CreateClaim& step);
  bool on(const AllowRun& step);
  bool on(const CreatePod& step);
  bool on(const OpenNewPod& step);
  bool on(const NoteOnRecord& step);
  bool on(const NoteVersion& step);
  bool on(const NoteOnClaim& step);
  bool on(const UpdatePodState& step);
  bool on(const SetServing& step);
  bool on(const OwnClaim& step);
  bool on(const GrowClaim& step);
  bool on(const Nudge& step);
  bool on(const RemoveFinishedPod& step);
  bool on(const AbandonFormation& step);
  bool on(const DiscardFormation& step);
  bool on(const ReplaceUnformedPod& step);
  bool on(const StopMembers& step);
  bool on(const StopPods& step);
  bool on(const RestartMember& step);
  bool on(const ReimageMember& step);
  bool on(const IntroduceAuthority& step);
  bool on(const SwitchAuthority& step);
  bool on(const RetireAuthority& step);
  bool on(const NoteRole& step);
  bool on(const NoteLastOrdinal& step);
  bool on(const SetVoter& step);
  bool on(const AddLearner& step);
  bool on(const PromoteLearner& step);
  bool on(const MoveLeader& step);
  bool on(const RemoveMember& step);
  bool on(const DiscardMember& step);
  SharedFacts& own_shared(Shared which);
  Uid new_uid();
  // What is in its list: what the formation began with, and what was done to it since.
  std::vector<ListedMember>& listed(const api::Formation& formation);
  bool runs(const ListedMember& member) const;
  RaftIndex committed() const;  // as far as anybody knows
  MemberId find_leader(const std::vector<ListedMember>& list) const;

  std::vector<Step> history_;
  std::set<int> ever_ran_;                          // ordinals whose etcd had a log
  std::map<int, std::vector<ListedMember>> lists_;  // by formation
  std::optional<Ordinal> leader_;
  // Who has everything and does not know it, until the next entry of the log.
  std::map<Ordinal, Monotonic> unheard_;
  std::int64_t keys_ = 0;
  std::optional<std::string> version_;
  std::map<std::string, std::string> running_;  // versions, by the UID of the Pod
  int uids_ = 0;
};

// ---- Worlds to begin with, and ways through them ----

// A cluster that has formed, and in which nothing is left to do.
World formed(api::ClusterSpec spec = {});
World formed(int replicas, api::ClusterSpec spec = {});
// One that is forming: all Pods are made; and then, all members run, and nobody has seen it yet.
World with_pods_made(api::ClusterSpec spec = {});
World with_pods(api::ClusterSpec spec = {});
// Members whose data goes with their Pods.
api::ClusterSpec pod_bound();
void scale(World& world, int replicas);
// One pass after kubelet and etcd did their part.
Decision next(World& world);

// ---- Steps and what was said ----

// Steps of a kind in a decision.
template <class T>
std::vector<T> steps_of(const Decision& decision) {
  std::vector<T> out;
  for (const auto& stage : decision.stages)
    for (const auto& step : stage.steps)
      if (const auto* one = std::get_if<T>(&step)) out.push_back(*one);
  return out;
}

// Those that were taken, in order.
template <class T>
std::vector<T> taken(const World& world) {
  std::vector<T> out;
  for (const auto& step : world.history())
    if (const auto* one = std::get_if<T>(&step)) out.push_back(*one);
  return out;
}

template <class T>
int count(const World& world) {
  return static_cast<int>(taken<T>(world).size());
}

// Where in the history the first or the last of a kind stands; -1 if there is none.
template <class T>
int position(const World& world, bool last = false) {
  int at = -1;
  for (int i = 0; i < static_cast<int>(world.history().size()); ++i)
    if (std::holds_alternative<T>(world.history()[static_cast<std::size_t>(i)]) && (last || at < 0))
      at = i;
  return at;
}

// The codes of all verdicts of a rule.
std::vector<std::string> codes_of(const Decision& decision, std::string_view rule);
// The message of the first verdict with this code; empty if there is none.
std::string message_of(const Decision& decision, std::string_view code);
std::string condition(const api::ClusterStatus& status, std::string_view type);  // True, False, ...

}  // namespace quorate::plan
