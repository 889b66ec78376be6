#include "tests/sim/etcd/api.h"

#include "api/names.h"
#include "etcd/endpoint.h"
#include "tests/sim/etcd/exchange.h"
#include "tests/sim/etcd/streams.h"

namespace quorate::etcdsim {
namespace {

using etcd::Effect;
using etcd::Target;

CallInfo reading(std::string operation, bool needs_leader, bool for_learners = false) {
  return {std::move(operation), Effect::kRead, {needs_leader, for_learners, {}}, false};
}
CallInfo writing(std::string operation, bool needs_leader = true) {
  return {std::move(operation), Effect::kWrite, {needs_leader, false, {}}, false};
}

// A call that goes through the log.
Serve<ApplyAnswer> propose(Proposal::Body body) {
  return [body = std::move(body)](Member& member, const Caller& caller, Reply<ApplyAnswer> reply) {
    member.write(caller, body, std::move(reply));
  };
}

// The same, answered by a `T` with the header of the member that answers.
template <class T>
Serve<T> propose_for(Proposal::Body body) {
  return [body = std::move(body)](Member& member, const Caller& caller, Reply<T> reply) {
    member.write(caller, body, [&member, reply](Outcome<ApplyAnswer> answer) {
      if (!answer) return reply(Refused(answer.error()));
      T typed = std::get<T>(std::move(*answer));
      typed.header = member.header();
      reply(std::move(typed));
    });
  };
}

struct HeaderOnly {
  etcd::Header header;
};
Serve<HeaderOnly> propose_for_header(Proposal::Body body) {
  return [body = std::move(body)](Member& member, const Caller& caller, Reply<HeaderOnly> reply) {
    member.write(caller, body, [&member, reply](const Outcome<ApplyAnswer>& answer) {
      if (!answer) return reply(Refused(answer.error()));
      reply(HeaderOnly{member.header()});
    });
  };
}

Task<Result<etcd::Header>> header_alone(Task<Result<HeaderOnly>> call) {
  CO_TRY(auto answer, co_await std::move(call));
  co_return answer.header;
}

template <class T>
Task<Result<void>> nothing_of(Task<Result<T>> call) {
  CO_TRY(auto answer, co_await std::move(call));
  (void)answer;
  co_return Result<void>();
}

// Every operation in the inside answers with an own header in a transaction; etcd leaves them
// empty.
Serve<etcd::RangeAnswer> read(etcd::RangeRequest request) {
  return [request = std::move(request)](Member& member, const Caller& caller,
                                        Reply<etcd::RangeAnswer> reply) {
    member.range(caller, request, std::move(reply));
  };
}

Serve<etcd::MemberList> list_members(bool linearizable) {
  return [linearizable](Member& member, const Caller& caller, Reply<etcd::MemberList> reply) {
    member.member_list(caller, linearizable, std::move(reply));
  };
}

Serve<etcd::AddedMember> add(std::vector<std::string> urls, bool learner) {
  return [urls = std::move(urls), learner](Member& member, const Caller& caller,
                                           Reply<etcd::AddedMember> reply) {
    member.add_member(caller, urls, learner, std::move(reply));
  };
}

}  // namespace

struct SimEtcd::Shared : Client {};

SimEtcd::SimEtcd(EtcdWorld& world, rt::Runtime runtime, std::string site, Options options)
    : shared_(std::make_shared<Shared>(Shared{
          {world, runtime, std::move(site), options.connect_timeout, options.ping_timeout, {}}})) {}
SimEtcd::SimEtcd(EtcdWorld& world, rt::Runtime runtime, std::string site)
    : SimEtcd(world, runtime, std::move(site), Options{}) {}
SimEtcd::~SimEtcd() = default;

// ---- Keys ----

Task<Result<etcd::RangeAnswer>> SimEtcd::range(Target target, etcd::RangeRequest request,
                                               rt::Deadline deadline) {
  const bool linearizable = request.consistency == etcd::Consistency::kLinearizable;
  return ask(shared_, std::move(target), reading("range", linearizable, !linearizable),
             read(std::move(request)), deadline);
}

Task<Result<etcd::PutAnswer>> SimEtcd::put(Target target, etcd::PutRequest request,
                                           rt::Deadline deadline) {
  return ask(shared_, std::move(target), writing("put"),
             propose_for<etcd::PutAnswer>(std::move(request)), deadline);
}

Task<Result<etcd::DeleteAnswer>> SimEtcd::delete_range(Target target, etcd::DeleteRequest request,
                                                       rt::Deadline deadline) {
  return ask(shared_, std::move(target), writing("delete"),
             propose_for<etcd::DeleteAnswer>(std::move(request)), deadline);
}

Task<Result<etcd::TxnAnswer>> SimEtcd::txn(Target target, etcd::TxnRequest request,
                                           rt::Deadline deadline) {
  return ask(shared_, std::move(target), writing("transaction"),
             propose_for<etcd::TxnAnswer>(std::move(request)), deadline);
}

Task<Result<etcd::Header>> SimEtcd::compact(Target target, etcd::CompactRequest request,
                                            rt::Deadline deadline) {
  return header_alone(ask(shared_, std::move(target), writing("compact"),
                          propose_for_header(std::move(request)), deadline));
}

// ---- Cluster ----

Task<Result<etcd::MemberList>> SimEtcd::member_list(Target target, rt::Deadline deadline) {
  etcd::RangeRequest nothing{.range = etcd::KeyRange::one("health"), .count_only = true};
  CO_TRY(auto seen, co_await ask(shared_, target, reading("quorum read for member list", true),
                                 read(std::move(nothing)), deadline));
  CO_TRY(auto list,
         co_await ask(shared_, target, reading("member list", true), list_members(true), deadline));
  Target same{.cluster = seen.header.cluster, .member = seen.header.member};
  CO_TRY(check_answerer(list.header, same, Effect::kRead));
  co_return list;
}

Task<Result<etcd::MemberList>> SimEtcd::local_member_list(Target target, rt::Deadline deadline) {
  return ask(shared_, std::move(target), reading("local member list", false), list_members(false),
             deadline);
}

Task<Result<etcd::AddedMember>> SimEtcd::add_learner(Target target,
                                                     std::vector<std::string> peer_urls,
                                                     rt::Deadline deadline) {
  auto call = writing(fmt::format("add learner {}", fmt::join(peer_urls, ",")));
  auto added = co_await ask(shared_, std::move(target), std::move(call),
                            add(std::move(peer_urls), true), deadline);
  // The new ID, a hash of the URLs and the second, is that of a member removed in this second.
  if (!added && etcd::reason(added.error()) == etcd::Reason::kMemberNotFound)
    co_return fail(std::move(added.error()).as(Code::kUnavailable));
  co_return added;
}

Task<Result<etcd::AddedMember>> SimEtcd::add_voter(Target target,
                                                   std::vector<std::string> peer_urls,
                                                   rt::Deadline deadline) {
  auto call = writing(fmt::format("add voter {}", fmt::join(peer_urls, ",")));
  return ask(shared_, std::move(target), std::move(call), add(std::move(peer_urls), false),
             deadline);
}

Task<Result<etcd::MemberList>> SimEtcd::promote_learner(Target target, MemberId id,
                                                        rt::Deadline deadline) {
  Serve<etcd::MemberList> serve = [id](Member& member, const Caller& caller,
                                       Reply<etcd::MemberList> reply) {
    member.promote_member(caller, id, std::move(reply));
  };
  return ask(shared_, std::move(target), writing("promote learner " + id.text()), std::move(serve),
             deadline);
}

Task<Result<etcd::MemberList>> SimEtcd::remove_member(Target target, MemberId id,
                                                      rt::Deadline deadline) {
  Serve<etcd::MemberList> serve = [id](Member& member, const Caller& caller,
                                       Reply<etcd::MemberList> reply) {
    member.remove_member(caller, id, std::move(reply));
  };
  return ask(shared_, std::move(target), writing("remove member " + id.text()), std::move(serve),
             deadline);
}

Task<Result<etcd::MemberList>> SimEtcd::update_member(Target target, MemberId id,
                                                      std::vector<std::string> peer_urls,
                                                      rt::Deadline deadline) {
  Serve<etcd::MemberList> serve = [id, urls = std::move(peer_urls)](Member& member,
                                                                    const Caller& caller,
                                                                    Reply<etcd::MemberList> reply) {
    member.update_member(caller, id, urls, std::move(reply));
  };
  return ask(shared_, std::move(target), writing("update member " + id.text()), std::move(serve),
             deadline);
}

// ---- Maintenance ----

// Takes no time: what it is for is whether either side lets the other in.
Task<Result<void>> SimEtcd::greet(Target target, rt::Deadline) {
  CO_TRY(auto endpoint, etcd::parse_endpoint(target.endpoint));
  auto& world = shared_->world;
  const auto dialed = world.dial(shared_->site, target.endpoint);
  if (dialed.reach != EtcdWorld::Reach::kAnswered || !dialed.process->member())
    co_return fail(Code::kUnavailable, "nobody answers");
  const auto& process = *dialed.process;
  const bool to_peers = endpoint.port == api::kPeerPort;
  const auto& port = to_peers ? process.peer_port() : process.client_port();
  if (endpoint.tls != port.secure())
    co_return fail(Code::kUnavailable, "the other side speaks another protocol");
  if (!endpoint.tls) co_return Result<void>();
  const auto& tls = target.identity->tls();
  co_return port.accept({tls.roots, tls.certificate}, target.server_name,
                        world.runtime().clock->wall(), {});
}

Task<Result<etcd::Status>> SimEtcd::status(Target target, rt::Deadline deadline) {
  Serve<etcd::Status> serve = [](Member& member, const Caller& caller, Reply<etcd::Status> reply) {
    member.status(caller, std::move(reply));
  };
  return ask(shared_, std::move(target), reading("status", false, true), std::move(serve),
             deadline);
}

Task<Result<std::vector<etcd::Alarm>>> SimEtcd::alarms(Target target, rt::Deadline deadline) {
  Serve<std::vector<etcd::Alarm>> serve = [](Member& member, const Caller& caller,
                                             Reply<std::vector<etcd::Alarm>> reply) {
    member.alarms(caller, std::move(reply));
  };
  auto call = reading("alarms", false);
  call.verify = true;
  return ask(shared_, std::move(target), std::move(call), std::move(serve), deadline);
}

Task<Result<void>> SimEtcd::disarm(Target target, etcd::Alarm alarm, rt::Deadline deadline) {
  if (alarm.kind == etcd::AlarmKind::kOther)
    co_return fail(Code::kInvalid, "disarm: an alarm of a kind that is not known");
  co_return co_await nothing_of(
      ask(shared_, std::move(target), writing("disarm alarm of member " + alarm.member.text()),
          propose(ChangeAlarm{ChangeAlarm::Action::kDisarm, alarm}), deadline));
}

Task<Result<void>> SimEtcd::raise_alarm(Target target, etcd::Alarm alarm, rt::Deadline deadline) {
  return nothing_of(ask(shared_, std::move(target), writing("raise alarm"),
                        propose(ChangeAlarm{ChangeAlarm::Action::kRaise, alarm}), deadline));
}

Task<Result<void>> SimEtcd::change_auth(Target target, AuthChange change, rt::Deadline deadline) {
  return nothing_of(ask(shared_, std::move(target), writing("change auth"),
                        propose(std::move(change)), deadline));
}

Task<Result<void>> SimEtcd::defragment(Target target, rt::Deadline deadline) {
  Serve<std::monostate> serve = [](Member& member, const Caller& caller,
                                   Reply<std::monostate> reply) {
    member.defragment(caller, std::move(reply));
  };
  return nothing_of(
      ask(shared_, std::move(target), writing("defragment", false), std::move(serve), deadline));
}

Task<Result<etcd::HashKv>> SimEtcd::hash_kv(Target target, Revision revision,
                                            rt::Deadline deadline) {
  Serve<etcd::HashKv> serve = [revision](Member& member, const Caller& caller,
                                         Reply<etcd::HashKv> reply) {
    member.hash_kv(caller, revision, std::move(reply));
  };
  return ask(shared_, std::move(target), reading("hash", false), std::move(serve), deadline);
}

Task<Result<void>> SimEtcd::move_leader(Target target, MemberId to, rt::Deadline deadline) {
  Serve<std::monostate> serve = [to](Member& member, const Caller& caller,
                                     Reply<std::monostate> reply) {
    member.move_leader(caller, to, std::move(reply));
  };
  return nothing_of(ask(shared_, std::move(target), writing("move leadership to " + to.text()),
                        std::move(serve), deadline));
}

Task<Result<std::unique_ptr<etcd::SnapshotStream>>> SimEtcd::snapshot(Target target,
                                                                      rt::Deadline deadline) {
  return open_snapshot(shared_, std::move(target), deadline);
}

// ---- Leases ----

Task<Result<etcd::Lease>> SimEtcd::grant(Target target, etcd::GrantRequest request,
                                         rt::Deadline deadline) {
  Serve<etcd::Lease> serve = [request](Member& member, const Caller& caller,
                                       Reply<etcd::Lease> reply) {
    member.grant(caller, request, std::move(reply));
  };
  return ask(shared_, std::move(target), writing("grant lease"), std::move(serve), deadline);
}

Task<Result<etcd::Header>> SimEtcd::revoke(Target target, etcd::LeaseId lease,
                                           rt::Deadline deadline) {
  return header_alone(ask(shared_, std::move(target), writing("revoke lease " + lease.text()),
                          propose_for_header(RevokeLease{lease}), deadline));
}

Task<Result<etcd::Lease>> SimEtcd::keep_alive(Target target, etcd::LeaseId lease,
                                              rt::Deadline deadline) {
  Serve<etcd::Lease> serve = [lease](Member& member, const Caller& caller,
                                     Reply<etcd::Lease> reply) {
    member.keep_alive(caller, lease, std::move(reply));
  };
  return ask(shared_, std::move(target), writing("keep lease " + lease.text() + " alive"),
             std::move(serve), deadline);
}

Task<Result<etcd::Lease>> SimEtcd::time_to_live(Target target, etcd::LeaseId lease, bool with_keys,
                                                rt::Deadline deadline) {
  Serve<etcd::Lease> serve = [lease, with_keys](Member& member, const Caller& caller,
                                                Reply<etcd::Lease> reply) {
    member.time_to_live(caller, lease, with_keys, std::move(reply));
  };
  return ask(shared_, std::move(target), reading("time to live of lease " + lease.text(), true),
             std::move(serve), deadline);
}

// ---- Watch ----

Task<Result<std::unique_ptr<etcd::Watch>>> SimEtcd::watch(Target target, etcd::WatchRequest request,
                                                          rt::Deadline deadline) {
  return open_watch(shared_, std::move(target), std::move(request), deadline);
}

}  // namespace quorate::etcdsim
