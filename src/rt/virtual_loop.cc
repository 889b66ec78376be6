#include "rt/virtual_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <cstdio>
#include <deque>
#include <exception>
#include <map>

#include "base/check.h"
#include "rt/virtual_executor_impl.h"

namespace asio = boost::asio;

namespace quorate::rt {

namespace {

// Spreads every bit of the input over the output (the finalizer of SplitMix64).
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override { return mix(state_ += 0x9e3779b97f4a7c15ULL); }

 private:
  std::uint64_t state_;
};

// What those who read the wall see when virtual time begins: 2026-01-01T00:00:00Z.
constexpr WallTime kWallOrigin{std::chrono::seconds(1767225600)};

Task<void> run_main(Task<void> work) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await std::move(work);
}

struct MainOutcome {
  bool ended = false;
  std::exception_ptr thrown;
};

// Asio's completion handler of the work given to run(). Gone uncalled, the work was crashed.
class MainEnded {
 public:
  explicit MainEnded(MainOutcome& outcome) : outcome_(&outcome) {}
  MainEnded(MainEnded&& other) noexcept : outcome_(std::exchange(other.outcome_, nullptr)) {}
  MainEnded& operator=(MainEnded&&) = delete;
  ~MainEnded() {
    if (outcome_)
      end(std::make_exception_ptr(BrokenInvariant("actor main was crashed while run() waited")));
  }
  void operator()(std::exception_ptr thrown) { end(std::move(thrown)); }

 private:
  void end(std::exception_ptr thrown) {
    *std::exchange(outcome_, nullptr) = {true, std::move(thrown)};
  }
  MainOutcome* outcome_;
};

}  // namespace

struct VirtualLoop::State {
  class Actor;

  // A continuation that may run next.
  struct Ready {
    Actor* actor;
    std::uint64_t fiber;
    std::unique_ptr<detail::Job> job;
  };
  // A suspended fiber that is to be destroyed: it was ready, or it was parked.
  struct Doomed {
    std::uint64_t fiber;
    std::unique_ptr<detail::Job> job;
    detail::Waiter* waiter;
  };

  State(std::uint64_t from_seed, Order in_order)
      : seed(from_seed), order(in_order), choices(mix(from_seed ^ hash_of("order of steps"))) {}

  Actor& actor(std::string_view name);
  bool step();
  void advance_to_next_timer();
  void run_ready();
  Ready take_ready();
  template <class Predicate>
  std::vector<Ready> take_ready_of(Predicate belongs);
  void note(std::string_view who, std::uint64_t fiber, std::uint64_t index);
  void destroy(const std::vector<Actor*>& dying);
  void destroy_all();
  std::vector<Actor*> all_actors();
  void check_destroyed(const std::vector<Actor*>& dead);

  const std::uint64_t seed;
  const Order order;
  SeededRandom choices;
  asio::execution_context context;

  std::map<std::string, std::unique_ptr<Actor>, std::less<>> actors;
  std::deque<Ready> ready;
  detail::Timers timers;
  Monotonic now{};
  std::uint64_t fibers = 0;  // spawned so far
  Actor* running = nullptr;

  int teardowns = 0;                                    // under way
  std::vector<std::unique_ptr<detail::Job>> unwinding;  // frames that Asio wants destroyed "later"
  std::string seam_violation;

  std::uint64_t steps = 0;
  std::uint64_t hash = 0;
  bool keep_trace = false;
  std::vector<std::string> trace;
};

// One process of the simulated world: its fibers, its clock and its chance.
class VirtualLoop::State::Actor final : public detail::ActorParking, public Clock {
 public:
  Actor(State& loop, std::string name, std::uint64_t index)
      : loop_(loop), name_(std::move(name)), index_(index), random_(seed()) {}

  Runtime runtime() { return {this, &random_, detail::VirtualExecutor(this, 0)}; }
  const std::string& name() const { return name_; }
  std::uint64_t index() const { return index_; }

  // Clock, and Parking's now().
  Monotonic now() const override { return loop_.now; }
  WallTime wall() const override {
    return kWallOrigin + std::chrono::floor<std::chrono::milliseconds>(
                             loop_.now.time_since_epoch() + wall_offset);
  }
  Task<Result<void>> sleep_until(Monotonic when) override {
    auto how = co_await detail::park(when);
    if (how == detail::Woken::kCancelled) co_return detail::notified(how);
    co_return Result<void>();
  }

