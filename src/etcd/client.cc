#include "etcd/client.h"

#include "etcd/call.h"
#include "etcd/streams.h"

namespace quorate::etcd {
namespace {

constexpr bool kLeader = true;  // of Call::needs_leader
constexpr bool kAnybody = false;

class Client final : public Api {
 public:
  explicit Client(Pool& pool) : pool_(pool) {}

  // ---- Keys ----

  Task<Result<RangeAnswer>> range(Target target, RangeRequest request,
                                  rt::Deadline deadline) override {
    bool linearizable = request.consistency == Consistency::kLinearizable;
    Call call{"/etcdserverpb.KV/Range", "range", Effect::kRead, linearizable};
    return unary<RangeAnswer>(std::move(target), std::move(call), encode(request), deadline);
  }

  Task<Result<PutAnswer>> put(Target target, PutRequest request, rt::Deadline deadline) override {
    Call call{"/etcdserverpb.KV/Put", "put", Effect::kWrite, kLeader};
    return unary<PutAnswer>(std::move(target), std::move(call), encode(request), deadline);
  }

  Task<Result<DeleteAnswer>> delete_range(Target target, DeleteRequest request,
                                          rt::Deadline deadline) override {
    Call call{"/etcdserverpb.KV/DeleteRange", "delete", Effect::kWrite, kLeader};
    return unary<DeleteAnswer>(std::move(target), std::move(call), encode(request), deadline);
  }

  Task<Result<TxnAnswer>> txn(Target target, TxnRequest request, rt::Deadline deadline) override {
    Call call{"/etcdserverpb.KV/Txn", "transaction", Effect::kWrite, kLeader};
    return unary<TxnAnswer>(std::move(target), std::move(call), encode(request), deadline);
  }

  Task<Result<Header>> compact(Target target, CompactRequest request,
                               rt::Deadline deadline) override {
    Call call{"/etcdserverpb.KV/Compact", "compact", Effect::kWrite, kLeader};
    return header_of_answer(std::move(target), std::move(call), encode(request), deadline);
  }

  // ---- Cluster ----

  Task<Result<MemberList>> member_list(Target target, rt::Deadline deadline) override {
    // 3.4 does not know the flag and answers from local state. The quorum read makes sure that this
    // member has applied everything that was agreed before; what it then says of its own is no
    // older. Newer versions do the same inside: one more round there, no question of versions here.
    Call read{"/etcdserverpb.KV/Range", "quorum read for member list", Effect::kRead, kLeader};
    Call list{"/etcdserverpb.Cluster/MemberList", "member list", Effect::kRead, kLeader};
    std::string what = tried(list, target);
    CO_TRY(auto use, in(what, co_await pool_.use(target, deadline)));
    RangeRequest nothing{.range = KeyRange::one("health"), .count_only = true};
    CO_TRY(auto seen, co_await ask<RangeAnswer>(use, target, read, encode(nothing), deadline));
    CO_TRY(auto answer, co_await ask<MemberList>(use, target, list,
                                                 encode(wire::MemberListRequest{true}), deadline));
    Target same{.cluster = seen.header.cluster, .member = seen.header.member};
    CO_TRY(in(what, check_answerer(answer.header, same, Effect::kRead)));
    co_return answer;
  }

  Task<Result<AddedMember>> add_learner(Target target, std::vector<std::string> peer_urls,
                                        rt::Deadline deadline) override {
    Call call{"/etcdserverpb.Cluster/MemberAdd",
              fmt::format("add learner {}", fmt::join(peer_urls, ",")), Effect::kWrite, kLeader};
    auto added = co_await unary<AddedMember>(
        std::move(target), std::move(call),
        encode(wire::MemberAddRequest{std::move(peer_urls), true}), deadline);
    // The new ID, a hash of the URLs and the second, is that of a member removed in this second.
    if (!added && reason(added.error()) == Reason::kMemberNotFound)
      co_return fail(std::move(added.error()).as(Code::kUnavailable));
    co_return added;
  }

  Task<Result<MemberList>> promote_learner(Target target, MemberId member,
                                           rt::Deadline deadline) override {
    Call call{"/etcdserverpb.Cluster/MemberPromote",
              fmt::format("promote learner {}", member.text()), Effect::kWrite, kLeader};
    return unary<MemberList>(std::move(target), std::move(call),
                             encode(wire::MemberIdRequest{member}), deadline);
  }

  Task<Result<MemberList>> remove_member(Target target, MemberId member,
                                         rt::Deadline deadline) override {
    Call call{"/etcdserverpb.Cluster/MemberRemove", fmt::format("remove member {}", member.text()),
              Effect::kWrite, kLeader};
    return unary<MemberList>(std::move(target), std::move(call),
                             encode(wire::MemberIdRequest{member}), deadline);
  }

  Task<Result<MemberList>> update_member(Target target, MemberId member,
                                         std::vector<std::string> peer_urls,
                                         rt::Deadline deadline) override {
    Call call{"/etcdserverpb.Cluster/MemberUpdate", fmt::format("update member {}", member.text()),
              Effect::kWrite, kLeader};
    return unary<MemberList>(std::move(target), std::move(call),
                             encode(wire::MemberUpdateRequest{member, std::move(peer_urls)}),
                             deadline);
  }

  // ---- Connections ----

  Task<Result<void>> greet(Target target, rt::Deadline deadline) override {
    return pool_.greet(std::move(target), deadline);
  }

  // ---- Maintenance ----

  Task<Result<Status>> status(Target target, rt::Deadline deadline) override {
    Call call{"/etcdserverpb.Maintenance/Status", "status", Effect::kRead, kAnybody};
    return unary<Status>(std::move(target), std::move(call), encode(wire::Empty{}), deadline);
  }

