#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/etcd/raft_log.h"

namespace quorate::etcdsim {

struct Message {
  enum class Type {
    kAppend,
    kAppendAnswer,
    kHeartbeat,
    kHeartbeatAnswer,
    kVote,
    kVoteAnswer,
    kPreVote,
    kPreVoteAnswer,
    kSnapshot,
    kPropose,
    kTimeoutNow,
    kTransfer,
    kReadIndex,
    kReadIndexAnswer,
  };
  Type type{};
  MemberId from;
  MemberId to;
  std::uint64_t term = 0;  // 0 = of no term: proposals and reads
  EntryId last;            // the entry before those sent; a candidate's last; a hint
  std::uint64_t commit = 0;
  std::vector<Entry> entries;
  bool reject = false;
  std::uint64_t hint = 0;
  std::uint64_t context = 0;  // of a read
  bool by_transfer = false;
  std::shared_ptr<const RaftSnapshot> snapshot;
};

// etcd's raft (pre-vote, check-quorum, read index, leadership transfer, learners), message by
// message, because what an operator may break shows in its corners: members that lost their log
// and whose indexes and terms happen to match.
//
// Pure: no time. Whoever runs it says when a time-out has passed; since a quiet cluster changes
// nothing, he need not send heartbeats to know that nobody's has.
class Raft {
 public:
  enum class Role { kFollower, kPreCandidate, kCandidate, kLeader };
  enum class Replication { kProbe, kReplicate, kSnapshot };

  struct Progress {
    std::uint64_t match = 0;
    std::uint64_t next = 1;
    Replication state = Replication::kProbe;
    bool waits = false;              // for an answer to a probe
    std::uint64_t pending = 0;       // snapshot
    std::uint64_t commit_told = 0;   // the highest commit that was sent
    std::uint64_t commit_known = 0;  // the highest that was answered to
  };
  struct ReadState {
    std::uint64_t context;
    std::uint64_t index;
  };
  // What Raft asks about time.
  class Leases {
   public:
    virtual ~Leases() = default;
    // Whether this member heard of its leader within an election time-out.
    virtual bool heard_of_leader_lately() const = 0;
  };

  // `log` and `hard` are the member's directory: every change to them is durable at once.
  Raft(MemberId id, bool pre_vote, RaftLog& log, HardState& hard, const ConfState& conf,
       std::uint64_t applied, const Leases& leases);

  void step(const Message& message);
  // False if nothing was taken in: there is no leader, or it is being replaced.
  bool propose(std::shared_ptr<const Proposal> proposal);
  void read_index(std::uint64_t context);
  void transfer_leadership(MemberId to);

  // The election time-out passed without a leader.
  void time_out();
  void send_heartbeats() { broadcast_heartbeat(0); }
  // No quorum answered for an election time-out.
  void step_down() { become_follower(hard_.term, {}); }
  void abort_transfer() { transferee_ = {}; }
  // A link broke: entries on their way may be lost.
  void report_unreachable(MemberId id);

  // The state machine took entries up to here, and with the configuration that follows.
  void applied_to(std::uint64_t index) { applied_ = index; }
  void set_conf(const ConfState& conf);

  MemberId id() const { return id_; }
  Role role() const { return role_; }
  bool leads() const { return role_ == Role::kLeader; }
  std::uint64_t term() const { return hard_.term; }
  std::uint64_t commit() const { return hard_.commit; }
  std::uint64_t applied() const { return applied_; }
  std::optional<MemberId> leader() const;
  std::optional<MemberId> transferee() const;
  const ConfState& conf() const { return conf_; }
  const std::map<MemberId, Progress>& progress() const { return progress_; }
  const RaftLog& log() const { return log_; }
  bool promotable() const { return conf_.voters.contains(id_); }
  bool committed_in_term() const;
  bool waits_for_reads() const { return !reads_.empty() || !postponed_reads_.empty(); }

  // What is to be sent, and what reads were answered; taken by the caller.
  std::vector<Message> outbox;
  std::vector<ReadState> read_states;

  // The snapshot that a member far behind needs; set by the owner.
  std::function<std::shared_ptr<const RaftSnapshot>()> make_snapshot;
  // A snapshot arrived and takes the place of log and state.
  std::function<void(const RaftSnapshot&)> install_snapshot;

 private:
  enum class Campaign { kPreElection, kElection, kTransfer };
  struct PendingRead {
    Message request;
    std::uint64_t index;
    std::set<MemberId> acks;
  };

  void reset(std::uint64_t term);
  void become_follower(std::uint64_t term, MemberId leader);
  void become_leader();
  void campaign(Campaign how);
  bool has_unapplied_conf_change() const;

  bool step_term(const Message& message);
  void handle_vote(const Message& message);
  void handle_vote_answer(const Message& message);
  void handle_append(const Message& message);
  void handle_heartbeat(const Message& message);
  void handle_snapshot(const Message& message);
  void handle_append_answer(const Message& message, Progress& progress);
  void handle_rejection(const Message& message, Progress& progress);
  void handle_heartbeat_answer(const Message& message, Progress& progress);
  void handle_propose(const Message& message);
  void handle_read_index(const Message& message);
  void handle_transfer(const Message& message);
  void follow(const Message& message);

  void send(Message message);
  void broadcast_append();
  void broadcast_heartbeat(std::uint64_t context);
  void send_heartbeat(MemberId to, std::uint64_t context);
  bool send_append(MemberId to, bool even_if_empty);
  void append_own(Entry entry);
  bool maybe_commit();
  void commit_to(std::uint64_t index);
  void answer_read(const Message& request, std::uint64_t index);
  void confirm_read(const Message& request);
  void release_postponed_reads();

  const MemberId id_;
  const bool pre_vote_;
  RaftLog& log_;
  HardState& hard_;
  ConfState conf_;
  std::uint64_t applied_;
  const Leases& leases_;

  Role role_ = Role::kFollower;
  MemberId leader_;
  MemberId transferee_;
  std::uint64_t pending_conf_index_ = 0;
  std::map<MemberId, Progress> progress_;
  std::map<MemberId, bool> votes_;
  std::vector<PendingRead> reads_;
  std::vector<Message> postponed_reads_;
};

}  // namespace quorate::etcdsim
