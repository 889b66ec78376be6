#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/world.h"

namespace quorate::sim {

struct Violation {
  std::string id;  // S1
  std::string text;
  Duration at{};
  std::uint64_t step = 0;
};

// What is true of one EtcdCluster, gathered from the world as it goes: never
// from what operators say.
struct Lineage {
  std::string name;
  Uid uid;
  int life = 1;  // how often the name had been declared by then
  bool exists = true;
  bool deleting = false;
  std::int64_t wanted = 0;               // members
  std::int64_t version = 0;              // of the EtcdCluster that was looked at last
  std::optional<Monotonic> unwanted_at;  // when no member was wanted, last
  // Cluster IDs of members behind the client Service, ever.
  std::set<ClusterId> served;
  std::optional<ClusterId> first;  // of those
  std::set<std::string> members;   // Pods that ever stood behind it
  std::set<std::string> listed;    // names of its members, by the last leader that was seen
  [[nodiscard]] bool formed() const { return !served.empty(); }
  // No member is, or was until a moment ago, wanted: all may be stopped.
  [[nodiscard]] bool is_unwanted(Monotonic now) const {
    constexpr auto kMoment = std::chrono::seconds(30);
    return unwanted_at && now - *unwanted_at < kMoment;
  }
};

// What invariants look at: the world, and what was gathered of it.
class Truth {
 public:
  explicit Truth(World& world) : world_(world) {}
  World& world() { return world_; }
  void look();

  [[nodiscard]] const std::map<Uid, Lineage>& lineages() const { return lineages_; }
  [[nodiscard]] const Lineage* find(const std::string& name) const;  // that exists now
  // Running members of an EtcdCluster, by the starts of their processes.
  [[nodiscard]] const std::vector<etcdsim::EtcdProcess*>& members(const Uid& cluster);
  [[nodiscard]] const Ledger::Start* start_of(std::uint64_t process);
  // The member that leads and that a quorum follows now, has committed in its term, and has applied
  // all that it committed.
  [[nodiscard]] const etcdsim::Member* settled_leader(const Uid& cluster);

 private:
  [[nodiscard]] const etcdsim::Member* find_settled_leader(const Uid& cluster);

  // What was found since the last look: many ask for the same, and nothing moves between looks.
  struct Found {
    std::optional<std::vector<etcdsim::EtcdProcess*>> members;
    std::optional<const etcdsim::Member*> leader;
  };
  World& world_;
  std::map<Uid, Lineage> lineages_;
  std::map<Uid, Found> found_;
  std::map<std::uint64_t, std::size_t> starts_;  // by process
  std::size_t seen_starts_ = 0;
  std::int64_t seen_version_ = -1;
  std::uint64_t seen_events_ = 0;
};

class Findings {
 public:
  explicit Findings(World& world) : world_(world) {}
  void broken(std::string_view id, std::string text);
  void evaluated(std::string_view id) { ++evaluations_[std::string(id)]; }
  [[nodiscard]] const std::vector<Violation>& violations() const { return violations_; }
  [[nodiscard]] bool is_broken(std::string_view id) const;
  [[nodiscard]] const std::map<std::string, std::uint64_t>& evaluations() const {
    return evaluations_;
  }

