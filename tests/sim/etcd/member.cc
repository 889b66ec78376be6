// Raft in time: who hears whom, and what passes when somebody no longer does.

#include "tests/sim/etcd/member.h"

#include <algorithm>

#include "base/check.h"
#include "tests/sim/etcd/world.h"

namespace quorate::etcdsim {
namespace {

using namespace std::chrono_literals;

// A connection on which nothing comes back is given up after this time.
constexpr Duration kReadTimeout = 5s;

}  // namespace

Member::Member(EtcdProcess& process, FormedDir& dir)
    : process_(process),
      world_(process.world()),
      dir_(dir),
      election_(process.config().election),
      raft_(dir.member, process.config().pre_vote.value_or(process.traits().pre_vote), dir.log,
            dir.hard, dir.state.conf, dir.state.index, *this) {
  raft_.make_snapshot = [this] {
    const std::uint64_t index = dir_.state.index;
    return std::make_shared<const RaftSnapshot>(
        RaftSnapshot{{dir_.log.term(index).value_or(0), index}, dir_.state});
  };
  raft_.install_snapshot = [this](const RaftSnapshot& snapshot) {
    dir_.state = snapshot.state;
    dir_.database_revision = dir_.state.kv.revision();
    dir_.database_size = FormedDir::kEmptyDatabase + dir_.state.kv.size();
  };
}

Member::~Member() = default;

Monotonic Member::now() const { return world_.now(); }

bool Member::is_learner() const {
  const etcd::Member* self = dir_.state.membership.find(id());
  return self && self->learner;
}

void Member::arm(Timer& timer, Duration delay, void (Member::*what)()) {
  const std::uint64_t generation = ++timer.generation;
  timer.armed = true;
  process_.after(delay, [this, &timer, generation, what] {
    if (timer.generation != generation) return;
    timer.armed = false;
    (this->*what)();
  });
}

void Member::cancel(Timer& timer) {
  ++timer.generation;
  timer.armed = false;
}

void Member::start() {
  silent_since_ = now();
  seen_term_ = raft_.term();
  publish();
  settle();
  world_.touch();
}

// What only a leader says. Who has led asks for votes like anybody else.
static bool is_word_of_leader(const Message& message) {
  return message.type == Message::Type::kAppend || message.type == Message::Type::kHeartbeat ||
         message.type == Message::Type::kSnapshot;
}

void Member::receive(const Message& message) {
  if (dir_.state.membership.was_removed(message.from)) return;
  if (message.to != id()) return;
  raft_.step(message);
  // Whoever hears from a leader once, without hearing it for good, waits a whole time-out again.
  if (silent_since_ && raft_.leader() == message.from && is_word_of_leader(message)) {
    silent_since_ = now();
    cancel(election_timer_);
    rearm_election();
  }
}

// ---- Who hears whom ----

bool Member::hears_leader() const {
  auto leader = raft_.leader();
  if (!leader) return false;
  if (*leader == id()) return raft_.leads();
  EtcdProcess* other = world_.find(cluster(), *leader);
  if (!other || !other->member() || other->paused() || other->volume().stalled) return false;
  const Raft& theirs = other->member()->raft();
  return theirs.leads() && theirs.term() == raft_.term() && theirs.progress().contains(id()) &&
         peers_.contains(*leader) && !peers_.at(*leader).impaired_since &&
         peers_.at(*leader).active_since;
}

bool Member::heard_of_leader_lately() const {
  return !silent_since_ || now() - *silent_since_ < election_;
}

// Whether these two have a connection that works now: the network lets both directions through and
// at least one of the two can dial the other.
static bool can_talk(EtcdWorld& world, EtcdProcess& a, EtcdProcess& b) {
  if (a.paused() || b.paused() || a.volume().stalled || b.volume().stalled) return false;
  if (!world.network().open_both_ways(a.site(), b.site())) return false;
  auto dials = [&world](EtcdProcess& from, EtcdProcess& to) {
    const Membership& known = from.member()->state().membership;
    const etcd::Member* record = known.find(to.member()->id());
    // Who joins knows the others from its command line before its log tells it.
    std::vector<std::string> urls;
    if (record)
      urls = record->peer_urls;
    else if (known.members().empty())
      for (const auto& [name, each] : from.config().initial_cluster)
        urls.insert(urls.end(), each.begin(), each.end());
    return std::ranges::any_of(urls, [&](const std::string& url) {
      auto dialed = world.dial(from.site(), url);
      return dialed.process == &to && to.accepts_peer(from, url);
    });
  };
  const bool removed = a.member()->state().membership.was_removed(b.member()->id()) ||
                       b.member()->state().membership.was_removed(a.member()->id());
  return !removed && (dials(a, b) || dials(b, a));
}

void Member::look_at_peers() {
  for (const auto& process : world_.members_of(cluster())) {
    if (process->member() == this) continue;
    const MemberId other = process->member()->id();
    Peer& peer = peers_[other];
    const bool same = peer.process == process->id();
    // A connection that stands is not shaken hands on again.
    const bool stands = same && peer.active_since && !peer.impaired_since && !process_.paused() &&
                        !process->paused() && !process->volume().stalled &&
                        !process_.volume().stalled &&
                        world_.network().open_both_ways(process_.site(), process->site()) &&
                        !dir_.state.membership.was_removed(other) &&
                        !process->member()->state().membership.was_removed(id());
    if (stands) continue;
    if (can_talk(world_, process_, *process)) {
      const bool expired = peer.impaired_since && now() - *peer.impaired_since >= kReadTimeout;
      if (!same || !peer.active_since || expired) peer.active_since = now();
      peer.impaired_since.reset();
      peer.process = process->id();
    } else if (same && peer.active_since) {
      if (!peer.impaired_since) peer.impaired_since = now();
      raft_.report_unreachable(other);
    } else {
      peer = {};
    }
  }
  for (auto& [other, peer] : peers_) {
    EtcdProcess* process = world_.find(cluster(), other);
    if (process && process->id() == peer.process) continue;
    if (peer.active_since) raft_.report_unreachable(other);
    if (!process) peer = {};
  }
}

std::optional<Monotonic> Member::active_since(MemberId other) const {
  auto found = peers_.find(other);
  if (found == peers_.end() || !found->second.active_since) return std::nullopt;
  const Peer& peer = found->second;
  if (peer.impaired_since && now() - *peer.impaired_since >= kReadTimeout) return std::nullopt;
  return peer.active_since;
}

void Member::look_again() {
  look_at_peers();
  // Whoever meets a member that knows of its removal is told, and ends.
  for (const auto& process : world_.members_of(cluster())) {
    if (!process->member()->state().membership.was_removed(id()) || process->paused()) continue;
    if (world_.network().open_both_ways(process_.site(), process->site())) end_as_removed();
  }
  if (hears_leader())
    silent_since_.reset();
  else if (!silent_since_)
    silent_since_ = now();
  rearm_election();
  rearm_quorum();
  rearm_heartbeat();
  if (raft_.leads()) watch_versions();
  // Watches that asked for a leader are ended when there is none for long.
  if (!raft_.leader() && !watchers_.empty())
    process_.after(3 * election_, [this] {
      if (!raft_.leader()) watchers_.end_all(etcd::Reason::kNoLeader);
    });
}

// ---- Time-outs ----

void Member::rearm_election() {
  if (!silent_since_ || raft_.leads()) return cancel(election_timer_);
  if (election_timer_.armed) return;
  // A pre-candidate without anybody to ask changes nothing by asking again.
  if (raft_.role() == Raft::Role::kPreCandidate && !has_quorum()) return;
  Duration delay = world_.between(election_, 2 * election_);
  // etcd shortens the first wait after a start.
  if (std::exchange(first_election_, false)) {
    const auto ticks = raft_.conf().voters.size() == 1 ? 1 : 3;
    delay -= election_ - ticks * process_.config().heartbeat;
  }
  arm(election_timer_, delay, &Member::on_election_timeout);
}

void Member::on_election_timeout() {
  raft_.time_out();
  silent_since_ = now() - election_;
  settle();
  rearm_election();
}

bool Member::has_quorum() const {
  std::size_t active = 0;
  for (MemberId voter : raft_.conf().voters) {
    if (voter == id()) {
      ++active;
      continue;
    }
    auto peer = peers_.find(voter);
    if (peer != peers_.end() && peer->second.active_since && !peer->second.impaired_since) ++active;
  }
  return active >= raft_.conf().quorum();
}

void Member::rearm_quorum() {
  if (!raft_.leads() || has_quorum()) return cancel(quorum_timer_);
  if (quorum_timer_.armed) return;
  arm(quorum_timer_, world_.between(election_, 2 * election_), &Member::on_quorum_lost);
}

void Member::on_quorum_lost() {
  raft_.step_down();
  settle();
}

bool Member::needs_heartbeat() const {
  if (raft_.waits_for_reads()) return true;
  return std::ranges::any_of(raft_.progress(), [this](const auto& entry) {
    const auto& [other, progress] = entry;
    auto peer = peers_.find(other);
    if (other == id() || peer == peers_.end() || !peer->second.active_since ||
        peer->second.impaired_since)
      return false;
    return progress.match < raft_.log().last_index() || progress.commit_known < raft_.commit() ||
           progress.state != Raft::Replication::kReplicate;
  });
}

void Member::rearm_heartbeat() {
  if (!raft_.leads()) return cancel(heartbeat_timer_);
  if (heartbeat_timer_.armed) return;
  arm(heartbeat_timer_, process_.config().heartbeat, &Member::on_heartbeat);
}

void Member::on_heartbeat() {
  if (!raft_.leads()) return;
  raft_.send_heartbeats();
  settle();
  if (needs_heartbeat()) rearm_heartbeat();
}

void Member::on_transfer_timeout() { raft_.abort_transfer(); }

// ---- Doing what raft says ----

void Member::send(Message message) {
  EtcdProcess* other = world_.find(cluster(), message.to);
  if (!other || !other->member()) return;
  auto peer = peers_.find(message.to);
  if (peer == peers_.end() || !peer->second.active_since || peer->second.impaired_since) return;
  if (!world_.network().delivers(process_.site(), other->site())) return;
  const Duration latency = world_.network().latency(process_.site(), other->site());
  other->after(latency, [other, message = std::move(message)] {
    if (!other->member()) return;
    other->member()->receive(message);
    other->member()->settle();
  });
}

void Member::settle() {
  if (std::exchange(settling_, true)) return;
  do {
    note_changes();
    if (process_.exit()) return;
    apply_committed();
    if (process_.exit()) return;
    for (Message& message : std::exchange(raft_.outbox, {})) send(std::move(message));
    for (const auto& read : std::exchange(raft_.read_states, {}))
      if (read.context == reads_.context && !reads_.replies.empty()) reads_.index = read.index;
    answer_reads();
    if (process_.exit()) return;
  } while (!raft_.outbox.empty() || !raft_.read_states.empty() ||
           (!busy() && dir_.state.index < raft_.commit()));
  settling_ = false;
  if (raft_.leads() && !heartbeat_timer_.armed && needs_heartbeat()) rearm_heartbeat();
}

void Member::note_changes() {
  const auto& disk = process_.volume();
  const bool refused = (disk.full || disk.read_only) && dir_.log.last_index() != seen_log_;
  seen_log_ = dir_.log.last_index();
  if (refused)
    return process_.die(1, std::string("failed to save Raft hard state and entries: ") +
                               (disk.full ? "no space left on device" : "read-only file system"));
  const bool commit_in_term = raft_.leads() && raft_.committed_in_term();
  const bool first_commit = commit_in_term && !seen_commit_in_term_;
  seen_commit_in_term_ = commit_in_term;
  const bool changed =
      raft_.role() != seen_role_ || raft_.term() != seen_term_ || raft_.leader() != seen_leader_;
  const bool new_leader = raft_.leader() && raft_.leader() != seen_leader_;
  const bool leads_now = raft_.leads() && seen_role_ != Raft::Role::kLeader;
  seen_role_ = raft_.role();
  seen_term_ = raft_.term();
  seen_leader_ = raft_.leader();
  if (changed) world_.touch();
  if (leads_now) take_over_leases();
  if (new_leader) on_new_leader();
  if (raft_.transferee() && !transfer_timer_.armed)
    arm(transfer_timer_, election_, &Member::on_transfer_timeout);
  if (first_commit) on_version_check();
}

void Member::on_new_leader() {
  leader_since_ = now();
  fail_reads(etcd::Reason::kLeaderChanged);
  flush_blocked();
  auto waiting = std::exchange(waiting_for_leader_, {});
  for (auto& [wanted, reply] : waiting) {
    if (raft_.leader() == wanted)
      reply(std::monostate());
    else
      waiting_for_leader_.emplace_back(wanted, std::move(reply));
  }
}

void Member::leave(std::function<void()> done) {
  auto voters = dir_.state.membership.voters();
  if (!raft_.leads() || voters.size() < 2) return done();
  std::optional<MemberId> heir;
  std::optional<Monotonic> longest;
  for (const etcd::Member* voter : voters) {
    auto since = active_since(voter->id);
    if (voter->id == id() || !since || (longest && *longest <= *since)) continue;
    heir = voter->id;
    longest = since;
  }
  if (!heir) return done();
  raft_.transfer_leadership(*heir);
  settle();
  auto once = std::make_shared<bool>(false);
  auto end = [once, done] {
    if (!std::exchange(*once, true)) done();
  };
  wait_for_leader(*heir, [end](Outcome<std::monostate>) { end(); });
  process_.after(process_.config().request_timeout(), end);
}

void Member::stop() {
  for (auto& [id, waiting] : std::exchange(waiting_, {}))
    waiting.reply(Refused(etcd::Reason::kStopped));
  fail_reads(etcd::Reason::kStopped);
}

}  // namespace quorate::etcdsim
