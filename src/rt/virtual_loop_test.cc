#include "rt/virtual_loop.h"

#include <gtest/gtest.h>

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>

#include "base/check.h"
#include "rt/signal.h"

namespace asio = boost::asio;

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;

int tokens = 0;  // alive

// Stands in every frame of the sample, to see that each is destroyed exactly once.
struct Token {
  Token() : self(this) { ++tokens; }
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;
  ~Token() {
    EXPECT_EQ(self, this);
    self = nullptr;
    --tokens;
  }
  Token* self;
};

// ---- The sample program: a server with workers, and clients that ask it, time out and try again.

struct Request {
  int value;
  std::shared_ptr<Channel<int>> answer;
};

// The memory of a process: it outlives the process's fibers, and goes with it.
class Server {
 public:
  Server(Runtime runtime, Channel<Request>& wire)
      : runtime_(runtime), wire_(wire), places_(runtime, 2), group_(runtime) {
    group_.spawn("accept", accept());
  }

 private:
  Task<void> accept() {
    Token token;
    TaskGroup handlers(runtime_);
    for (;;) {
      auto request = co_await wire_.receive(Deadline::never());
      if (!request || !*request) break;
      handlers.spawn("handle", handle(std::move(**request)));
    }
    handlers.cancel();
    co_await handlers.join();
  }

  Task<void> handle(Request request) {
    Token token;
    auto place = co_await places_.enter(runtime_.in(1s));
    if (!place) co_return;
    auto sum = co_await with_deadline(runtime_, runtime_.in(200ms), add_up(request.value));
    if (!sum) co_return;
    (void)co_await request.answer->send(*sum, runtime_.in(10ms));
  }

  Task<Result<int>> add_up(int value) {
    Token token;
    Semaphore few(runtime_, 1);  // in this frame; its places are in the frames of others
    std::vector<Task<Result<int>>> parts;
    parts.reserve(3);
    for (int i = 0; i < 3; ++i) parts.push_back(part(few, value));
    auto results = co_await all(runtime_, std::move(parts), 2);
    int sum = 0;
    for (auto& result : results) {
      if (!result) co_return fail(result.error());
      sum += *result;
    }
    co_return sum;
  }

  Task<Result<int>> part(Semaphore& few, int value) {
    Token token;
    CO_TRY(auto place, co_await few.enter(runtime_.in(1s)));
    auto delay = Duration(static_cast<Duration::rep>(runtime_.random->below(100'000'000)));
    CO_TRY(co_await runtime_.clock->sleep_until(runtime_.clock->now() + delay));
    co_return value;
  }

  Runtime runtime_;
  Channel<Request>& wire_;
  Semaphore places_;
  TaskGroup group_;
};

class Client {
 public:
  Client(Runtime runtime, Channel<Request>& wire, int& answered)
      : runtime_(runtime), wire_(wire), answered_(answered), group_(runtime) {
    group_.spawn("ask", ask_for_all());
  }

 private:
  Task<void> ask_for_all() {
    Token token;
    for (int i = 1; i <= 2; ++i) {
      while (!co_await ask(i)) {
        auto slept = co_await runtime_.clock->sleep_until(runtime_.clock->now() + 50ms);
        if (!slept) co_return;
      }
      ++answered_;
    }
  }

  Task<bool> ask(int value) {
    Token token;
    auto answer = std::make_shared<Channel<int>>(runtime_, 1);
    auto sent = co_await wire_.send(Request{value, answer}, runtime_.in(100ms));
    if (!sent) co_return false;
    auto got = co_await answer->receive(runtime_.in(300ms));
    if (!got || !*got) co_return false;
    EXPECT_EQ(**got, value * 3);
    co_return true;
  }

  Runtime runtime_;
  Channel<Request>& wire_;
  int& answered_;
  TaskGroup group_;
};

// Everything outside of the processes.
struct World {
  explicit World(std::uint64_t seed) : loop(seed) {
    server.emplace(loop.actor("server"), wire);
    first.emplace(loop.actor("client-1"), wire, answered);
    second.emplace(loop.actor("client-2"), wire, answered);
  }
  // The world ends before its objects do.
  ~World() { loop.tear_down(); }

  bool done() const { return answered == 4; }

  VirtualLoop loop;
  Channel<Request> wire{loop.actor("network"), 1};
  int answered = 0;
  std::optional<Server> server;
  std::optional<Client> first;
  std::optional<Client> second;
};

std::uint64_t steps_needed(std::uint64_t seed) {
  World world(seed);
  while (!world.done() && world.loop.step()) {
  }
  EXPECT_TRUE(world.done());
  return world.loop.steps();
}

TEST(VirtualLoop, TheSameSeedGivesTheSameTraceAndAnotherSeedAnother) {
  auto trace_of = [](std::uint64_t seed) {
    World world(seed);
    world.loop.keep_trace(true);
    while (!world.done() && world.loop.step()) {
    }
    return std::pair(world.loop.trace(), world.loop.trace_hash());
  };
  auto once = trace_of(7);
  auto again = trace_of(7);
  auto other = trace_of(8);
  EXPECT_GT(once.first.size(), 100u);
  EXPECT_EQ(once, again);
  EXPECT_NE(once.first, other.first);
  EXPECT_NE(once.second, other.second);
}

