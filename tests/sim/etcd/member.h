#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "tests/sim/etcd/datadir.h"
#include "tests/sim/etcd/raft.h"
#include "tests/sim/etcd/watch.h"

namespace quorate::etcdsim {

class EtcdProcess;
class EtcdWorld;

// Where an answer goes. Called at most once, while the process runs; never if it ends before.
template <class T>
using Reply = std::function<void(Outcome<T>)>;

// What stands before every call: whom it comes from and what etcd is asked to check first.
struct Caller {
  bool needs_leader = false;  // refuse at once where none is known
  bool for_learners = false;  // learners answer it, too
  std::string user;           // by certificate; empty = nobody
};

// A member that takes part in raft and answers clients: what runs in an etcd process once it has a
// log. Its directory is the truth; this is gone with the process.
class Member final : public Raft::Leases {
 public:
  Member(EtcdProcess& process, FormedDir& dir);
  ~Member() override;

  MemberId id() const { return dir_.member; }
  ClusterId cluster() const { return dir_.cluster; }
  const FormedDir& dir() const { return dir_; }
  const AppliedState& state() const { return dir_.state; }
  const Raft& raft() const { return raft_; }
  // It has told the others its client URLs: from then on it answers clients.
  bool serves_clients() const { return published_; }
  bool is_learner() const;
  bool busy() const;  // defragmenting

  // ---- Calls of clients (member_calls.cc, member_cluster.cc) ----
  void range(const Caller& caller, etcd::RangeRequest request, Reply<etcd::RangeAnswer> reply);
  void write(const Caller& caller, Proposal::Body body, Reply<ApplyAnswer> reply);
  void member_list(const Caller& caller, bool linearizable, Reply<etcd::MemberList> reply);
  void add_member(const Caller& caller, std::vector<std::string> peer_urls, bool learner,
                  Reply<etcd::AddedMember> reply);
  void promote_member(const Caller& caller, MemberId member, Reply<etcd::MemberList> reply);
  void remove_member(const Caller& caller, MemberId member, Reply<etcd::MemberList> reply);
  void update_member(const Caller& caller, MemberId member, std::vector<std::string> peer_urls,
                     Reply<etcd::MemberList> reply);
  void status(const Caller& caller, Reply<etcd::Status> reply);
  void alarms(const Caller& caller, Reply<std::vector<etcd::Alarm>> reply);
  void defragment(const Caller& caller, Reply<std::monostate> reply);
  void hash_kv(const Caller& caller, Revision revision, Reply<etcd::HashKv> reply);
  void move_leader(const Caller& caller, MemberId to, Reply<std::monostate> reply);
  void snapshot(const Caller& caller, Reply<std::string> reply);
  void grant(const Caller& caller, etcd::GrantRequest request, Reply<etcd::Lease> reply);
  void keep_alive(const Caller& caller, etcd::LeaseId lease, Reply<etcd::Lease> reply);
  void time_to_live(const Caller& caller, etcd::LeaseId lease, bool with_keys,
                    Reply<etcd::Lease> reply);
  void watch(const Caller& caller, etcd::WatchRequest request,
             Reply<std::shared_ptr<WatchFeed>> reply);
  void report_progress(const WatchFeed* feed) { watchers_.report_progress(feed, header()); }
  etcd::Header header() const;

  // ---- For peers ----
  void receive(const Message& message);
  std::optional<int> cluster_minor() const { return dir_.state.cluster_minor; }
  // Since when this member is connected to that one; nothing if it is not.
  std::optional<Monotonic> active_since(MemberId peer) const;

  // ---- For the process ----
  void start();
  // Who hears whom may have changed.
  void look_again();
  // Hands leadership over, then calls `done`.
  void leave(std::function<void()> done);
  void stop();  // everybody who waits is told
  void ask_old_store();
  // Sends, applies and answers what has come up. After everything that touches this member.
  void settle();

  bool heard_of_leader_lately() const override;

