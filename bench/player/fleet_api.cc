#include "bench/player/fleet_api.h"

namespace quorate::bench {
namespace {

template <class T>
Task<Result<T>> not_played() {
  co_return fail(Code::kInternal, "nobody asks a cluster this while it forms");
}

}  // namespace

// Of https://198.18.0.7:2379.
Result<const Fleet::Member*> FleetApi::member_at(const etcd::Target& target) const {
  const auto begin = target.endpoint.find("//") + 2;
  const auto* member =
      fleet_.find(target.endpoint.substr(begin, target.endpoint.rfind(':') - begin));
  if (!member) return fail(Code::kUnavailable, "nobody listens at " + target.endpoint);
  return member;
}

Result<const Fleet::Member*> FleetApi::quorate_member_at(const etcd::Target& target) const {
  TRY(const auto* member, member_at(target));
  if (!fleet_.has_quorum(*member)) return fail(Code::kUnavailable, "there is no leader");
  return member;
}

Task<Result<etcd::RangeAnswer>> FleetApi::range(etcd::Target target, etcd::RangeRequest,
                                                rt::Deadline) {
  CO_TRY(const auto* member, quorate_member_at(target));
  co_return etcd::RangeAnswer{.header = fleet_.header(*member)};
}
Task<Result<etcd::MemberList>> FleetApi::member_list(etcd::Target target, rt::Deadline) {
  CO_TRY(const auto* member, quorate_member_at(target));
  co_return fleet_.list(*member);
}
Task<Result<etcd::Status>> FleetApi::status(etcd::Target target, rt::Deadline) {
  CO_TRY(const auto* member, member_at(target));
  co_return fleet_.status(*member);
}

Task<Result<etcd::PutAnswer>> FleetApi::put(etcd::Target, etcd::PutRequest, rt::Deadline) {
  return not_played<etcd::PutAnswer>();
}
Task<Result<etcd::DeleteAnswer>> FleetApi::delete_range(etcd::Target, etcd::DeleteRequest,
                                                        rt::Deadline) {
  return not_played<etcd::DeleteAnswer>();
}
Task<Result<etcd::TxnAnswer>> FleetApi::txn(etcd::Target, etcd::TxnRequest, rt::Deadline) {
  return not_played<etcd::TxnAnswer>();
}
Task<Result<etcd::Header>> FleetApi::compact(etcd::Target, etcd::CompactRequest, rt::Deadline) {
  return not_played<etcd::Header>();
}
Task<Result<etcd::AddedMember>> FleetApi::add_learner(etcd::Target, std::vector<std::string>,
                                                      rt::Deadline) {
  return not_played<etcd::AddedMember>();
}
Task<Result<etcd::MemberList>> FleetApi::promote_learner(etcd::Target, MemberId, rt::Deadline) {
  return not_played<etcd::MemberList>();
}
Task<Result<etcd::MemberList>> FleetApi::remove_member(etcd::Target, MemberId, rt::Deadline) {
  return not_played<etcd::MemberList>();
}
Task<Result<etcd::MemberList>> FleetApi::update_member(etcd::Target, MemberId,
                                                       std::vector<std::string>, rt::Deadline) {
  return not_played<etcd::MemberList>();
}
Task<Result<std::vector<etcd::Alarm>>> FleetApi::alarms(etcd::Target, rt::Deadline) {
  return not_played<std::vector<etcd::Alarm>>();
}
Task<Result<void>> FleetApi::greet(etcd::Target, rt::Deadline) { return not_played<void>(); }
Task<Result<void>> FleetApi::disarm(etcd::Target, etcd::Alarm, rt::Deadline) {
  return not_played<void>();
}
Task<Result<void>> FleetApi::defragment(etcd::Target, rt::Deadline) { return not_played<void>(); }
Task<Result<etcd::HashKv>> FleetApi::hash_kv(etcd::Target, Revision, rt::Deadline) {
  return not_played<etcd::HashKv>();
}
Task<Result<void>> FleetApi::move_leader(etcd::Target, MemberId, rt::Deadline) {
  return not_played<void>();
}
Task<Result<std::unique_ptr<etcd::SnapshotStream>>> FleetApi::snapshot(etcd::Target, rt::Deadline) {
  return not_played<std::unique_ptr<etcd::SnapshotStream>>();
}
Task<Result<etcd::Lease>> FleetApi::grant(etcd::Target, etcd::GrantRequest, rt::Deadline) {
  return not_played<etcd::Lease>();
}
Task<Result<etcd::Header>> FleetApi::revoke(etcd::Target, etcd::LeaseId, rt::Deadline) {
  return not_played<etcd::Header>();
}
Task<Result<etcd::Lease>> FleetApi::keep_alive(etcd::Target, etcd::LeaseId, rt::Deadline) {
  return not_played<etcd::Lease>();
}
Task<Result<etcd::Lease>> FleetApi::time_to_live(etcd::Target, etcd::LeaseId, bool, rt::Deadline) {
  return not_played<etcd::Lease>();
}
Task<Result<std::unique_ptr<etcd::Watch>>> FleetApi::watch(etcd::Target, etcd::WatchRequest,
                                                           rt::Deadline) {
  return not_played<std::unique_ptr<etcd::Watch>>();
}

}  // namespace quorate::bench
