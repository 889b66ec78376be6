#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/log.h"
#include "kube/client.h"
#include "kube/lease_timings.h"
#include "rt/group.h"
#include "rt/signal.h"

namespace quorate::kube {

// A leader that ended its work writes its epoch into this annotation. An empty holder alone says
// nothing: anybody may have emptied it.
inline constexpr std::string_view kReleasedEpoch = "quorate.io/released-epoch";

struct ElectionOptions {
  ObjectKey lease;
  std::string identity;  // of the replica, for people (the Pod's name); made unique by a suffix
  LeaseTimings timings;
  Log log;
};

// How leadership came to us.
enum class Handover {
  kReleased,  // the former leader had ended its work and said so
  kExpired,   // the former leader fell silent; calls of its may still be under way
  kCreated,   // nobody held it: the first start ever, or it was deleted or emptied under a leader
};
std::string_view name(Handover handover);

struct Leadership {
  // Grows with every leader: the fencing epoch. It stands in the Lease as leaseTransitions: one
  // more than the last, but never less than the seconds since 2024, so that it grows also when the
  // Lease was deleted in between.
  std::int64_t epoch = 0;
  Handover handover = Handover::kCreated;
  Monotonic elected_at;
  // When the former leader was last seen alive (kExpired), or elected_at.
  Monotonic last_sign;
  Duration old_lease{};  // how long the former leader's lease ran

  // From when on nothing that a former leader began can still take effect, given the longest call
  // that it may have sent at the very end of its lease. At once after a clean hand-over.
  [[nodiscard]] Monotonic quiet_from(Duration longest_call) const;
};

// Lease election on monotonic time, as client-go does it: expiry is counted from when *we* saw the
// record change, never from the times in it, so clocks need not agree.
//
// Guarantees   At most one candidate at a time has now < valid_until() and now >= its
//              quiet_from(0), as long as clocks run at rates within lease / renew_deadline of each
//              other. Epochs of successive leaders grow; over a Lease that was deleted unseen they
//              do if wall clocks agree better than the time between two elections.
// Assumptions  Work of a leader checks valid_until() before each effect, and bounds each call by
// it. Caveats      Like every lease it cannot recall a request that is under way: that is what
//              quiet_from() and the epoch in the cluster's status are for.
class Election {
 public:
  // What to do while leading. It is cancelled when leadership is lost or the election is stopped,
  // and awaited.
  using Lead = std::function<Task<void>(Leadership)>;

  // CHECKs the timings: refuse bad ones where they are read.
  Election(rt::Runtime runtime, Client& client, ElectionOptions options);

  // Campaigns, and while elected runs `lead` and renews. Ends
  // - with the reason, kUnavailable or kConflict, when leadership was lost (the caller usually ends
  //   the program);
  // - with ok after stop(), or if `lead` ended by itself: the lease has been released then, so that
  //   the next leader need not wait;
  // - with kCancelled when cancelled, like a crash: nothing is released.
  Task<Result<void>> run(Lead lead);
  // Ends run() in the clean way: `lead` is cancelled and awaited while the lease is still renewed,
  // then it is released.
  void stop();

  // Until when we may act: renew_deadline after the last renewal that succeeded was sent. In the
  // past when we do not lead.
  [[nodiscard]] Monotonic valid_until() const;
  [[nodiscard]] bool leading() const;
  [[nodiscard]] const std::optional<Leadership>& leadership() const { return leadership_; }
  // The holder as we last saw it in the Lease; empty: nobody.
  [[nodiscard]] std::string holder() const { return observed_ ? observed_->holder : ""; }
  [[nodiscard]] const std::string& identity() const { return identity_; }

 private:
  // The Lease as the server has it.
  struct Record {
    ResourceVersion version;
    Uid uid;
    std::string holder;  // empty: nobody
    std::int64_t transitions = 0;
    Duration lease{};
    bool released = false;  // by a leader that had ended its work
  };
  friend void read(json::Reader& in, Record& out);

  Task<Result<void>> campaign();
  Task<Result<bool>> try_acquire();
  Task<Result<bool>> take(Leadership candidate);
  Task<void> lead_and_tell(Lead lead);
  Task<void> renew();
  Task<Result<void>> renew_once();
  Task<Result<void>> release(std::int64_t epoch);
  Task<Result<bool>> confirm_ours(std::int64_t epoch);
  Task<Result<Record>> fetch(rt::Deadline deadline);
  Task<Result<Record>> write(std::int64_t transitions, bool release, rt::Deadline deadline);
  [[nodiscard]] json::Value render(std::int64_t transitions, bool release) const;
  [[nodiscard]] std::int64_t next_epoch() const;
  [[nodiscard]] rt::Deadline call_deadline() const;
  void observe(Record record);
  void elected(Leadership leadership, Monotonic sent_at);
  void lose(Error reason);

  rt::Runtime runtime_;
  Client& client_;
  ElectionOptions options_;
  std::string identity_;
  std::optional<Record> observed_;  // the Lease as last seen; nothing: there was none
  Monotonic observed_at_{};         // when it was first seen so
  std::int64_t highest_epoch_ = 0;  // seen anywhere
  // What a write of unknown outcome would have made us.
  std::optional<Leadership> pending_;
  std::optional<Leadership> leadership_;
  // When the first of our renewals that are unanswered was sent.
  std::optional<Monotonic> unanswered_since_;
  Monotonic valid_until_ = Monotonic::min();
  std::optional<Error> lost_;
  bool lead_ended_ = false;
  bool stopping_ = false;
  rt::Signal changed_;
};

}  // namespace quorate::kube