 private:
  struct Timer {
    std::uint64_t generation = 0;
    bool armed = false;
  };
  struct Waiting {
    Reply<ApplyAnswer> reply;
    Monotonic since;
  };
  struct Reads {  // that one question about the read index answers
    std::uint64_t context = 0;
    Monotonic asked{};
    std::vector<Reply<std::monostate>> replies;
    std::optional<std::uint64_t> index;  // known: it is the apply that is waited for
  };
  struct Peer {
    std::uint64_t process = 0;
    std::optional<Monotonic> active_since;
    std::optional<Monotonic> impaired_since;
  };

  void arm(Timer& timer, Duration delay, void (Member::*what)());
  void cancel(Timer& timer);
  Monotonic now() const;

  // member.cc: raft in time
  bool hears_leader() const;
  void look_at_peers();
  void rearm_election();
  void rearm_quorum();
  void rearm_heartbeat();
  void on_election_timeout();
  void on_quorum_lost();
  void on_heartbeat();
  void on_transfer_timeout();
  bool has_quorum() const;
  bool needs_heartbeat() const;
  void send(Message message);
  void note_changes();
  void on_new_leader();

  // member_apply.cc
  void apply_committed();
  void apply_entry(std::uint64_t index);
  bool is_left_out(const Proposal& proposal, std::uint64_t index) const;
  void after_apply(const Proposal& proposal, bool done);
  void maybe_compact_log();
  void note_database();
  void publish();
  void watch_versions();
  void on_version_check();
  void end_as_removed();

  // member_calls.cc
  std::optional<etcd::Reason> refuse(const Caller& caller) const;
  void propose(Proposal::Body body, bool with_timeout, Reply<ApplyAnswer> reply);
  void flush_blocked();
  void on_proposal_timeout(std::uint64_t id);
  etcd::Reason why_timed_out(Monotonic since) const;
  void linearize(Reply<std::monostate> then);
  void ask_read_index();
  void on_read_retry();
  void on_read_timeout();
  void answer_reads();
  void fail_reads(etcd::Reason why);
  bool exceeds_quota(const Proposal::Body& body) const;
  template <class T>
  void when_idle(std::function<void()> what, const Reply<T>& reply);

  // member_cluster.cc
  bool connected_since(MemberId peer, Monotonic since) const;
  std::optional<etcd::Reason> may_add(bool learner) const;
  std::optional<etcd::Reason> may_remove(MemberId member) const;
  std::optional<etcd::Reason> may_promote(MemberId member) const;
  void change(ConfChange change, Reply<etcd::MemberList> reply);
  void promote_by_leader(MemberId member, Monotonic until, Reply<etcd::MemberList> reply);
  void wait_for_leader(MemberId wanted, Reply<std::monostate> reply);

  // member_leases.cc
  void take_over_leases();
  void rearm_leases();
  void on_lease_expiry();
  Member* reachable_leader() const;

  EtcdProcess& process_;
  EtcdWorld& world_;
  FormedDir& dir_;
  const Duration election_;
  Raft raft_;

  // What was so the last time that anybody looked.
  Raft::Role seen_role_ = Raft::Role::kFollower;
  std::uint64_t seen_term_ = 0;
  std::optional<MemberId> seen_leader_;
  bool seen_commit_in_term_ = false;
  std::size_t seen_log_ = 0;

  std::optional<Monotonic> silent_since_;  // nothing while the leader is heard
  bool first_election_ = true;
  std::map<MemberId, Peer> peers_;
  Timer election_timer_, quorum_timer_, heartbeat_timer_, transfer_timer_;
  Timer version_timer_, publish_timer_, read_timer_, read_retry_timer_, lease_timer_,
      removal_timer_;
  std::optional<Monotonic> leader_since_;  // when this member last learned of a new leader

  bool published_ = false;
  bool publishing_ = false;
  bool removed_ = false;
  bool settling_ = false;
  Monotonic busy_until_{};
  std::map<std::uint64_t, Waiting> waiting_;
  std::deque<std::shared_ptr<const Proposal>> blocked_;  // until there is a leader
  Reads reads_, next_reads_;
  std::map<etcd::LeaseId, Monotonic> lease_ends_;  // at the leader alone
  std::vector<std::pair<MemberId, Reply<std::monostate>>> waiting_for_leader_;
  Watchers watchers_;
  std::optional<Monotonic> batch_since_;
};

}  // namespace quorate::etcdsim