TEST(VirtualLoop, AllFramesCanBeDestroyedAtEveryStep) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const auto last = steps_needed(seed);
    for (std::uint64_t step = 0; step <= last; ++step) {
      {
        World world(seed);
        for (std::uint64_t i = 0; i < step; ++i) ASSERT_TRUE(world.loop.step());
        world.loop.tear_down();
        ASSERT_EQ(tokens, 0) << "seed " << seed << ", step " << step;
        ASSERT_FALSE(world.loop.step()) << "nothing is left to run";
      }
      ASSERT_EQ(tokens, 0);
    }
  }
}

// The server is killed and started again; the clients only notice that answers do not come.
TEST(VirtualLoop, OneActorCanBeCrashedAtEveryStepAndStartedAgain) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const auto last = steps_needed(seed);
    for (std::uint64_t step = 0; step < last; ++step) {
      World world(seed);
      for (std::uint64_t i = 0; i < step; ++i) ASSERT_TRUE(world.loop.step());
      world.loop.crash("server");
      world.server.reset();
      world.server.emplace(world.loop.actor("server"), world.wire);
      for (int i = 0; i < 10'000 && !world.done(); ++i) ASSERT_TRUE(world.loop.step());
      ASSERT_TRUE(world.done()) << "seed " << seed << ", step " << step;
    }
  }
  EXPECT_EQ(tokens, 0);
}

TEST(VirtualLoop, AClientCrashedAtEveryStepLeavesTheOthersUnharmed) {
  const auto last = steps_needed(1);
  for (std::uint64_t step = 0; step < last; ++step) {
    World world(1);
    for (std::uint64_t i = 0; i < step; ++i) ASSERT_TRUE(world.loop.step());
    world.loop.crash("client-1");
    world.first.reset();
    const int before = world.answered;
    world.first.emplace(world.loop.actor("client-1"), world.wire, world.answered);
    for (int i = 0; i < 10'000 && world.answered < 4; ++i) ASSERT_TRUE(world.loop.step());
    ASSERT_GE(world.answered, 4) << "crashed at step " << step << " after " << before;
  }
  EXPECT_EQ(tokens, 0);
}

// ---- Single properties.

Task<void> crash_other(VirtualLoop& loop, std::string_view actor, Runtime runtime) {
  (void)co_await runtime.clock->sleep_until(Monotonic(1s));
  loop.crash(actor);
}

Task<void> sleep_with_token(Runtime runtime, Duration delay, bool& woke) {
  Token token;
  auto slept = co_await runtime.clock->sleep_until(runtime.clock->now() + delay);
  woke = slept.has_value();
}

TEST(VirtualLoop, AFiberOfOneActorMayCrashAnother) {
  VirtualLoop loop(1);
  auto victim = std::make_unique<TaskGroup>(loop.actor("victim"));
  TaskGroup bystander(loop.actor("bystander"));
  bool victim_woke = false;
  bool bystander_woke = false;
  victim->spawn("sleep", sleep_with_token(loop.actor("victim"), 2s, victim_woke));
  bystander.spawn("sleep", sleep_with_token(loop.actor("bystander"), 2s, bystander_woke));
  loop.run(crash_other(loop, "victim", loop.actor("main")));
  EXPECT_EQ(tokens, 1);
  EXPECT_EQ(victim->size(), 0u);
  victim.reset();
  loop.run_until_idle();
  EXPECT_FALSE(victim_woke);
  EXPECT_TRUE(bystander_woke);
}

TEST(VirtualLoop, AnActorCannotCrashItself) {
  VirtualLoop loop(1);
  EXPECT_THROW(loop.run(crash_other(loop, "main", loop.actor("main"))), BrokenInvariant);
}

TEST(VirtualLoop, RunThrowsWhenTheWorldFallsIdleBeforeTheWorkEnds) {
  VirtualLoop loop(1);
  Signal never(loop.actor("main"));
  EXPECT_THROW((void)loop.run(never.wait(Deadline::never())), BrokenInvariant);
  bool woke = false;
  loop.run(sleep_with_token(loop.actor("main"), 1s, woke));
  EXPECT_TRUE(woke);
}

struct CallsASeam {
  explicit CallsASeam(Runtime with) : runtime(with) {}
  ~CallsASeam() { open = seam_open(runtime, "delete pod"); }
  Runtime runtime;
  inline static bool open = false;
};

Task<void> hold_seam_caller(Runtime runtime) {
  CallsASeam caller(runtime);
  (void)co_await runtime.clock->sleep_until(Monotonic(1s));
}

TEST(VirtualLoop, ASeamCallInTeardownIsRefusedAndFailsTheRun) {
  VirtualLoop loop(1);
  TaskGroup group(loop.actor("a"));
  group.spawn("hold", hold_seam_caller(loop.actor("a")));
  loop.run_for(Duration(0));
  try {
    loop.crash("a");
    FAIL() << "the seam call went unnoticed";
  } catch (const BrokenInvariant& broken) {
    EXPECT_NE(std::string(broken.what()).find("a: delete pod"), std::string::npos) << broken.what();
  }
  EXPECT_FALSE(CallsASeam::open);

  group.spawn("hold", hold_seam_caller(loop.actor("a")));
  loop.run_until_idle();
  EXPECT_TRUE(CallsASeam::open) << "outside of a crash, destructors are like other code";
}

// What destructors of ordinary code do: wake others, tell a group to stop.
struct NotifiesAtTheEnd {
  Signal& signal;
  TaskGroup& group;
  ~NotifiesAtTheEnd() {
    signal.notify();
    group.cancel();
  }
};

Task<void> wait_and_notify(Runtime runtime, Signal& signal, TaskGroup& group, int& woken) {
  Token token;
  NotifiesAtTheEnd at_the_end{signal, group};
  auto result = co_await signal.wait(runtime.in(1h));
  if (result) ++woken;
}

TEST(VirtualLoop, ADestructorThatWakesOthersOfItsActorDisturbsNoCrash) {
  VirtualLoop loop(1);
  Runtime a = loop.actor("a");
  Runtime b = loop.actor("b");
  Signal signal(a);
  TaskGroup group(a);
  TaskGroup others(b);
  int woken = 0;
  for (int i = 0; i < 3; ++i) group.spawn("a", wait_and_notify(a, signal, group, woken));
  others.spawn("b", wait_and_notify(b, signal, others, woken));
  loop.run_for(1s);
  loop.crash("a");
  EXPECT_EQ(tokens, 1);
  loop.run_for(1s);
  EXPECT_EQ(tokens, 0);
  EXPECT_EQ(woken, 1) << "the fiber of the other actor, and no other";
}

// A wait that is not of this library.
struct Foreign {
  template <class Handler>
  void operator()(Handler handler) const {
    *keep = [kept = std::make_shared<Handler>(std::move(handler))] { (*kept)(); };
  }
  std::function<void()>* keep;
};

Task<void> wait_foreign(std::function<void()>& keep) {
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(Foreign{&keep},
                                                                       asio::use_awaitable);
}

TEST(VirtualLoop, ACrashNoticesAFiberThatItCannotReach) {
  std::function<void()> keep;
  VirtualLoop loop(1);
  TaskGroup group(loop.actor("a"));
  group.spawn("foreign", wait_foreign(keep));
  loop.run_until_idle();
  EXPECT_THROW(loop.crash("a"), BrokenInvariant);
  keep = nullptr;
  loop.run_until_idle();
  loop.crash("a");
}

Task<void> note_order(int value, std::vector<int>& order) {
  order.push_back(value);
  co_return;
}

std::vector<int> order_of(std::uint64_t seed, VirtualLoop::Order how) {
  VirtualLoop loop(seed, how);
  TaskGroup group(loop.actor("a"));
  std::vector<int> order;
  for (int i = 0; i < 8; ++i) group.spawn("n", note_order(i, order));
  loop.run_until_idle();
  return order;
}

TEST(VirtualLoop, FifoRunsInOrderAndRandomInManyOrders) {
  const std::vector<int> sorted{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(order_of(1, VirtualLoop::Order::kFifo), sorted);
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    auto order = order_of(seed, VirtualLoop::Order::kRandom);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, sorted);
  }
  EXPECT_GT(orders.size(), 45u);
}

