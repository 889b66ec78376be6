#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "etcd/errors.h"
#include "etcd/types.h"

// Who is in the cluster, as etcd keeps it: by its store, not by raft's own configuration.
namespace quorate::etcdsim {

using Members = std::map<MemberId, etcd::Member>;

// SHA-1 of sorted peer URLs and token, as etcd computes it for a static bootstrap; for members that
// are added, with the second of the addition in place of the token.
MemberId static_member_id(std::vector<std::string> peer_urls, const std::string& token);
MemberId added_member_id(std::vector<std::string> peer_urls, std::int64_t unix_seconds);
ClusterId cluster_id_of(const std::set<MemberId>& members);

struct ConfChange {
  enum class Kind { kAdd, kAddLearner, kPromote, kRemove, kUpdate };
  Kind kind = Kind::kAdd;
  etcd::Member member;  // kPromote, kRemove: the ID alone; kUpdate: ID and peer URLs
};

class Membership {
 public:
  static constexpr std::size_t kMaxLearners = 1;

  const Members& members() const { return members_; }
  const etcd::Member* find(MemberId id) const;
  bool was_removed(MemberId id) const { return removed_.contains(id); }
  std::vector<const etcd::Member*> voters() const;
  std::vector<etcd::Member> list() const;

  // Whether the change may be applied; the reason of the refusal otherwise. Asked when an entry is
  // applied, so that every member decides alike.
  std::optional<etcd::Reason> check(const ConfChange& change) const;
  void apply(const ConfChange& change);
  void set_attributes(MemberId id, const std::string& name, std::vector<std::string> client_urls);
  // For a database that forgot a promotion.
  void make_learner(MemberId id);

  // The checks before a proposal, by how many members ever started (had a name).
  bool ready_to_add_voter() const;
  bool ready_to_remove_voter(MemberId id) const;
  bool ready_to_promote() const;

 private:
  Members members_;
  std::set<MemberId> removed_;
};

}  // namespace quorate::etcdsim
