#pragma once

#include "bench/player/fleet.h"
#include "etcd/api.h"

namespace quorate::bench {

// The fleet as etcd::Api, in process: for forming many clusters without a handshake each. Only what
// a cluster that forms is asked.
class FleetApi final : public etcd::Api {
 public:
  explicit FleetApi(const Fleet& fleet) : fleet_(fleet) {}

  Task<Result<etcd::RangeAnswer>> range(etcd::Target target, etcd::RangeRequest request,
                                        rt::Deadline deadline) override;
  Task<Result<etcd::MemberList>> member_list(etcd::Target target, rt::Deadline deadline) override;
  Task<Result<etcd::Status>> status(etcd::Target target, rt::Deadline deadline) override;

  Task<Result<void>> greet(etcd::Target, rt::Deadline) override;

  Task<Result<etcd::PutAnswer>> put(etcd::Target, etcd::PutRequest, rt::Deadline) override;
  Task<Result<etcd::DeleteAnswer>> delete_range(etcd::Target, etcd::DeleteRequest,
                                                rt::Deadline) override;
  Task<Result<etcd::TxnAnswer>> txn(etcd::Target, etcd::TxnRequest, rt::Deadline) override;
  Task<Result<etcd::Header>> compact(etcd::Target, etcd::CompactRequest, rt::Deadline) override;
  Task<Result<etcd::AddedMember>> add_learner(etcd::Target, std::vector<std::string>,
                                              rt::Deadline) override;
  Task<Result<etcd::MemberList>> promote_learner(etcd::Target, MemberId, rt::Deadline) override;
  Task<Result<etcd::MemberList>> remove_member(etcd::Target, MemberId, rt::Deadline) override;
  Task<Result<etcd::MemberList>> update_member(etcd::Target, MemberId, std::vector<std::string>,
                                               rt::Deadline) override;
  Task<Result<std::vector<etcd::Alarm>>> alarms(etcd::Target, rt::Deadline) override;
  Task<Result<void>> disarm(etcd::Target, etcd::Alarm, rt::Deadline) override;
  Task<Result<void>> defragment(etcd::Target, rt::Deadline) override;
  Task<Result<etcd::HashKv>> hash_kv(etcd::Target, Revision, rt::Deadline) override;
  Task<Result<void>> move_leader(etcd::Target, MemberId, rt::Deadline) override;
  Task<Result<std::unique_ptr<etcd::SnapshotStream>>> snapshot(etcd::Target, rt::Deadline) override;
  Task<Result<etcd::Lease>> grant(etcd::Target, etcd::GrantRequest, rt::Deadline) override;
  Task<Result<etcd::Header>> revoke(etcd::Target, etcd::LeaseId, rt::Deadline) override;
  Task<Result<etcd::Lease>> keep_alive(etcd::Target, etcd::LeaseId, rt::Deadline) override;
  Task<Result<etcd::Lease>> time_to_live(etcd::Target, etcd::LeaseId, bool, rt::Deadline) override;
  Task<Result<std::unique_ptr<etcd::Watch>>> watch(etcd::Target, etcd::WatchRequest,
                                                   rt::Deadline) override;

 private:
  Result<const Fleet::Member*> member_at(const etcd::Target& target) const;
  Result<const Fleet::Member*> quorate_member_at(const etcd::Target& target) const;

  const Fleet& fleet_;
};

}  // namespace quorate::bench
