#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>

#include "etcd/api.h"
#include "operator/histogram.h"

namespace quorate::op {

// What was asked of members, as metrics show it: as many series as there are operations and kinds
// of failures, however many members there are.
class CallCounts {
 public:
  struct Kind {
    std::string_view operation;  // a method of etcd::Api
    std::string_view outcome;    // ok, or the name of the failure's code
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  void add(Kind kind, Duration took);
  [[nodiscard]] const std::map<Kind, std::uint64_t>& by_kind() const { return by_kind_; }
  [[nodiscard]] const std::map<std::string_view, Histogram>& took() const { return took_; }

 private:
  std::map<Kind, std::uint64_t> by_kind_;
  std::map<std::string_view, Histogram> took_;
};

// Passes everything on, and counts it. A stream counts when it begins.
class CountedEtcd final : public etcd::Api {
 public:
  // Both outlive it.
  CountedEtcd(rt::Runtime runtime, etcd::Api& inner, CallCounts& counts)
      : runtime_(runtime), inner_(inner), counts_(counts) {}

  // ---- Keys ----
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

  // ---- Cluster ----
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

  // ---- Connections ----
  Task<Result<void>> greet(etcd::Target target, rt::Deadline deadline) override;

  // ---- Maintenance ----
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

  // ---- Leases ----
  Task<Result<etcd::Lease>> grant(etcd::Target target, etcd::GrantRequest request,
                                  rt::Deadline deadline) override;
  Task<Result<etcd::Header>> revoke(etcd::Target target, etcd::LeaseId lease,
                                    rt::Deadline deadline) override;
  Task<Result<etcd::Lease>> keep_alive(etcd::Target target, etcd::LeaseId lease,
                                       rt::Deadline deadline) override;
  Task<Result<etcd::Lease>> time_to_live(etcd::Target target, etcd::LeaseId lease, bool with_keys,
                                         rt::Deadline deadline) override;

  // ---- Watch ----
  Task<Result<std::unique_ptr<etcd::Watch>>> watch(etcd::Target target, etcd::WatchRequest request,
                                                   rt::Deadline deadline) override;

 private:
  // `call` has not begun yet; `operation` is a constant.
  template <class Answer>
  Task<Result<Answer>> counted(std::string_view operation, Task<Result<Answer>> call);

  rt::Runtime runtime_;
  etcd::Api& inner_;
  CallCounts& counts_;
};

}  // namespace quorate::op