 private:
  World& world_;
  std::vector<Violation> violations_;
  std::map<std::string, std::uint64_t> evaluations_;
};

// How often operators created and deleted each object: `POST pods c-0` -> 1.
using Counts = std::map<std::string, int>;

// How a run came to its end, and what its story asks of that.
struct Ending {
  std::string_view asks;              // L1, or which case of it this story is: L2, L5, L8
  std::vector<std::string> clusters;  // that have to stand
  bool destroyed = false;             // data may be gone: no more than freezing can be asked for
  bool settled = false;               // it became as declared
  bool stayed = false;                // and was so for a while
  std::size_t rests_since = 0;        // requests until then; what is written after them is too much
  std::vector<std::string> stuck;     // clusters that are not, and cannot become, as declared
  Counts counts = {};
  std::shared_ptr<const Counts> reference = {};  // of a run without faults, if these are comparable
};

// One thing that holds always, or whenever all is calm, or in the end. `step` is called after every
// step in which something changed; it looks only at what is new. `asked`: at a time that a story
// names.
struct Invariant {
  using Look = std::function<void(Truth& truth, Findings& findings)>;
  std::string_view id;
  std::string_view says;
  Look step = {};
  Look calm = {};
  std::function<void(const Ending& ending, Truth& truth, Findings& findings)> end = {};
  Look asked = {};
};

// ---- What members do (lineage.cc) ----
[[nodiscard]] Invariant s1_no_acknowledged_loss();
[[nodiscard]] Invariant s2_one_lineage();
[[nodiscard]] Invariant s3_no_amnesia();
[[nodiscard]] Invariant s10_new_only_once();
[[nodiscard]] Invariant s11_matching_arguments();
[[nodiscard]] Invariant s21_revisions_never_go_back();
[[nodiscard]] Invariant linearizable();
// ---- What is done to members (members.cc) ----
[[nodiscard]] Invariant s4_no_quorum_loss_by_us();
[[nodiscard]] Invariant s5_one_change_at_a_time();
[[nodiscard]] Invariant s6_learners_only();
[[nodiscard]] Invariant s7_right_victim();
[[nodiscard]] Invariant s8_pod_after_member();
[[nodiscard]] Invariant s9_volume_identity();
[[nodiscard]] Invariant s15_one_disruption();
[[nodiscard]] Invariant s16_version_edges();
[[nodiscard]] Invariant s17_order();
[[nodiscard]] Invariant s18_endpoints();
// ---- When clients come (served.cc) ----
[[nodiscard]] Invariant s33_everybody_knows();
// ---- When members are restarted (updates.cc) ----
[[nodiscard]] Invariant s34_updates_wait();
// ---- How operators write (writes.cc) ----
[[nodiscard]] Invariant s12_uid_discipline();
[[nodiscard]] Invariant s13_no_stale_harm();
[[nodiscard]] Invariant s14_fencing();
[[nodiscard]] Invariant s27_no_cross_talk();
[[nodiscard]] Invariant s28_bounded_work();
[[nodiscard]] Invariant s29_frozen_on_doubt();
[[nodiscard]] Invariant s32_no_resurrection();
// ---- Certificates (trust.cc) ----
[[nodiscard]] Invariant s22_trust_overlap();
[[nodiscard]] Invariant s23_no_lock_out();
[[nodiscard]] Invariant l10_rotation();
// ---- What is published (published.cc) ----
[[nodiscard]] Invariant s24_disruption_budget();
[[nodiscard]] Invariant s25_status_honesty();
[[nodiscard]] Invariant s26_secrecy();
[[nodiscard]] Invariant s30_delete_safety();

// ---- What becomes of it (progress.cc) ----
[[nodiscard]] Invariant l1_reached_and_kept();
[[nodiscard]] Invariant l2_edits_are_undone();
[[nodiscard]] Invariant l3_same_counts();
[[nodiscard]] Invariant l4_clients_are_served();
[[nodiscard]] Invariant l5_whole_again();
[[nodiscard]] Invariant l6_members_return_alone();
[[nodiscard]] Invariant l7_says_why();
[[nodiscard]] Invariant l8_goes();
[[nodiscard]] Invariant l12_holds_nobody_up(const std::string& other);
[[nodiscard]] Invariant l13_somebody_leads();
[[nodiscard]] Invariant l14_names_who_lost();
// For stories in which more is known: status of the cluster tells of this.
[[nodiscard]] Invariant l7_says(const std::string& cluster, const std::string& reason);
// Of a cluster whose data are in doubt so many members are left as they are.
[[nodiscard]] Invariant s29_left_alone(const std::string& cluster, std::size_t members);

[[nodiscard]] std::vector<Invariant> all_invariants();

// Keeps all of them on one world.
class Checker {
 public:
  explicit Checker(World& world, std::vector<Invariant> invariants = all_invariants());
  void after_step();
  void at_calm();
  void at_end(const Ending& ending);
  Findings& findings() { return findings_; }
  Truth& truth() { return truth_; }

 private:
  Truth truth_;
  Findings findings_;
  std::vector<Invariant> invariants_;
};

}  // namespace quorate::sim
