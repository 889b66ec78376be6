#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/etcd/world.h"

// What is so, read from the world itself: for invariants, which must not rest on what anybody says.
namespace quorate::etcdsim {

struct MemberTruth {
  bool voter = false;
  bool up = false;       // its process takes part in raft and is not stopped
  bool in_sync = false;  // up, and applied at least nine tenths of what is committed
  EtcdProcess* process = nullptr;
};

struct ClusterTruth {
  ClusterId cluster;
  std::map<MemberId, MemberTruth> members;  // of the committed configuration
  std::uint64_t committed = 0;              // the highest index that any directory knows to be so
  std::optional<MemberId> leader;           // that a quorum follows now

  std::size_t voters() const;
  std::size_t quorum() const { return voters() / 2 + 1; }
  std::size_t voters_up() const;
  std::size_t voters_in_sync() const;
  bool has_quorum() const { return voters_up() >= quorum(); }
};

class Truth {
 public:
  explicit Truth(const EtcdWorld& world) : world_(world) {}

  // Clusters of which a directory or a process is there.
  std::set<ClusterId> clusters() const;
  // Nothing if there is no directory of it.
  std::optional<ClusterTruth> look_at(ClusterId cluster) const;

  // The state that a quorum has agreed on: what a reader gets, or would get once a quorum is up.
  // Nothing if there is no directory of the cluster.
  std::optional<AppliedState> agreed(ClusterId cluster) const;
  std::optional<std::string> readable(ClusterId cluster, const std::string& key) const;

  // Cluster IDs under which these sites (all if none are given) ever answered clients.
  std::set<ClusterId> ever_served(const std::set<std::string>& sites = {}) const;
  // Members that answered clients from more than one directory: each is an amnesiac (S3).
  std::vector<MemberId> amnesiacs() const;
  // Whether two disjoint sets of running members could both accept a write now (S2).
  bool is_split(ClusterId cluster) const;

 private:
  const FormedDir* most_advanced(ClusterId cluster) const;
  const EtcdWorld& world_;
};

}  // namespace quorate::etcdsim
