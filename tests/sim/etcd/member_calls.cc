// Calls of clients: proposals, reads, and the rest that needs no other member.

#include <algorithm>

#include "tests/sim/etcd/member.h"
#include "tests/sim/etcd/world.h"

namespace quorate::etcdsim {
namespace {

using namespace std::chrono_literals;
using etcd::Reason;

constexpr Duration kReadRetry = 500ms;
constexpr std::int64_t kQuotaOverhead = 256;
constexpr std::int64_t kDefragmentPerSecond = 110 << 20;

std::int64_t cost_of(const etcd::PutRequest& put) {
  return static_cast<std::int64_t>(put.key.size() + put.value.size()) + kQuotaOverhead;
}

std::int64_t cost_of(const std::vector<etcd::Op>& ops) {
  std::int64_t sum = 0;
  for (const auto& op : ops)
    if (const auto* put = std::get_if<etcd::PutRequest>(&op)) sum += cost_of(*put);
  return sum;
}

std::int64_t size_of(const Proposal::Body& body) {
  if (const auto* put = std::get_if<etcd::PutRequest>(&body)) return cost_of(*put);
  if (const auto* txn = std::get_if<etcd::TxnRequest>(&body))
    return cost_of(txn->success) + cost_of(txn->failure);
  return 0;
}

bool has_duplicate_puts(const std::vector<etcd::Op>& ops) {
  std::set<std::string> keys;
  for (const auto& op : ops)
    if (const auto* put = std::get_if<etcd::PutRequest>(&op))
      if (!keys.insert(put->key).second) return true;
  return false;
}

// What is wrong with a request by itself.
std::optional<Reason> check_form(const Proposal::Body& body, const Config& config) {
  if (const auto* put = std::get_if<etcd::PutRequest>(&body))
    if (put->key.empty()) return Reason::kEmptyKey;
  if (const auto* gone = std::get_if<etcd::DeleteRequest>(&body))
    if (gone->range.key.empty()) return Reason::kEmptyKey;
  if (const auto* txn = std::get_if<etcd::TxnRequest>(&body)) {
    const std::size_t most =
        std::max({txn->compares.size(), txn->success.size(), txn->failure.size()});
    if (most > config.max_txn_ops) return Reason::kTooManyOps;
    if (has_duplicate_puts(txn->success) || has_duplicate_puts(txn->failure))
      return Reason::kDuplicateKey;
  }
  if (size_of(body) > config.max_request) return Reason::kRequestTooLarge;
  return std::nullopt;
}

std::optional<Reason> check_user(const AuthStore& auth, const std::string& user,
                                 const Proposal::Body& body) {
  if (!auth.enabled()) return std::nullopt;
  if (const auto* put = std::get_if<etcd::PutRequest>(&body))
    return auth.check_keys(user, etcd::KeyRange::one(put->key));
  if (const auto* gone = std::get_if<etcd::DeleteRequest>(&body))
    return auth.check_keys(user, gone->range);
  if (std::holds_alternative<etcd::TxnRequest>(body) || std::holds_alternative<GrantLease>(body) ||
      std::holds_alternative<RevokeLease>(body))
    return auth.check_user(user);
  return auth.check_admin(user);
}

// Who may know how a member is.
std::optional<Reason> check_asker(const Traits& traits, const AuthStore& auth,
                                  const std::string& user) {
  return traits.status_wants_user ? auth.check_user(user) : std::nullopt;
}

}  // namespace

etcd::Header Member::header() const {
  return {cluster(), id(), dir_.state.kv.revision(), RaftTerm(raft_.term())};
}

std::optional<Reason> Member::refuse(const Caller& caller) const {
  if (!dir_.state.cluster_minor) return Reason::kNotCapable;
  if (is_learner() && !caller.for_learners) return Reason::kRpcNotForLearner;
  if (caller.needs_leader && !raft_.leader()) return Reason::kNoLeader;
  return std::nullopt;
}

// What touches the database waits while it is rewritten.
template <class T>
void Member::when_idle(std::function<void()> what, const Reply<T>&) {
  if (!busy()) return what();
  process_.after(busy_until_ - now(), [this, what = std::move(what)] {
    what();
    settle();
  });
}

// ---- Proposals ----

bool Member::exceeds_quota(const Proposal::Body& body) const {
  const bool grows = std::holds_alternative<etcd::PutRequest>(body) ||
                     std::holds_alternative<GrantLease>(body) || size_of(body) > 0;
  const std::int64_t quota = process_.config().quota;
  return grows && quota > 0 && dir_.database_size + size_of(body) >= quota;
}

void Member::write(const Caller& caller, Proposal::Body body, Reply<ApplyAnswer> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  if (auto why = check_form(body, process_.config())) return reply(Refused(*why));
  if (auto why = check_user(dir_.state.auth, caller.user, body)) return reply(Refused(*why));
  if (exceeds_quota(body)) {
    etcd::Alarm alarm{id(), etcd::AlarmKind::kNoSpace};
    propose(ChangeAlarm{ChangeAlarm::Action::kRaise, alarm}, true,
            [reply](const Outcome<ApplyAnswer>&) { reply(Refused(Reason::kNoSpace)); });
    return settle();
  }
  propose(std::move(body), true, std::move(reply));
  settle();
}

void Member::propose(Proposal::Body body, bool with_timeout, Reply<ApplyAnswer> reply) {
  auto proposal = std::make_shared<Proposal>(Proposal{world_.next_id(), std::move(body)});
  const std::uint64_t request = proposal->id;
  waiting_[request] = {std::move(reply), now()};
  if (with_timeout)
    process_.after(process_.config().request_timeout(),
                   [this, request] { on_proposal_timeout(request); });
  if (!raft_.leader()) {
    blocked_.push_back(std::move(proposal));
    return;
  }
  if (raft_.propose(proposal)) return;
  auto dropped = waiting_.extract(request);
  dropped.mapped().reply(Refused(Reason::kProposalDropped));
}

void Member::flush_blocked() {
  for (auto& proposal : std::exchange(blocked_, {}))
    if (waiting_.contains(proposal->id)) (void)raft_.propose(proposal);
}

void Member::on_proposal_timeout(std::uint64_t request) {
  auto found = waiting_.extract(request);
  if (found.empty()) return;
  // What never got into raft ends with the caller's context, not with a time-out of etcd's.
  const auto never_proposed =
      std::erase_if(blocked_, [request](const auto& proposal) { return proposal->id == request; });
  const Reason why =
      never_proposed ? Reason::kRequestCancelled : why_timed_out(found.mapped().since);
  found.mapped().reply(Refused(why));
  settle();
}

Reason Member::why_timed_out(Monotonic since) const {
  if (leader_since_ && since < *leader_since_ && since > *leader_since_ - 2 * election_)
    return Reason::kTimeoutLeaderFailure;
  auto leader = raft_.leader();
  if (!leader) return Reason::kTimeout;
  if (*leader != id())
    return connected_since(*leader, since) ? Reason::kTimeout : Reason::kTimeoutConnectionLost;
  std::size_t connected = 0;
  for (const auto& [other, member] : dir_.state.membership.members())
    connected += other == id() || connected_since(other, since);
  const bool quorum = connected >= dir_.state.membership.members().size() / 2 + 1;
  return quorum ? Reason::kTimeout : Reason::kTimeoutConnectionLost;
}

// ---- Linearizable reads ----

// One question is under way at a time; whoever comes meanwhile is answered by the next.
void Member::linearize(Reply<std::monostate> then) {
  next_reads_.replies.push_back(std::move(then));
  if (reads_.replies.empty()) ask_read_index();
}

void Member::ask_read_index() {
  if (next_reads_.replies.empty()) return;
  reads_ = std::exchange(next_reads_, {});
  reads_.context = world_.next_id();
  reads_.asked = now();
  arm(read_timer_, process_.config().request_timeout(), &Member::on_read_timeout);
  if (process_.traits().read_index_retried)
    arm(read_retry_timer_, kReadRetry, &Member::on_read_retry);
  raft_.read_index(reads_.context);
}

void Member::on_read_retry() {
  if (reads_.replies.empty() || reads_.index) return;
  raft_.read_index(reads_.context);
  arm(read_retry_timer_, kReadRetry, &Member::on_read_retry);
  settle();
}

void Member::on_read_timeout() {
  if (!reads_.index) fail_reads(Reason::kTimeout);
  settle();
}

void Member::fail_reads(Reason why) {
  auto failed = std::exchange(reads_, {});
  for (auto& reply : failed.replies) reply(Refused(why));
  ask_read_index();
}

void Member::answer_reads() {
  if (!reads_.index || dir_.state.index < *reads_.index) return;
  auto done = std::exchange(reads_, {});
  cancel(read_timer_);
  cancel(read_retry_timer_);
  for (auto& reply : done.replies) reply(std::monostate());
  ask_read_index();
}

void Member::range(const Caller& caller, etcd::RangeRequest request,
                   Reply<etcd::RangeAnswer> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  if (request.range.key.empty()) return reply(Refused(Reason::kEmptyKey));
  auto read = [this, request, reply, user = caller.user] {
    if (auto why = dir_.state.auth.check_keys(user, request.range)) return reply(Refused(*why));
    auto answer = dir_.state.kv.range(request);
    if (answer) answer->header = header();
    reply(std::move(answer));
  };
  if (request.consistency == etcd::Consistency::kSerializable) return when_idle(read, reply);
  linearize([this, read, reply](Outcome<std::monostate> confirmed) {
    if (!confirmed) return reply(Refused(confirmed.error()));
    when_idle(read, reply);
  });
  settle();
}

// ---- Maintenance ----

void Member::status(const Caller& caller, Reply<etcd::Status> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  const Traits& traits = process_.traits();
  if (auto why = check_asker(traits, dir_.state.auth, caller.user)) return reply(Refused(*why));
  etcd::Status status;
  status.header = header();
  status.version = process_.version().text();
  if (traits.status_names_quota) {
    status.db_quota = Bytes(process_.config().quota);
    if (dir_.storage_minor)
      status.storage_version = "3." + std::to_string(*dir_.storage_minor) + ".0";
  }
  status.db_size = Bytes(dir_.database_size);
  status.db_in_use = Bytes(FormedDir::kEmptyDatabase + dir_.state.kv.size());
  status.leader = raft_.leader();
  status.raft_index = RaftIndex(raft_.commit());
  status.applied_index = RaftIndex(dir_.state.index);
  status.term = RaftTerm(raft_.term());
  if (!status.leader) status.errors.emplace_back("etcdserver: no leader");
  for (const auto& alarm : dir_.state.alarms)
    status.errors.push_back(
        "memberID:" + std::to_string(alarm.member.value()) +
        (alarm.kind == etcd::AlarmKind::kNoSpace ? " alarm:NOSPACE " : " alarm:CORRUPT "));
  status.learner = is_learner();
  when_idle([reply, status] { reply(status); }, reply);
}

void Member::alarms(const Caller& caller, Reply<std::vector<etcd::Alarm>> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  if (auto why = check_asker(process_.traits(), dir_.state.auth, caller.user))
    return reply(Refused(*why));
  propose(ChangeAlarm{}, true, [this, reply](const Outcome<ApplyAnswer>& answer) {
    if (!answer) return reply(Refused(answer.error()));
    reply(dir_.state.alarms);
  });
  settle();
}

void Member::defragment(const Caller& caller, Reply<std::monostate> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  if (auto why = dir_.state.auth.check_admin(caller.user)) return reply(Refused(*why));
  when_idle(
      [this, reply] {
        const double seconds = static_cast<double>(dir_.database_size) / kDefragmentPerSecond;
        const auto time =
            5ms + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
        busy_until_ = now() + time;
        process_.after(time, [this, reply] {
          dir_.database_size = FormedDir::kEmptyDatabase + dir_.state.kv.size();
          reply(std::monostate());
          settle();
        });
      },
      reply);
}

void Member::hash_kv(const Caller& caller, Revision revision, Reply<etcd::HashKv> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  when_idle(
      [this, revision, reply] {
        if (process_.traits().hash_refuses_compacted && revision == dir_.state.kv.compacted())
          return reply(Refused(Reason::kCompacted));
        auto hash = dir_.state.kv.hash(revision);
        if (!hash) return reply(Refused(hash.error()));
        etcd::HashKv answer{header(), *hash, revision, dir_.state.kv.compacted()};
        if (process_.traits().hash_names_revision && revision == Revision(0))
          answer.revision = dir_.state.kv.revision();
        reply(answer);
      },
      reply);
}

void Member::snapshot(const Caller& caller, Reply<std::string> reply) {
  Caller asked = caller;
  asked.for_learners = process_.traits().learner_gives_snapshots;
  if (auto why = refuse(asked)) return reply(Refused(*why));
  if (auto why = dir_.state.auth.check_admin(caller.user)) return reply(Refused(*why));
  when_idle([this, reply] { reply(encode_snapshot(dir_.state)); }, reply);
}

void Member::watch(const Caller& caller, etcd::WatchRequest request,
                   Reply<std::shared_ptr<WatchFeed>> reply) {
  if (auto why = refuse(caller)) return reply(Refused(*why));
  if (auto why = dir_.state.auth.check_keys(caller.user, request.range))
    return reply(Refused(*why));
  auto feed = watchers_.add(request, dir_.state.kv);
  reply(feed);
  watchers_.advance(dir_.state.kv, header());
}

}  // namespace quorate::etcdsim