  // Parking.
  void admit(detail::Waiter& waiter, const Executor& fiber) override {
    waiter.fiber = fiber.target<detail::VirtualExecutor>()->fiber();
    parked_.push_back(waiter);
    if (waiter.at == Monotonic::max()) return;
    if (waiter.at <= loop_.now) return waiter.wake(detail::Woken::kDeadline);
    loop_.timers.add(waiter);
  }
  Executor fiber_executor(const Executor&) override {
    return detail::VirtualExecutor(this, ++loop_.fibers);
  }
  bool tearing_down() const override { return dying; }
  bool seam_open(std::string_view call) override {
    if (loop_.teardowns == 0) return true;
    if (loop_.seam_violation.empty()) loop_.seam_violation = fmt::format("{}: {}", name_, call);
    return false;
  }

  // ActorParking.
  void post(std::uint64_t fiber, std::unique_ptr<detail::Job> job) override {
    if (dying)
      loop_.unwinding.push_back(std::move(job));
    else
      (paused ? held : loop_.ready).push_back({this, fiber, std::move(job)});
  }
  asio::execution_context& context() override { return loop_.context; }

  void collect_parked(std::vector<Doomed>& doomed) {
    for (detail::Waiter& waiter : parked_) doomed.push_back({waiter.fiber, nullptr, &waiter});
  }
  void start_anew() {
    ++incarnation_;
    random_ = SeededRandom(seed());
    paused = false;
  }

  bool dying = false;
  bool paused = false;
  std::deque<Ready> held;  // what became ready while paused
  Duration wall_offset{};

 private:
  // Of its own, so that a change in one actor does not move the chance of the others.
  std::uint64_t seed() const { return mix(loop_.seed ^ hash_of(name_)) + incarnation_; }

  State& loop_;
  std::string name_;
  std::uint64_t index_;
  std::uint64_t incarnation_ = 0;
  SeededRandom random_;
};

VirtualLoop::State::Actor& VirtualLoop::State::actor(std::string_view name) {
  auto it = actors.find(name);
  if (it == actors.end()) {
    auto made = std::make_unique<Actor>(*this, std::string(name), actors.size() + 1);
    it = actors.emplace(std::string(name), std::move(made)).first;
  }
  return *it->second;
}

bool VirtualLoop::State::step() {
  CHECK(!running, "step() called inside of a step");
  if (!ready.empty())
    run_ready();
  else if (timers.next() != Monotonic::max())
    advance_to_next_timer();
  else
    return false;
  return true;
}

void VirtualLoop::State::advance_to_next_timer() {
  now = std::max(now, timers.next());
  note("time", 0, 0);
  timers.wake_due(now);
}

void VirtualLoop::State::run_ready() {
  Ready next = take_ready();
  note(next.actor->name(), next.fiber, next.actor->index());
  running = next.actor;
  try {
    next.job->run();
  } catch (...) {
    running = nullptr;
    next.job.reset();
    destroy_all();
    throw;
  }
  running = nullptr;
}

VirtualLoop::State::Ready VirtualLoop::State::take_ready() {
  if (order == Order::kRandom && ready.size() > 1)
    std::swap(ready.front(), ready[choices.below(ready.size())]);
  Ready next = std::move(ready.front());
  ready.pop_front();
  return next;
}

template <class Predicate>
std::vector<VirtualLoop::State::Ready> VirtualLoop::State::take_ready_of(Predicate belongs) {
  std::vector<Ready> taken;
  std::deque<Ready> left;
  for (Ready& entry : ready) {
    if (belongs(*entry.actor))
      taken.push_back(std::move(entry));
    else
      left.push_back(std::move(entry));
  }
  ready = std::move(left);
  return taken;
}

