#include <benchmark/benchmark.h>

#include "rt/keyed_queue.h"
#include "rt/loop.h"

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;
using Queue = KeyedQueue<std::string>;

struct Run {
  std::int64_t left;
  TaskGroup* group;
};

// Takes a key, is done with it and asks for it again, as a controller with a resync does.
Task<void> work(Queue& queue, Run& run) {
  for (;;) {
    auto key = co_await queue.next(Deadline::never());
    if (!key) co_return;
    queue.forget(*key);
    queue.add(*key, Priority::kEvent);
    queue.done(*key);
    if (--run.left <= 0) {
      run.group->cancel();
      co_return;
    }
  }
}

Task<void> work_off(Runtime runtime, Queue& queue, std::int64_t items) {
  TaskGroup group(runtime);
  Run run{items, &group};
  for (int i = 0; i < 64; ++i) group.spawn("worker", work(queue, run));
  co_await group.join();
}

// 64 workers, 10,000 keys, all always ready.
void busy_queue(benchmark::State& bench) {
  Loop loop;
  Queue queue(loop.runtime());
  for (int i = 0; i < 10'000; ++i)
    queue.add("namespace-" + std::to_string(i % 100) + "/cluster-" + std::to_string(i),
              Priority::kEvent);
  for (auto _ : bench) loop.run(work_off(loop.runtime(), queue, 100'000));
  bench.SetItemsProcessed(bench.iterations() * 100'000);
}
BENCHMARK(busy_queue)->Unit(benchmark::kMillisecond);

Task<void> feed(Runtime runtime, Queue& queue, std::int64_t items) {
  TaskGroup group(runtime);
  Run run{items, &group};
  for (int i = 0; i < 64; ++i) group.spawn("worker", work(queue, run));
  queue.add("the only one", Priority::kEvent);
  co_await group.join();
}

// 64 workers, one key: nearly all workers wait, each item wakes one of them.
void idle_workers(benchmark::State& bench) {
  Loop loop;
  for (auto _ : bench) {
    Queue queue(loop.runtime());
    loop.run(feed(loop.runtime(), queue, 100'000));
  }
  bench.SetItemsProcessed(bench.iterations() * 100'000);
}
BENCHMARK(idle_workers)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace quorate::rt

BENCHMARK_MAIN();
