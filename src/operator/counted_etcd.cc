#include "operator/counted_etcd.h"

namespace quorate::op {

void CallCounts::add(Kind kind, Duration took) {
  ++by_kind_[kind];
  took_[kind.operation].add(took);
}

template <class Answer>
Task<Result<Answer>> CountedEtcd::counted(std::string_view operation, Task<Result<Answer>> call) {
  const auto began = runtime_.clock->now();
  auto answer = co_await std::move(call);
  counts_.add({operation, answer ? "ok" : name(answer.error().code())},
              runtime_.clock->now() - began);
  co_return answer;
}

Task<Result<etcd::RangeAnswer>> CountedEtcd::range(etcd::Target target, etcd::RangeRequest request,
                                                   rt::Deadline deadline) {
  return counted("range", inner_.range(std::move(target), std::move(request), deadline));
}

Task<Result<etcd::PutAnswer>> CountedEtcd::put(etcd::Target target, etcd::PutRequest request,
                                               rt::Deadline deadline) {
  return counted("put", inner_.put(std::move(target), std::move(request), deadline));
}

Task<Result<etcd::DeleteAnswer>> CountedEtcd::delete_range(etcd::Target target,
                                                           etcd::DeleteRequest request,
                                                           rt::Deadline deadline) {
  return counted("delete_range",
                 inner_.delete_range(std::move(target), std::move(request), deadline));
}

Task<Result<etcd::TxnAnswer>> CountedEtcd::txn(etcd::Target target, etcd::TxnRequest request,
                                               rt::Deadline deadline) {
  return counted("txn", inner_.txn(std::move(target), std::move(request), deadline));
}

Task<Result<etcd::Header>> CountedEtcd::compact(etcd::Target target, etcd::CompactRequest request,
                                                rt::Deadline deadline) {
  return counted("compact", inner_.compact(std::move(target), std::move(request), deadline));
}

Task<Result<etcd::MemberList>> CountedEtcd::member_list(etcd::Target target,
                                                        rt::Deadline deadline) {
  return counted("member_list", inner_.member_list(std::move(target), deadline));
}

Task<Result<etcd::AddedMember>> CountedEtcd::add_learner(etcd::Target target,
                                                         std::vector<std::string> peer_urls,
                                                         rt::Deadline deadline) {
  return counted("add_learner",
                 inner_.add_learner(std::move(target), std::move(peer_urls), deadline));
}

Task<Result<etcd::MemberList>> CountedEtcd::promote_learner(etcd::Target target, MemberId member,
                                                            rt::Deadline deadline) {
  return counted("promote_learner", inner_.promote_learner(std::move(target), member, deadline));
}

Task<Result<etcd::MemberList>> CountedEtcd::remove_member(etcd::Target target, MemberId member,
                                                          rt::Deadline deadline) {
  return counted("remove_member", inner_.remove_member(std::move(target), member, deadline));
}

Task<Result<etcd::MemberList>> CountedEtcd::update_member(etcd::Target target, MemberId member,
                                                          std::vector<std::string> peer_urls,
                                                          rt::Deadline deadline) {
  return counted("update_member",
                 inner_.update_member(std::move(target), member, std::move(peer_urls), deadline));
}

Task<Result<void>> CountedEtcd::greet(etcd::Target target, rt::Deadline deadline) {
  return counted("greet", inner_.greet(std::move(target), deadline));
}

Task<Result<etcd::Status>> CountedEtcd::status(etcd::Target target, rt::Deadline deadline) {
  return counted("status", inner_.status(std::move(target), deadline));
}

Task<Result<std::vector<etcd::Alarm>>> CountedEtcd::alarms(etcd::Target target,
                                                           rt::Deadline deadline) {
  return counted("alarms", inner_.alarms(std::move(target), deadline));
}

Task<Result<void>> CountedEtcd::disarm(etcd::Target target, etcd::Alarm alarm,
                                       rt::Deadline deadline) {
  return counted("disarm", inner_.disarm(std::move(target), alarm, deadline));
}

Task<Result<void>> CountedEtcd::defragment(etcd::Target target, rt::Deadline deadline) {
  return counted("defragment", inner_.defragment(std::move(target), deadline));
}

Task<Result<etcd::HashKv>> CountedEtcd::hash_kv(etcd::Target target, Revision revision,
                                                rt::Deadline deadline) {
  return counted("hash_kv", inner_.hash_kv(std::move(target), revision, deadline));
}

Task<Result<void>> CountedEtcd::move_leader(etcd::Target target, MemberId to,
                                            rt::Deadline deadline) {
  return counted("move_leader", inner_.move_leader(std::move(target), to, deadline));
}

Task<Result<std::unique_ptr<etcd::SnapshotStream>>> CountedEtcd::snapshot(etcd::Target target,
                                                                          rt::Deadline deadline) {
  return counted("snapshot", inner_.snapshot(std::move(target), deadline));
}

Task<Result<etcd::Lease>> CountedEtcd::grant(etcd::Target target, etcd::GrantRequest request,
                                             rt::Deadline deadline) {
  return counted("grant", inner_.grant(std::move(target), std::move(request), deadline));
}

Task<Result<etcd::Header>> CountedEtcd::revoke(etcd::Target target, etcd::LeaseId lease,
                                               rt::Deadline deadline) {
  return counted("revoke", inner_.revoke(std::move(target), lease, deadline));
}

Task<Result<etcd::Lease>> CountedEtcd::keep_alive(etcd::Target target, etcd::LeaseId lease,
                                                  rt::Deadline deadline) {
  return counted("keep_alive", inner_.keep_alive(std::move(target), lease, deadline));
}

Task<Result<etcd::Lease>> CountedEtcd::time_to_live(etcd::Target target, etcd::LeaseId lease,
                                                    bool with_keys, rt::Deadline deadline) {
  return counted("time_to_live",
                 inner_.time_to_live(std::move(target), lease, with_keys, deadline));
}

Task<Result<std::unique_ptr<etcd::Watch>>> CountedEtcd::watch(etcd::Target target,
                                                              etcd::WatchRequest request,
                                                              rt::Deadline deadline) {
  return counted("watch", inner_.watch(std::move(target), std::move(request), deadline));
}

}  // namespace quorate::op
