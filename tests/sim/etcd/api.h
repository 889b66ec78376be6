#pragma once

#include <map>
#include <memory>
#include <string>

#include "etcd/api.h"
#include "tests/sim/etcd/world.h"

namespace quorate::etcdsim {

// etcd::Api as the production operator calls it, answered by the simulated members: the same
// checks before, the same codes and reasons after. One for each client: it remembers which members
// it is connected to, because a request on a connection that stands can be lost after it was sent,
// while on a new one nothing was sent.
//
// The world outlives it. Calls of an actor that is crashed are forgotten; what was sent is carried
// out.
class SimEtcd final : public etcd::Api {
 public:
  struct Options {
    Duration connect_timeout = std::chrono::seconds(5);
    // After so long without an answer a connection is taken for dead (watches, snapshots).
    Duration ping_timeout = std::chrono::seconds(25);
  };
  // `runtime`: the actor that calls. `site`: where it is on the network.
  SimEtcd(EtcdWorld& world, rt::Runtime runtime, std::string site, Options options);
  SimEtcd(EtcdWorld& world, rt::Runtime runtime, std::string site);
  ~SimEtcd() override;

  Task<Result<etcd::RangeAnswer>> range(etcd::Target target, etcd::RangeRequest request,
                                        rt::Deadline deadline) override;
  Task<Result<etcd::PutAnswer>> put(etcd::Target target, etcd::PutRequest request,
                                    rt::Deadline deadline) override;
  Task<Result<etcd::DeleteAnswer>> delete_range(etcd::Target target, etcd::DeleteRequest request,
                                                rt::Deadline deadline) override;
  Task<Result<etcd::TxnAnswer>> txn(etcd::Target target, etcd::TxnRequest request,
                                    rt::Deadline deadline) override;
  Task<Result<etcd::Header>> compact(etcd::Target target, etcd::CompactRequest request,
                                     rt::Deadline deadline) override;
  Task<Result<etcd::MemberList>> member_list(etcd::Target target, rt::Deadline deadline) override;
  Task<Result<etcd::AddedMember>> add_learner(etcd::Target target,
                                              std::vector<std::string> peer_urls,
                                              rt::Deadline deadline) override;
  Task<Result<etcd::MemberList>> promote_learner(etcd::Target target, MemberId member,
                                                 rt::Deadline deadline) override;
  Task<Result<etcd::MemberList>> remove_member(etcd::Target target, MemberId member,
                                               rt::Deadline deadline) override;
  Task<Result<etcd::MemberList>> update_member(etcd::Target target, MemberId member,
                                               std::vector<std::string> peer_urls,
                                               rt::Deadline deadline) override;
  Task<Result<void>> greet(etcd::Target target, rt::Deadline deadline) override;
  Task<Result<etcd::Status>> status(etcd::Target target, rt::Deadline deadline) override;
  Task<Result<std::vector<etcd::Alarm>>> alarms(etcd::Target target,
                                                rt::Deadline deadline) override;
  Task<Result<void>> disarm(etcd::Target target, etcd::Alarm alarm, rt::Deadline deadline) override;
  Task<Result<void>> defragment(etcd::Target target, rt::Deadline deadline) override;
  Task<Result<etcd::HashKv>> hash_kv(etcd::Target target, Revision revision,
                                     rt::Deadline deadline) override;
  Task<Result<void>> move_leader(etcd::Target target, MemberId to, rt::Deadline deadline) override;
  Task<Result<std::unique_ptr<etcd::SnapshotStream>>> snapshot(etcd::Target target,
                                                               rt::Deadline deadline) override;
  Task<Result<etcd::Lease>> grant(etcd::Target target, etcd::GrantRequest request,
                                  rt::Deadline deadline) override;
  Task<Result<etcd::Header>> revoke(etcd::Target target, etcd::LeaseId lease,
                                    rt::Deadline deadline) override;
  Task<Result<etcd::Lease>> keep_alive(etcd::Target target, etcd::LeaseId lease,
                                       rt::Deadline deadline) override;
  Task<Result<etcd::Lease>> time_to_live(etcd::Target target, etcd::LeaseId lease, bool with_keys,
                                         rt::Deadline deadline) override;
  Task<Result<std::unique_ptr<etcd::Watch>>> watch(etcd::Target target, etcd::WatchRequest request,
                                                   rt::Deadline deadline) override;

  // ---- What etcd::Api leaves out on purpose, for tests of the dangers ----
  Task<Result<etcd::AddedMember>> add_voter(etcd::Target target, std::vector<std::string> peer_urls,
                                            rt::Deadline deadline);
  // As a client that forgot the flag.
  Task<Result<etcd::MemberList>> local_member_list(etcd::Target target, rt::Deadline deadline);
  Task<Result<void>> change_auth(etcd::Target target, AuthChange change, rt::Deadline deadline);
  Task<Result<void>> raise_alarm(etcd::Target target, etcd::Alarm alarm, rt::Deadline deadline);

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
};

}  // namespace quorate::etcdsim
