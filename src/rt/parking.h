#pragma once

// Internal: how a suspended fiber waits. The primitives (Signal, TaskGroup, Clock::sleep_until) all
// come down to park(), on either kind of loop.

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <cstdint>

#include "rt/clock.h"

namespace quorate::rt::detail {

// Why a parked fiber goes on.
enum class Woken { kNotified, kDeadline, kCancelled };

class Parking;

template <class Tag>
using ListHook =
    boost::intrusive::list_base_hook<boost::intrusive::tag<Tag>,
                                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
using SignalHook = ListHook<struct SignalTag>;
using ParkedHook = ListHook<struct ParkedTag>;
using TimerHook =
    boost::intrusive::set_base_hook<boost::intrusive::tag<struct TimerTag>,
                                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// One suspended fiber, owned by the Parking that it stands in. Whichever comes first of
// notification, deadline and cancellation wakes it; waking takes it out of all lists, so there is
// no second.
class Waiter : public SignalHook, public ParkedHook, public TimerHook {
 public:
  // Destroys the frames of a fiber that was not woken: a crash.
  virtual ~Waiter() = default;

  // Hands the fiber back to its executor and deletes this. While the frames of its loop or actor
  // are being destroyed it does nothing: the fiber's turn to be destroyed comes in order.
  void wake(Woken how);

  Parking* parking = nullptr;
  Monotonic at = Monotonic::max();
  std::uint64_t sequence = 0;  // order among equal times
  std::uint64_t fiber = 0;     // order of spawning; VirtualLoop only
  bool* chosen = nullptr;      // set when notify_one picks this one

 protected:
  virtual void resume(Woken how) = 0;
};

using WaitList = boost::intrusive::list<Waiter, boost::intrusive::base_hook<SignalHook>,
                                        boost::intrusive::constant_time_size<false>>;

// Deadlines, ordered by (time, order of arrival).
class Timers {
 public:
  void add(Waiter& waiter);
  Monotonic next() const;  // Monotonic::max() if there is none
  void wake_due(Monotonic now);

 private:
  struct Sooner {
    bool operator()(const Waiter& a, const Waiter& b) const {
      return a.at != b.at ? a.at < b.at : a.sequence < b.sequence;
    }
  };
  boost::intrusive::set<Waiter, boost::intrusive::base_hook<TimerHook>,
                        boost::intrusive::constant_time_size<false>,
                        boost::intrusive::compare<Sooner>>
      waiters_;
  std::uint64_t arrivals_ = 0;
};

// Where the fibers of one loop (the real one) or of one actor (in virtual time) are while they
// wait. Found by the executor of the waiting fiber, so that a fiber of one actor may wait for a
// Signal of another and still be destroyed with its own.
class Parking {
 public:
  virtual ~Parking() = default;
  virtual Monotonic now() const = 0;
  virtual void admit(Waiter& waiter, const Executor& fiber) = 0;
  // The executor for a new fiber.
  virtual Executor fiber_executor(const Executor& base) = 0;
  // True while the frames of these fibers are being destroyed.
  virtual bool tearing_down() const = 0;
  // See rt::seam_open.
  virtual bool seam_open(std::string_view call) = 0;

  std::size_t fibers = 0;  // alive, counted by TaskGroup

 protected:
  using Parked = boost::intrusive::list<Waiter, boost::intrusive::base_hook<ParkedHook>,
                                        boost::intrusive::constant_time_size<false>>;
  Parked parked_;
};

Parking& parking_of(const Executor& executor);

enum class Cancellation { kHeeded, kIgnored };

// Suspends the calling fiber, always at least for one turn of the loop.
Task<Woken> park(Monotonic until, WaitList* list = nullptr,
                 Cancellation cancellation = Cancellation::kHeeded, bool* chosen = nullptr);

// What `how` means to whoever waited for a notification.
Result<void> notified(Woken how);

}  // namespace quorate::rt::detail
