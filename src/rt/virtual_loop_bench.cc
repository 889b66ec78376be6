#include <benchmark/benchmark.h>

#include <boost/asio/post.hpp>

#include "rt/signal.h"
#include "rt/virtual_loop.h"

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;

// One continuation that posts itself again, in each of `range` actors: a step and nothing else.
struct Bare {
  Executor executor;
  void operator()() { boost::asio::post(executor, Bare{executor}); }
};

void bare_steps(benchmark::State& bench) {
  VirtualLoop loop(1);
  for (int64_t i = 0; i < bench.range(0); ++i) {
    auto executor = loop.actor(std::to_string(i)).executor;
    boost::asio::post(executor, Bare{executor});
  }
  for (auto _ : bench) loop.step();
  bench.SetItemsProcessed(bench.iterations());
}
BENCHMARK(bare_steps)->Arg(1)->Arg(100);

Task<void> sleep_for_ever(Runtime runtime) {
  for (;;) {
    auto slept = co_await runtime.clock->sleep_until(runtime.clock->now() + 1ms);
    if (!slept) co_return;
  }
}

// Fibers that sleep again and again: timers, frames and the choice among the ready.
void sleeping_fibers(benchmark::State& bench) {
  VirtualLoop loop(1);
  TaskGroup group(loop.actor("a"));
  for (int64_t i = 0; i < bench.range(0); ++i)
    group.spawn("sleeper", sleep_for_ever(loop.actor("a")));
  for (auto _ : bench) loop.step();
  bench.SetItemsProcessed(bench.iterations());
  loop.tear_down();
}
BENCHMARK(sleeping_fibers)->Arg(100)->Arg(10'000);

Task<void> pass_on(Channel<int>& from, Channel<int>& to) {
  for (;;) {
    auto value = co_await from.receive(Deadline::never());
    if (!value || !*value) co_return;
    auto sent = co_await to.send(**value, Deadline::never());
    if (!sent) co_return;
  }
}

// Two fibers of two actors that send a value to and fro.
void channel_steps(benchmark::State& bench) {
  VirtualLoop loop(1);
  Channel<int> there(loop.actor("a"), 1);
  Channel<int> back(loop.actor("b"), 1);
  TaskGroup first(loop.actor("a"));
  TaskGroup second(loop.actor("b"));
  first.spawn("there", pass_on(back, there));
  second.spawn("back", pass_on(there, back));
  there.try_send(1);
  for (auto _ : bench) loop.step();
  bench.SetItemsProcessed(bench.iterations());
  loop.tear_down();
}
BENCHMARK(channel_steps);

}  // namespace
}  // namespace quorate::rt

BENCHMARK_MAIN();
