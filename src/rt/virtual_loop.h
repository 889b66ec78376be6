#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rt/clock.h"
#include "rt/group.h"

namespace quorate::rt {

// Virtual time: the same coroutines, in one thread, in an order chosen by the seed. Nothing here
// reads the machine's clock or chance, so the same seed gives the same trace. Running takes no
// time: the clock moves only when nothing is ready, to the next timer.
//
// Every fiber belongs to an actor (an operator replica, a node, a client). An actor can be crashed
// at any moment between two steps: all of its frames are destroyed where they are suspended, as if
// the process had been killed. Its objects may be destroyed after that, not before.
//
// If a fiber breaks (throws, in a group without a handler), everything is torn down and the
// exception comes out of the step.
class VirtualLoop {
 public:
  enum class Order { kFifo, kRandom };

  explicit VirtualLoop(std::uint64_t seed, Order order = Order::kRandom);
  ~VirtualLoop();
  VirtualLoop(const VirtualLoop&) = delete;
  VirtualLoop& operator=(const VirtualLoop&) = delete;

  // An actor with this name; the same name gives the same actor.
  Runtime actor(std::string_view name);

  // Runs one ready continuation, or moves time to the next timer. False when there is neither.
  bool step();
  // Steps until nothing is ready and no timer is set.
  void run_until_idle();
  // Steps through all that falls into this time, and leaves the clock at its end.
  void run_for(Duration virtual_time);
  // Runs `work` on actor `main` until it has ended; CHECK-fails if the world falls idle before.
  // Exceptions of `work` come out here.
  template <class T>
  T run(Task<T> work) {
    std::optional<T> slot;
    run_void(detail::store(std::move(work), slot));
    return std::move(*slot);
  }
  void run(Task<void> work) { run_void(std::move(work)); }

  // Destroys every frame of the actor, youngest fiber first. Afterwards its name may be used again,
  // for the restarted process, which draws other random numbers. May be called by a fiber of
  // another actor. CHECK-fails if a destructor called a seam, or if a fiber was suspended in
  // something that is not of this library and so could not be destroyed.
  void crash(std::string_view actor);
  // Crashes every actor: the end of a run.
  void tear_down();
  // True while frames are being destroyed. Seams ask rt::seam_open.
  bool tearing_down() const;

  // A paused actor does not run, but time goes on for it: its timers and messages wait for
  // resume().
  void pause(std::string_view actor);
  void resume(std::string_view actor);
  // Sets what the actor reads from Clock::wall() off from the others.
  void set_wall_offset(std::string_view actor, Duration offset);

  // One line a step: step number, virtual time, actor/fiber. Kept only when asked for.
  void keep_trace(bool keep);
  const std::vector<std::string>& trace() const;
  std::uint64_t trace_hash() const;  // of all steps so far, kept always
  std::uint64_t steps() const;

 private:
  void run_void(Task<void> work);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quorate::rt