  Task<Result<std::vector<Alarm>>> alarms(Target target, rt::Deadline deadline) override {
    Call call{"/etcdserverpb.Maintenance/Alarm", "alarms", Effect::kRead, kAnybody};
    CO_TRY(auto answer, co_await unary<wire::AlarmAnswer>(std::move(target), std::move(call),
                                                          encode(wire::AlarmRequest{}), deadline));
    co_return std::move(answer.alarms);
  }

  Task<Result<void>> disarm(Target target, Alarm alarm, rt::Deadline deadline) override {
    if (alarm.kind == AlarmKind::kOther)
      co_return fail(Code::kInvalid, "disarm: an alarm of a kind that is not known");
    Call call{"/etcdserverpb.Maintenance/Alarm",
              fmt::format("disarm alarm of member {}", alarm.member.text()), Effect::kWrite,
              kLeader};
    wire::AlarmRequest request{wire::AlarmRequest::Action::kDeactivate, alarm};
    CO_TRY(co_await unary<wire::AlarmAnswer>(std::move(target), std::move(call), encode(request),
                                             deadline));
    co_return Result<void>();
  }

  Task<Result<void>> defragment(Target target, rt::Deadline deadline) override {
    Call call{"/etcdserverpb.Maintenance/Defragment", "defragment", Effect::kWrite, kAnybody};
    return nothing_of_answer(std::move(target), std::move(call), encode(wire::Empty{}), deadline);
  }

  Task<Result<HashKv>> hash_kv(Target target, Revision revision, rt::Deadline deadline) override {
    Call call{"/etcdserverpb.Maintenance/HashKV", "hash", Effect::kRead, kAnybody};
    CO_TRY(auto answer, co_await unary<HashKv>(std::move(target), std::move(call),
                                               encode(wire::HashKvRequest{revision}), deadline));
    if (answer.revision == Revision(0)) answer.revision = revision;  // before 3.6
    co_return answer;
  }

  Task<Result<void>> move_leader(Target target, MemberId to, rt::Deadline deadline) override {
    Call call{"/etcdserverpb.Maintenance/MoveLeader",
              fmt::format("move leadership to {}", to.text()), Effect::kWrite, kLeader};
    return nothing_of_answer(std::move(target), std::move(call), encode(wire::MemberIdRequest{to}),
                             deadline);
  }

  Task<Result<std::unique_ptr<SnapshotStream>>> snapshot(Target target,
                                                         rt::Deadline deadline) override {
    return open_snapshot(pool_, std::move(target), deadline);
  }

  // ---- Leases ----

  Task<Result<Lease>> grant(Target target, GrantRequest request, rt::Deadline deadline) override {
    Call call{"/etcdserverpb.Lease/LeaseGrant", "grant lease", Effect::kWrite, kLeader};
    std::string what = tried(call, target);
    CO_TRY(auto answer, co_await unary<wire::GrantAnswer>(std::move(target), std::move(call),
                                                          encode(request), deadline));
    if (!answer.error.empty()) co_return fail(Error(Code::kInvalid, answer.error).in(what));
    co_return Lease{answer.header, answer.id, answer.ttl, answer.ttl, {}};
  }

  Task<Result<Header>> revoke(Target target, LeaseId lease, rt::Deadline deadline) override {
    Call call{"/etcdserverpb.Lease/LeaseRevoke", fmt::format("revoke lease {}", lease.text()),
              Effect::kWrite, kLeader};
    return header_of_answer(std::move(target), std::move(call), encode(wire::LeaseIdRequest{lease}),
                            deadline);
  }

  Task<Result<Lease>> keep_alive(Target target, LeaseId lease, rt::Deadline deadline) override {
    return keep_alive_once(pool_, std::move(target), lease, deadline);
  }

  Task<Result<Lease>> time_to_live(Target target, LeaseId lease, bool with_keys,
                                   rt::Deadline deadline) override {
    Call call{"/etcdserverpb.Lease/LeaseTimeToLive",
              fmt::format("time to live of lease {}", lease.text()), Effect::kRead, kLeader};
    std::string what = tried(call, target);
    CO_TRY(auto answer,
           co_await unary<Lease>(std::move(target), std::move(call),
                                 encode(wire::TimeToLiveRequest{lease, with_keys}), deadline));
    if (answer.ttl.count() < 0)
      co_return fail(refusal(Reason::kLeaseNotFound, Effect::kRead).in(what));
    co_return answer;
  }

  // ---- Watch ----

  Task<Result<std::unique_ptr<Watch>>> watch(Target target, WatchRequest request,
                                             rt::Deadline deadline) override {
    return open_watch(pool_, std::move(target), std::move(request), deadline);
  }

 private:
  template <class Answer>
  Task<Result<Answer>> unary(Target target, Call call, std::string message, rt::Deadline deadline) {
    CO_TRY(auto use, in(tried(call, target), co_await pool_.use(target, deadline)));
    co_return co_await ask<Answer>(use, target, std::move(call), std::move(message), deadline);
  }

  Task<Result<Header>> header_of_answer(Target target, Call call, std::string message,
                                        rt::Deadline deadline) {
    CO_TRY(auto answer, co_await unary<wire::HeaderOnly>(std::move(target), std::move(call),
                                                         std::move(message), deadline));
    co_return answer.header;
  }

  Task<Result<void>> nothing_of_answer(Target target, Call call, std::string message,
                                       rt::Deadline deadline) {
    CO_TRY(co_await unary<wire::Empty>(std::move(target), std::move(call), std::move(message),
                                       deadline));
    co_return Result<void>();
  }

  Pool& pool_;
};

}  // namespace

std::unique_ptr<Api> make_client(Pool& pool) { return std::make_unique<Client>(pool); }

}  // namespace quorate::etcd
