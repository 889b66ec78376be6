// What a leader does: replicate, commit, answer reads, hand over. Proposals and questions that
// reach others are sent on to it from here, too.

#include <algorithm>

#include "tests/sim/etcd/raft.h"

namespace quorate::etcdsim {
namespace {

using Type = Message::Type;

constexpr std::size_t kEntriesAtOnce = 64;

Message make(Type type, MemberId to) {
  Message message;
  message.type = type;
  message.to = to;
  return message;
}

}  // namespace

// ---- Leading ----

void Raft::append_own(Entry entry) {
  entry.term = hard_.term;
  log_.append(std::move(entry));
  Progress& own = progress_[id_];
  own.match = log_.last_index();
  own.next = own.match + 1;
  if (maybe_commit()) release_postponed_reads();
}

bool Raft::maybe_commit() {
  std::vector<std::uint64_t> matches;
  for (MemberId id : conf_.voters) {
    auto found = progress_.find(id);
    matches.push_back(found == progress_.end() ? 0 : found->second.match);
  }
  if (matches.empty()) return false;
  std::ranges::sort(matches, std::greater<>());
  const std::uint64_t index = matches[conf_.quorum() - 1];
  if (index <= hard_.commit || log_.term(index) != hard_.term) return false;
  hard_.commit = index;
  return true;
}

void Raft::broadcast_append() {
  for (const auto& [id, progress] : progress_)
    if (id != id_) send_append(id, true);
}

bool Raft::send_append(MemberId to, bool even_if_empty) {
  Progress& progress = progress_.at(to);
  if (progress.waits || progress.state == Replication::kSnapshot) return false;
  auto previous = log_.term(progress.next - 1);
  if (!previous) {
    Message message = make(Type::kSnapshot, to);
    message.snapshot = make_snapshot();
    progress.state = Replication::kSnapshot;
    progress.pending = message.snapshot->id.index;
    send(std::move(message));
    return true;
  }
  Message message = make(Type::kAppend, to);
  message.entries = log_.slice(progress.next, kEntriesAtOnce);
  if (message.entries.empty() && !even_if_empty) return false;
  message.last = {*previous, progress.next - 1};
  message.commit = hard_.commit;
  progress.commit_told = std::max(progress.commit_told, hard_.commit);
  if (progress.state == Replication::kReplicate)
    progress.next += message.entries.size();
  else
    progress.waits = true;
  send(std::move(message));
  return true;
}

void Raft::broadcast_heartbeat(std::uint64_t context) {
  for (const auto& [id, progress] : progress_)
    if (id != id_) send_heartbeat(id, context);
}

void Raft::send_heartbeat(MemberId to, std::uint64_t context) {
  Message message = make(Type::kHeartbeat, to);
  message.commit = std::min(progress_.at(to).match, hard_.commit);
  message.context = context;
  send(std::move(message));
}

void Raft::handle_append_answer(const Message& message, Progress& progress) {
  if (message.reject) return handle_rejection(message, progress);
  progress.commit_known = std::max(progress.commit_known, message.commit);
  const std::uint64_t index = message.last.index;
  const bool updated = index > progress.match;
  if (!updated && !(progress.match == index && progress.state == Replication::kProbe)) return;
  if (updated) {
    progress.match = index;
    progress.next = std::max(progress.next, index + 1);
    progress.waits = false;
  }
  const bool caught_up =
      progress.state == Replication::kSnapshot && progress.match + 1 >= log_.first_index();
  if (progress.state == Replication::kProbe || caught_up) {
    progress.state = Replication::kReplicate;
    progress.next = progress.match + 1;
    progress.waits = false;
  }
  if (maybe_commit()) {
    release_postponed_reads();
    broadcast_append();
  } else if (message.from != id_ && progress.commit_told < hard_.commit) {
    send_append(message.from, true);
  }
  while (send_append(message.from, false)) {
  }
  if (transferee_ == message.from && progress.match == log_.last_index())
    send(make(Type::kTimeoutNow, message.from));
}

void Raft::handle_rejection(const Message& message, Progress& progress) {
  std::uint64_t next = message.hint;
  if (message.last.term > 0) next = log_.find_conflict(message.hint, message.last.term).index;
  const std::uint64_t before = progress.next;
  if (progress.state == Replication::kReplicate) {
    if (message.last.index <= progress.match) return;  // stale
    progress.next = progress.match + 1;
    progress.state = Replication::kProbe;
  } else {
    if (progress.next - 1 != message.last.index) return;  // stale
    progress.next = std::max(std::min(message.last.index, next + 1), progress.match + 1);
  }
  // A member whose log contradicts what it once confirmed: etcd asks it the same for ever, as fast
  // as it can. Here the next heartbeat asks again.
  progress.waits = progress.next == before;
  if (!progress.waits) send_append(message.from, true);
}

void Raft::handle_heartbeat_answer(const Message& message, Progress& progress) {
  progress.commit_known = std::max(progress.commit_known, message.commit);
  progress.waits = false;
  if (progress.match < log_.last_index() || progress.state == Replication::kProbe) {
    // Entries that were sent into a link that broke are sent again.
    if (progress.state == Replication::kReplicate) progress.next = progress.match + 1;
    if (progress.state == Replication::kSnapshot) progress.state = Replication::kProbe;
    send_append(message.from, true);
  }
  if (message.context == 0) return;
  auto found = std::ranges::find(reads_, message.context,
                                 [](const PendingRead& read) { return read.request.context; });
  if (found == reads_.end()) return;
  if (conf_.voters.contains(message.from)) found->acks.insert(message.from);
  if (found->acks.size() < conf_.quorum()) return;
  // Those that were asked before are confirmed with it.
  std::vector<PendingRead> done(reads_.begin(), std::next(found));
  reads_.erase(reads_.begin(), std::next(found));
  for (const PendingRead& read : done) answer_read(read.request, read.index);
}

void Raft::report_unreachable(MemberId id) {
  auto found = progress_.find(id);
  if (!leads() || found == progress_.end()) return;
  Progress& progress = found->second;
  if (progress.state == Replication::kReplicate) progress.next = progress.match + 1;
  progress.state = Replication::kProbe;
  progress.waits = false;
}

// ---- Proposals, reads, transfer ----

bool Raft::propose(std::shared_ptr<const Proposal> proposal) {
  if (!leader()) return false;
  if (leads() && (transferee_ != MemberId() || !progress_.contains(id_))) return false;
  Message message = make(Type::kPropose, leader_);
  message.from = id_;
  message.entries.push_back({0, std::move(proposal)});
  if (leads())
    handle_propose(message);
  else
    send(std::move(message));
  return true;
}

void Raft::handle_propose(const Message& message) {
  if (!leads()) {
    if (!leader() || message.from != id_) return;  // dropped: forwarded to one who no longer leads
    Message forwarded = message;
    forwarded.to = leader_;
    return send(std::move(forwarded));
  }
  if (transferee_ != MemberId() || !progress_.contains(id_)) return;
  for (Entry entry : message.entries) {
    if (entry.is_conf_change()) {
      if (pending_conf_index_ > applied_)
        entry.proposal = nullptr;  // one change at a time: it is dropped without a word
      else
        pending_conf_index_ = log_.last_index() + 1;
    }
    append_own(std::move(entry));
  }
  broadcast_append();
}

void Raft::read_index(std::uint64_t context) {
  if (!leader()) return;  // lost
  Message message = make(Type::kReadIndex, leader_);
  message.from = id_;
  message.context = context;
  if (leads())
    handle_read_index(message);
  else
    send(std::move(message));
}

void Raft::handle_read_index(const Message& message) {
  if (!leads()) return;
  if (conf_.voters.size() == 1 && promotable()) return answer_read(message, hard_.commit);
  if (committed_in_term()) return confirm_read(message);
  postponed_reads_.push_back(message);
}

void Raft::confirm_read(const Message& request) {
  reads_.push_back({request, hard_.commit, {id_}});
  broadcast_heartbeat(request.context);
}

void Raft::answer_read(const Message& request, std::uint64_t index) {
  if (request.from == id_ || request.from == MemberId()) {
    read_states.push_back({request.context, index});
    return;
  }
  Message answer = make(Type::kReadIndexAnswer, request.from);
  answer.context = request.context;
  answer.last.index = index;
  send(std::move(answer));
}

void Raft::release_postponed_reads() {
  if (!committed_in_term()) return;
  for (const Message& message : std::exchange(postponed_reads_, {})) handle_read_index(message);
}

void Raft::transfer_leadership(MemberId to) {
  Message message = make(Type::kTransfer, leader_);
  message.from = to;
  message.term = 0;
  handle_transfer(message);
}

void Raft::handle_transfer(const Message& message) {
  const MemberId to = message.from;
  auto found = progress_.find(to);
  if (!leads() || found == progress_.end() || conf_.learners.contains(to) || to == id_) return;
  if (transferee_ == to) return;
  transferee_ = to;
  if (found->second.match == log_.last_index())
    send(make(Type::kTimeoutNow, to));
  else
    send_append(to, true);
}

}  // namespace quorate::etcdsim
