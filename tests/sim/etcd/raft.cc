#include "tests/sim/etcd/raft.h"

#include <fmt/format.h>

#include <algorithm>

namespace quorate::etcdsim {
namespace {

using Type = Message::Type;

bool from_leader(Type type) {
  return type == Type::kAppend || type == Type::kHeartbeat || type == Type::kSnapshot;
}

Message make(Type type, MemberId to) {
  Message message;
  message.type = type;
  message.to = to;
  return message;
}

}  // namespace

Raft::Raft(MemberId id, bool pre_vote, RaftLog& log, HardState& hard, const ConfState& conf,
           std::uint64_t applied, const Leases& leases)
    : id_(id), pre_vote_(pre_vote), log_(log), hard_(hard), applied_(applied), leases_(leases) {
  set_conf(conf);
}

std::optional<MemberId> Raft::leader() const {
  return leader_ == MemberId() ? std::nullopt : std::optional(leader_);
}

std::optional<MemberId> Raft::transferee() const {
  return transferee_ == MemberId() ? std::nullopt : std::optional(transferee_);
}

bool Raft::committed_in_term() const { return log_.term(hard_.commit) == hard_.term; }

// ---- Roles ----

void Raft::reset(std::uint64_t term) {
  if (hard_.term != term) {
    hard_.term = term;
    hard_.vote = {};
  }
  leader_ = {};
  transferee_ = {};
  votes_.clear();
  for (auto& [id, progress] : progress_) {
    progress = {};
    progress.next = log_.last_index() + 1;
    if (id == id_) progress.match = log_.last_index();
  }
  pending_conf_index_ = 0;
  reads_.clear();
  postponed_reads_.clear();
}

void Raft::become_follower(std::uint64_t term, MemberId leader) {
  reset(term);
  leader_ = leader;
  role_ = Role::kFollower;
}

void Raft::become_leader() {
  reset(hard_.term);
  leader_ = id_;
  role_ = Role::kLeader;
  progress_[id_].state = Replication::kReplicate;
  pending_conf_index_ = log_.last_index();
  append_own({});
}

bool Raft::has_unapplied_conf_change() const {
  for (std::uint64_t i = applied_ + 1; i <= hard_.commit; ++i)
    if (log_.at(i).is_conf_change()) return true;
  return false;
}

void Raft::time_out() {
  if (leads() || !promotable() || has_unapplied_conf_change()) return;
  campaign(pre_vote_ ? Campaign::kPreElection : Campaign::kElection);
}

void Raft::campaign(Campaign how) {
  Type type = Type::kVote;
  std::uint64_t term = 0;
  if (how == Campaign::kPreElection) {
    votes_.clear();
    leader_ = {};
    role_ = Role::kPreCandidate;
    type = Type::kPreVote;
    term = hard_.term + 1;
  } else {
    reset(hard_.term + 1);
    hard_.vote = id_;
    role_ = Role::kCandidate;
    term = hard_.term;
  }
  for (MemberId to : conf_.voters) {
    if (to == id_) continue;
    Message message = make(type, to);
    message.term = term;
    message.last = log_.last();
    message.by_transfer = how == Campaign::kTransfer;
    send(std::move(message));
  }
  Message own = make(type == Type::kVote ? Type::kVoteAnswer : Type::kPreVoteAnswer, id_);
  own.from = id_;
  own.term = term;
  handle_vote_answer(own);
}

void Raft::handle_vote_answer(const Message& message) {
  const bool pre = message.type == Type::kPreVoteAnswer;
  if (role_ != (pre ? Role::kPreCandidate : Role::kCandidate)) return;
  votes_.try_emplace(message.from, !message.reject);
  std::size_t granted = 0, rejected = 0;
  for (const auto& [id, vote] : votes_) {
    if (!conf_.voters.contains(id)) continue;
    ++(vote ? granted : rejected);
  }
  if (granted >= conf_.quorum()) {
    if (pre) return campaign(Campaign::kElection);
    become_leader();
    broadcast_append();
  } else if (conf_.voters.size() - rejected < conf_.quorum()) {
    become_follower(hard_.term, {});
  }
}

// ---- Messages ----

void Raft::send(Message message) {
  message.from = id_;
  const bool termless = message.type == Type::kPropose || message.type == Type::kReadIndex;
  if (message.term == 0 && !termless) message.term = hard_.term;
  outbox.push_back(std::move(message));
}

// The rules about terms that come before all others. False if the message is dealt with.
bool Raft::step_term(const Message& message) {
  if (message.term == 0 || message.term == hard_.term) return true;
  const bool vote = message.type == Type::kVote || message.type == Type::kPreVote;
  if (message.term > hard_.term) {
    // Who hears of a leader neither votes nor lets itself be disturbed.
    if (vote && !message.by_transfer && leader() && leases_.heard_of_leader_lately()) return false;
    if (message.type == Type::kPreVote) return true;
    if (message.type == Type::kPreVoteAnswer && !message.reject) return true;
    become_follower(message.term, from_leader(message.type) ? message.from : MemberId());
    return true;
  }
  if (message.type == Type::kHeartbeat || message.type == Type::kAppend) {
    send(make(Type::kAppendAnswer, message.from));  // tells an old leader of the new term
  } else if (message.type == Type::kPreVote) {
    Message answer = make(Type::kPreVoteAnswer, message.from);
    answer.reject = true;
    send(std::move(answer));
  }
  return false;
}

void Raft::step(const Message& message) {
  if (!step_term(message)) return;
  switch (message.type) {
    case Type::kVote:
    case Type::kPreVote:
      return handle_vote(message);
    case Type::kVoteAnswer:
    case Type::kPreVoteAnswer:
      return handle_vote_answer(message);
    case Type::kAppend:
    case Type::kHeartbeat:
    case Type::kSnapshot:
      return follow(message);
    case Type::kPropose:
      return handle_propose(message);
    case Type::kReadIndex:
      return handle_read_index(message);
    case Type::kReadIndexAnswer:
      read_states.push_back({message.context, message.last.index});
      return;
    case Type::kTransfer:
      return handle_transfer(message);
    case Type::kTimeoutNow:
      if (role_ == Role::kFollower && promotable() && !has_unapplied_conf_change())
        campaign(Campaign::kTransfer);
      return;
    case Type::kAppendAnswer:
    case Type::kHeartbeatAnswer: {
      auto found = progress_.find(message.from);
      if (!leads() || found == progress_.end()) return;
      return message.type == Type::kAppendAnswer ? handle_append_answer(message, found->second)
                                                 : handle_heartbeat_answer(message, found->second);
    }
  }
}

void Raft::handle_vote(const Message& message) {
  const bool pre = message.type == Type::kPreVote;
  const bool can_vote = hard_.vote == message.from || (hard_.vote == MemberId() && !leader()) ||
                        (pre && message.term > hard_.term);
  Message answer = make(pre ? Type::kPreVoteAnswer : Type::kVoteAnswer, message.from);
  if (can_vote && message.last >= log_.last()) {
    answer.term = message.term;
    if (!pre) hard_.vote = message.from;
  } else {
    answer.term = hard_.term;
    answer.reject = true;
  }
  send(std::move(answer));
}

void Raft::follow(const Message& message) {
  if (leads()) return;  // two leaders in one term: an amnesiac voted twice; etcd's raft ignores it
  if (role_ != Role::kFollower) become_follower(message.term, message.from);
  leader_ = message.from;
  if (message.type == Type::kAppend) return handle_append(message);
  if (message.type == Type::kHeartbeat) return handle_heartbeat(message);
  handle_snapshot(message);
}

void Raft::handle_append(const Message& message) {
  Message answer = make(Type::kAppendAnswer, message.from);
  answer.commit = hard_.commit;
  if (message.last.index < hard_.commit) {
    answer.last.index = hard_.commit;  // taken for agreement, whatever stands there
    return send(std::move(answer));
  }
  if (!log_.matches(message.last)) {
    answer.reject = true;
    answer.last =
        log_.find_conflict(std::min(message.last.index, log_.last_index()), message.last.term);
    answer.hint = answer.last.index;
    answer.last.index = message.last.index;
    return send(std::move(answer));
  }
  std::uint64_t index = message.last.index;
  for (const Entry& entry : message.entries) {
    ++index;
    if (log_.matches({entry.term, index})) continue;
    if (index <= hard_.commit)
      throw Panic{fmt::format("entry {} conflict with committed entry [committed({})]", index,
                              hard_.commit)};
    if (index <= log_.last_index()) log_.truncate(index);
    log_.append(entry);
  }
  index = message.last.index + message.entries.size();
  commit_to(std::min(message.commit, index));
  answer.last.index = index;
  answer.commit = hard_.commit;
  send(std::move(answer));
}

void Raft::handle_heartbeat(const Message& message) {
  commit_to(message.commit);
  Message answer = make(Type::kHeartbeatAnswer, message.from);
  answer.context = message.context;
  answer.commit = hard_.commit;
  send(std::move(answer));
}

void Raft::handle_snapshot(const Message& message) {
  Message answer = make(Type::kAppendAnswer, message.from);
  const RaftSnapshot& snapshot = *message.snapshot;
  const bool mine =
      snapshot.state.conf.voters.contains(id_) || snapshot.state.conf.learners.contains(id_);
  if (snapshot.id.index > hard_.commit && mine) {
    if (log_.matches(snapshot.id)) {
      commit_to(snapshot.id.index);
    } else {
      log_.restart_at(snapshot.id);
      hard_.commit = snapshot.id.index;
      applied_ = snapshot.id.index;
      install_snapshot(snapshot);
      set_conf(snapshot.state.conf);
    }
  }
  answer.last.index = hard_.commit;
  answer.commit = hard_.commit;
  send(std::move(answer));
}

void Raft::commit_to(std::uint64_t index) {
  if (index <= hard_.commit) return;
  if (index > log_.last_index())
    throw Panic{fmt::format(
        "tocommit({}) is out of range [lastIndex({})]. Was the raft log corrupted, truncated, or "
        "lost?",
        index, log_.last_index())};
  hard_.commit = index;
}

// ---- Configuration ----

void Raft::set_conf(const ConfState& conf) {
  conf_ = conf;
  auto known = [&](MemberId id) {
    return conf_.voters.contains(id) || conf_.learners.contains(id);
  };
  std::erase_if(progress_, [&](const auto& entry) { return !known(entry.first); });
  for (const auto& ids : {conf_.voters, conf_.learners}) {
    for (MemberId id : ids) {
      auto [it, is_new] = progress_.try_emplace(id);
      if (!is_new) continue;
      it->second.next = log_.last_index() + 1;
      if (id == id_) it->second.match = log_.last_index();
    }
  }
  if (!leads()) return;
  // A smaller quorum may make entries committed; a new member has to be told what there is.
  if (promotable() && maybe_commit()) {
    release_postponed_reads();
    broadcast_append();
  } else {
    for (const auto& [id, progress] : progress_)
      if (id != id_) send_append(id, false);
  }
  if (transferee_ != MemberId() && !conf_.voters.contains(transferee_)) transferee_ = {};
}

}  // namespace quorate::etcdsim
