#pragma once

// Internal: the executor of virtual time.

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <memory>
#include <utility>

#include "rt/parking.h"

namespace quorate::rt::detail {

// A continuation that is ready to run. Destroying it unrun destroys the frames that it would
// resume.
class Job {
 public:
  virtual ~Job() = default;
  virtual void run() = 0;
};

template <class F>
class JobOf : public Job {
 public:
  explicit JobOf(F function) : function_(std::move(function)) {}
  void run() override { std::move(function_)(); }

 private:
  F function_;
};

// The fibers of one actor.
class ActorParking : public Parking {
 public:
  virtual void post(std::uint64_t fiber, std::unique_ptr<Job> job) = 0;
  virtual boost::asio::execution_context& context() = 0;
};

// Runs nothing itself: everything becomes a ready Job of the actor, tagged with the fiber, and the
// VirtualLoop picks. Small enough to live inside any_io_executor without an allocation.
class VirtualExecutor {
 public:
  VirtualExecutor(ActorParking* actor, std::uint64_t fiber) : actor_(actor), fiber_(fiber) {}

  template <class F>
  void execute(F&& function) const {
    using Function = std::decay_t<F>;
    actor_->post(fiber_, std::make_unique<JobOf<Function>>(std::forward<F>(function)));
  }

  ActorParking& actor() const { return *actor_; }
  std::uint64_t fiber() const { return fiber_; }

  boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
    return actor_->context();
  }
  static constexpr boost::asio::execution::blocking_t query(
      boost::asio::execution::blocking_t) noexcept {
    return boost::asio::execution::blocking.never;
  }
  VirtualExecutor require(boost::asio::execution::blocking_t::never_t) const { return *this; }

  friend bool operator==(const VirtualExecutor&, const VirtualExecutor&) noexcept = default;

 private:
  ActorParking* actor_;
  std::uint64_t fiber_;
};

}  // namespace quorate::rt::detail