TEST(VirtualLoop, APausedActorMissesTimeAndThenGoesOn) {
  VirtualLoop loop(1);
  TaskGroup group(loop.actor("a"));
  bool woke = false;
  group.spawn("sleep", sleep_with_token(loop.actor("a"), 1s, woke));
  loop.run_for(500ms);
  loop.pause("a");
  loop.run_for(10s);
  EXPECT_FALSE(woke);
  loop.resume("a");
  loop.run_for(Duration(0));
  EXPECT_TRUE(woke);
}

TEST(VirtualLoop, APausedActorCanBeCrashed) {
  VirtualLoop loop(1);
  TaskGroup group(loop.actor("a"));
  bool woke = false;
  group.spawn("sleep", sleep_with_token(loop.actor("a"), 1s, woke));
  loop.pause("a");
  loop.run_for(10s);
  loop.crash("a");
  EXPECT_EQ(tokens, 0);
}

TEST(VirtualLoop, ChanceIsPerActorAndPerLife) {
  VirtualLoop loop(5);
  VirtualLoop same(5);
  same.actor("another one first");
  auto draw = loop.actor("a").random->next();
  EXPECT_EQ(draw, same.actor("a").random->next());
  EXPECT_NE(draw, loop.actor("b").random->next());
  loop.crash("a");
  EXPECT_NE(draw, loop.actor("a").random->next());
}

TEST(VirtualLoop, WallsMayDiffer) {
  VirtualLoop loop(1);
  auto before = loop.actor("a").clock->wall();
  loop.set_wall_offset("a", -1h);
  loop.run_for(1min);
  EXPECT_EQ(loop.actor("a").clock->wall(), before - 59min);
  EXPECT_EQ(loop.actor("b").clock->wall(), before + 1min);
}

}  // namespace
}  // namespace quorate::rt
