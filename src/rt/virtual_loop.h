#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rt/clock.h"
#include "rt/group.h"

namespace quorate::rt {

// Virtual time: the same coroutines, in one thread, in an order chosen by the seed. Nothing here
// reads the machine's clock or chance, so the same seed gives the same trace.
//
// Every fiber belongs to an actor (an operator replica, a node, a client). An actor can be crashed
// at any moment between two steps: all of its frames are destroyed where they are suspended, as if
// the process had been killed. Its objects may be destroyed after that, not before.
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
  // Until nothing is ready and no timer is set, or until `limit` of virtual time.
  void run_until_idle();
  void run_for(Duration virtual_time);
  // Runs `work` on actor `main` until it has ended; CHECK-fails if the world falls idle before.
  template <class T>
  T run(Task<T> work) {
    std::optional<T> slot;
    run_void(detail::store(std::move(work), slot));
    return std::move(*slot);
  }
  void run(Task<void> work) { run_void(std::move(work)); }

  // Destroys every frame of the actor. Afterwards its name may be used again, for the restarted
  // process.
  void crash(std::string_view actor);
  // Crashes every actor: the end of a run.
  void tear_down();
  // True while frames are being destroyed. Seams refuse calls then: destructors start no outside
  // effect.
  bool tearing_down() const;

  // One line a step: step number, virtual time, actor. Kept only when asked for.
  void keep_trace(bool keep);
  const std::vector<std::string>& trace() const;
  std::uint64_t trace_hash() const;  // of all steps so far, kept always
  std::uint64_t steps() const;

 private:
  void run_void(Task<void> work);
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace quorate::rt