void VirtualLoop::State::note(std::string_view who, std::uint64_t fiber, std::uint64_t index) {
  ++steps;
  const auto time = static_cast<std::uint64_t>(now.time_since_epoch().count());
  hash = mix(hash ^ time) + index;
  hash = mix(hash ^ fiber);
  if (!keep_trace) return;
  trace.push_back(fmt::format("{} {}.{:09}s {}/{}", steps, time / 1'000'000'000,
                              time % 1'000'000'000, who, fiber));
}

// Guarantees   afterwards no frame of these actors exists; no other fiber ran meanwhile.
// Assumptions  none of them is running; their fibers wait in park() or stand ready.
//
// The youngest fiber goes first, because a fiber may refer to what the older one that spawned it
// owns, never the other way round. Asio does not destroy frames where their handler goes but posts
// them to the executor: `unwinding` takes those, and is emptied before the next fiber's turn.
void VirtualLoop::State::destroy(const std::vector<Actor*>& dying) {
  ++teardowns;
  for (Actor* actor : dying) actor->dying = true;

  std::vector<Doomed> doomed;
  for (Actor* actor : dying) {
    actor->collect_parked(doomed);
    for (Ready& held : actor->held) doomed.push_back({held.fiber, std::move(held.job), nullptr});
    actor->held.clear();
  }
  for (Ready& entry : take_ready_of([](const Actor& actor) { return actor.dying; }))
    doomed.push_back({entry.fiber, std::move(entry.job), nullptr});

  std::stable_sort(doomed.begin(), doomed.end(),
                   [](const Doomed& a, const Doomed& b) { return a.fiber > b.fiber; });
  for (Doomed& fiber : doomed) {
    fiber.job.reset();
    delete fiber.waiter;
    while (!unwinding.empty()) {
      auto frames = std::move(unwinding.back());
      unwinding.pop_back();
    }
  }

  for (Actor* actor : dying) {
    actor->dying = false;
    actor->start_anew();
  }
  --teardowns;
}

void VirtualLoop::State::destroy_all() { destroy(all_actors()); }

std::vector<VirtualLoop::State::Actor*> VirtualLoop::State::all_actors() {
  std::vector<Actor*> all;
  all.reserve(actors.size());
  for (auto& [name, actor] : actors) all.push_back(actor.get());
  return all;
}

void VirtualLoop::State::check_destroyed(const std::vector<Actor*>& dead) {
  for (Actor* actor : dead)
    CHECK(actor->fibers == 0, "{}: {} fibers wait in something that virtual time does not know",
          actor->name(), actor->fibers);
  auto violation = std::exchange(seam_violation, {});
  CHECK(violation.empty(), "a destructor called a seam: {}", violation);
}

VirtualLoop::VirtualLoop(std::uint64_t seed, Order order)
    : state_(std::make_unique<State>(seed, order)) {}

VirtualLoop::~VirtualLoop() {
  state_->destroy_all();
  try {
    state_->check_destroyed(state_->all_actors());
  } catch (const BrokenInvariant& broken) {
    fmt::print(stderr, "{}\n", broken.what());
    std::terminate();
  }
}

Runtime VirtualLoop::actor(std::string_view name) { return state_->actor(name).runtime(); }

bool VirtualLoop::step() { return state_->step(); }

void VirtualLoop::run_until_idle() {
  while (state_->step()) {
  }
}

void VirtualLoop::run_for(Duration virtual_time) {
  const Monotonic end = state_->now + virtual_time;
  while (!state_->ready.empty() || state_->timers.next() <= end) state_->step();
  state_->now = end;
}

void VirtualLoop::run_void(Task<void> work) {
  CHECK(!state_->running, "run() called inside of a step");
  MainOutcome outcome;
  Executor executor = state_->actor("main").fiber_executor({});
  asio::co_spawn(executor, run_main(std::move(work)), MainEnded(outcome));
  while (!outcome.ended && state_->step()) {
  }
  if (outcome.thrown) std::rethrow_exception(outcome.thrown);
  if (outcome.ended) return;
  state_->destroy_all();  // `work` refers to frames of the caller
  CHECK(false, "nothing is ready and no timer is set, but the work has not ended");
}

void VirtualLoop::crash(std::string_view actor) {
  std::vector<State::Actor*> dying{&state_->actor(actor)};
  CHECK(state_->running != dying.front(), "{} crashes itself", actor);
  state_->destroy(dying);
  state_->check_destroyed(dying);
}

void VirtualLoop::tear_down() {
  CHECK(!state_->running, "tear_down() called inside of a step");
  state_->destroy_all();
  state_->check_destroyed(state_->all_actors());
}

bool VirtualLoop::tearing_down() const { return state_->teardowns > 0; }

void VirtualLoop::pause(std::string_view name) {
  State::Actor& actor = state_->actor(name);
  actor.paused = true;
  auto entries =
      state_->take_ready_of([&actor](const State::Actor& one) { return &one == &actor; });
  for (State::Ready& entry : entries) actor.held.push_back(std::move(entry));
}

void VirtualLoop::resume(std::string_view name) {
  State::Actor& actor = state_->actor(name);
  actor.paused = false;
  for (State::Ready& entry : actor.held) state_->ready.push_back(std::move(entry));
  actor.held.clear();
}

void VirtualLoop::set_wall_offset(std::string_view actor, Duration offset) {
  state_->actor(actor).wall_offset = offset;
}

void VirtualLoop::keep_trace(bool keep) { state_->keep_trace = keep; }
const std::vector<std::string>& VirtualLoop::trace() const { return state_->trace; }
std::uint64_t VirtualLoop::trace_hash() const { return state_->hash; }
std::uint64_t VirtualLoop::steps() const { return state_->steps; }

}  // namespace quorate::rt
