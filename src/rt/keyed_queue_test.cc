#include "rt/keyed_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "rt/group.h"
#include "rt/virtual_loop.h"

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;
using Queue = KeyedQueue<std::string>;

class KeyedQueueTest : public testing::Test {
 protected:
  VirtualLoop loop_{1};
  Runtime runtime_ = loop_.actor("main");
  Queue queue_{runtime_, QueueOptions{BackoffPolicy{1s, 10s, 0}, 5s}};

  std::vector<std::string> take_all() {
    std::vector<std::string> taken;
    while (auto key = queue_.try_next()) taken.push_back(*key);
    return taken;
  }
};

TEST_F(KeyedQueueTest, AKeyAddedTwiceIsHandedOutOnce) {
  queue_.add("a", Priority::kEvent);
  queue_.add("a", Priority::kEvent);
  EXPECT_EQ(take_all(), (std::vector<std::string>{"a"}));
}

TEST_F(KeyedQueueTest, AKeyAddedWhileInWorkComesOnceMoreAfterDone) {
  queue_.add("a", Priority::kEvent);
  ASSERT_EQ(queue_.try_next(), "a");
  queue_.add("a", Priority::kEvent);
  queue_.add("a", Priority::kEvent);
  EXPECT_EQ(queue_.try_next(), std::nullopt);
  queue_.done("a");
  EXPECT_EQ(take_all(), (std::vector<std::string>{"a"}));
  queue_.done("a");
  EXPECT_EQ(take_all(), (std::vector<std::string>{}));
}

TEST_F(KeyedQueueTest, TheEarlierTimeWins) {
  queue_.add_after("a", 10s);
  queue_.add_after("a", 3s);
  queue_.add_after("a", 20s);
  loop_.run_for(2999ms);
  EXPECT_EQ(queue_.try_next(), std::nullopt);
  loop_.run_for(1ms);
  EXPECT_EQ(queue_.try_next(), "a");
}

TEST_F(KeyedQueueTest, HigherPriorityGoesFirstAndTheHighestAskedForHolds) {
  queue_.add("resync", Priority::kResync);
  queue_.add("event", Priority::kEvent);
  queue_.add("edit", Priority::kUserEdit);
  queue_.add("raised", Priority::kResync);
  queue_.add("raised", Priority::kUserEdit);
  queue_.add("raised", Priority::kEvent);
  EXPECT_EQ(take_all(), (std::vector<std::string>{"edit", "raised", "event", "resync"}));
}

TEST_F(KeyedQueueTest, LowPriorityIsNotStarved) {
  queue_.add("old", Priority::kResync);
  loop_.run_for(4s);
  queue_.add("event at 4", Priority::kEvent);
  loop_.run_for(2s);
  queue_.add("event at 6", Priority::kEvent);
  queue_.add("edit at 6", Priority::kUserEdit);
  loop_.run_for(5s);
  queue_.add("edit at 11", Priority::kUserEdit);
  // An event is worth 5 s, an edit 10 s.
  EXPECT_EQ(take_all(), (std::vector<std::string>{"edit at 6", "event at 4", "old", "event at 6",
                                                  "edit at 11"}));
}

TEST_F(KeyedQueueTest, RetriesComeLaterEachTimeUntilForgotten) {
  auto wait_for_retry = [this] {
    auto before = runtime_.clock->now();
    queue_.retry("a");
    queue_.done("a");
    while (!queue_.try_next()) loop_.run_for(100ms);
    return runtime_.clock->now() - before;
  };
  queue_.add("a", Priority::kEvent);
  ASSERT_EQ(queue_.try_next(), "a");
  std::vector<Duration> waits(6);
  for (Duration& wait : waits) wait = wait_for_retry();
  EXPECT_EQ(waits, (std::vector<Duration>{1s, 2s, 4s, 8s, 10s, 10s}));
  EXPECT_EQ(queue_.failures("a"), 6);
  queue_.forget("a");
  EXPECT_EQ(wait_for_retry(), 1s);
}

TEST_F(KeyedQueueTest, SomethingNewDoesNotWaitForTheBackoff) {
  queue_.retry("a");
  queue_.add("a", Priority::kUserEdit);
  EXPECT_EQ(queue_.try_next(), "a");
  EXPECT_EQ(queue_.failures("a"), 1) << "but the failures are remembered";
}

TEST_F(KeyedQueueTest, DoneWithAKeyThatWasNotHandedOutIsADefect) {
  EXPECT_THROW(queue_.done("a"), BrokenInvariant);
  queue_.add("a", Priority::kEvent);
  EXPECT_THROW(queue_.done("a"), BrokenInvariant);
}

TEST_F(KeyedQueueTest, TellsItsSizes) {
  queue_.add("ready", Priority::kEvent);
  queue_.add("in work", Priority::kUserEdit);
  queue_.add_after("due later", 2s);
  queue_.add_after("much later", 1h);
  ASSERT_EQ(queue_.try_next(), "in work");
  loop_.run_for(3s);
  auto sizes = queue_.sizes();
  EXPECT_EQ(sizes.ready, 2u);
  EXPECT_EQ(sizes.delayed, 1u);
  EXPECT_EQ(sizes.processing, 1u);
  EXPECT_EQ(sizes.longest_wait, 3s);
}

Task<void> take_into(Queue& queue, Deadline deadline, std::vector<std::string>& notes) {
  auto key = co_await queue.next(deadline);
  notes.push_back(key ? *key : std::string(name(key.error().code())));
}

TEST_F(KeyedQueueTest, NextWaitsForAKeyForATimeAndForTheDeadline) {
  std::vector<std::string> notes;
  TaskGroup group(runtime_);
  group.spawn("1", take_into(queue_, runtime_.in(1h), notes));
  group.spawn("2", take_into(queue_, runtime_.in(1h), notes));
  group.spawn("3", take_into(queue_, runtime_.in(1min), notes));
  loop_.run_for(1s);
  queue_.add_after("later", 30s);
  queue_.add_after("sooner", 10s);
  loop_.run_for(9s);
  EXPECT_TRUE(notes.empty());
  loop_.run_for(1s);
  EXPECT_EQ(notes, (std::vector<std::string>{"sooner"}));
  loop_.run_for(20s);
  EXPECT_EQ(notes, (std::vector<std::string>{"sooner", "later"}));
  loop_.run_until_idle();
  EXPECT_EQ(notes, (std::vector<std::string>{"sooner", "later", "timeout"}));
}

TEST_F(KeyedQueueTest, ACancelledWorkerTakesNothing) {
  std::vector<std::string> notes;
  TaskGroup group(runtime_);
  TaskGroup others(runtime_);
  queue_.add_after("a", 10s);
  group.spawn("keeps the time", take_into(queue_, Deadline::never(), notes));
  loop_.run_for(1s);
  others.spawn("takes over", take_into(queue_, Deadline::never(), notes));
  loop_.run_for(1s);
  group.cancel();
  loop_.run_until_idle();
  EXPECT_EQ(notes, (std::vector<std::string>{"cancelled", "a"}));
}

// ---- Against a model.

struct Model {
  struct Item {
    std::optional<std::pair<Monotonic, Priority>> pending;
    bool processing = false;
    int failures = 0;
  };
  std::map<std::string, Item> items;
  Monotonic now{};

  void schedule(const std::string& key, Duration delay, Priority priority) {
    auto& pending = items[key].pending;
    Monotonic due = now + delay;
    if (pending) {
      due = std::min(due, pending->first);
      priority = std::max(priority, pending->second);
    }
    pending.emplace(due, priority);
  }
  bool ready(const Item& item) const {
    return item.pending && !item.processing && item.pending->first <= now;
  }
  static Monotonic score(const Item& item) {
    return item.pending->first - static_cast<int>(item.pending->second) * 5s;
  }
  std::optional<Monotonic> best_score() const {
    std::optional<Monotonic> best;
    for (auto& [key, item] : items)
      if (ready(item) && (!best || score(item) < *best)) best = score(item);
    return best;
  }
};

Duration model_backoff(int failures) {
  Duration delay = 1s;
  while (--failures > 0) delay = std::min<Duration>(delay * 2, 10s);
  return delay;
}

void check_sizes(const Queue& queue, const Model& model) {
  QueueSizes expected;
  for (auto& [key, item] : model.items) {
    if (item.processing) ++expected.processing;
    if (!item.pending || item.processing) continue;
    ++(item.pending->first <= model.now ? expected.ready : expected.delayed);
  }
  auto sizes = queue.sizes();
  RC_ASSERT(sizes.ready == expected.ready);
  RC_ASSERT(sizes.delayed == expected.delayed);
  RC_ASSERT(sizes.processing == expected.processing);
}

void take_and_compare(Queue& queue, Model& model) {
  auto best = model.best_score();
  auto key = queue.try_next();
  RC_ASSERT(key.has_value() == best.has_value());
  if (!key) return;
  auto& item = model.items[*key];
  RC_ASSERT(model.ready(item));
  RC_ASSERT(Model::score(item) == *best);
  item.pending.reset();
  item.processing = true;
}

RC_GTEST_PROP(KeyedQueueProperty, BehavesLikeItsModel, ()) {
  VirtualLoop loop(1);
  Queue queue(loop.actor("a"), QueueOptions{BackoffPolicy{1s, 10s, 0}, 5s});
  Model model;
  const auto length = *rc::gen::inRange(0, 200);
  for (int i = 0; i < length; ++i) {
    const std::string key(1, *rc::gen::inRange('a', 'h'));
    const auto priority =
        *rc::gen::element(Priority::kResync, Priority::kEvent, Priority::kUserEdit);
    const auto delay = std::chrono::seconds(*rc::gen::inRange(0, 20));
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
        queue.add(key, priority);
        model.schedule(key, Duration(0), priority);
        break;
      case 1:
        queue.add_after(key, delay, priority);
        model.schedule(key, delay, priority);
        break;
      case 2:
        queue.retry(key);
        model.schedule(key, model_backoff(++model.items[key].failures), Priority::kEvent);
        break;
      case 3:
        queue.forget(key);
        model.items[key].failures = 0;
        break;
      case 4:
        if (!model.items[key].processing) break;
        queue.done(key);
        model.items[key].processing = false;
        break;
      case 5:
        loop.run_for(delay);
        model.now += delay;
        break;
      case 6:
        queue.withdraw(key);
        if (!model.items[key].processing) model.items.erase(key);
        break;
      default:
        take_and_compare(queue, model);
    }
    RC_ASSERT(queue.failures(key) == model.items[key].failures);
    check_sizes(queue, model);
  }
}

// ---- Workers.

struct Workshop {
  Runtime runtime;
  Queue& queue;
  std::map<std::string, int> wanted;  // the newest version asked for
  std::map<std::string, int> made;    // the newest version that a worker saw when it began
  std::set<std::string> in_work;
  bool twice_at_once = false;
};

Task<void> work(Workshop& shop) {
  for (;;) {
    auto key = co_await shop.queue.next(Deadline::never());
    if (!key) co_return;
    if (!shop.in_work.insert(*key).second) shop.twice_at_once = true;
    shop.made[*key] = shop.wanted[*key];
    const Duration time(static_cast<Duration::rep>(shop.runtime.random->below(3'000'000'000)));
    auto slept = co_await shop.runtime.clock->sleep_until(shop.runtime.clock->now() + time);
    shop.in_work.erase(*key);
    if (!slept) co_return;
    if (shop.runtime.random->below(4) == 0)
      shop.queue.retry(*key);
    else
      shop.queue.forget(*key);
    shop.queue.done(*key);
  }
}

Task<void> ask(Workshop& shop) {
  for (int i = 0; i < 40; ++i) {
    const std::string key = std::to_string(shop.runtime.random->below(5));
    ++shop.wanted[key];
    shop.queue.add_after(key, std::chrono::seconds(shop.runtime.random->below(3)));
    if (!co_await shop.runtime.clock->sleep_until(shop.runtime.clock->now() + 500ms)) co_return;
  }
}

// Level-triggered work needs this: after the last change of a key, a worker begins with it again.
RC_GTEST_PROP(KeyedQueueProperty, WorkersSeeTheLastChangeOfEveryKeyAndNeverShareOne, ()) {
  VirtualLoop loop(*rc::gen::arbitrary<std::uint64_t>());
  Runtime runtime = loop.actor("a");
  Queue queue(runtime);
  Workshop shop{runtime, queue, {}, {}, {}, false};
  TaskGroup group(runtime);
  const int workers = *rc::gen::inRange(1, 6);
  for (int i = 0; i < workers; ++i) group.spawn("worker", work(shop));
  group.spawn("ask", ask(shop));
  loop.run_for(30min);
  const auto sizes = queue.sizes();
  group.cancel();
  loop.run_until_idle();
  RC_ASSERT(group.size() == 0u);
  RC_ASSERT(shop.made == shop.wanted);
  RC_ASSERT(!shop.twice_at_once);
  RC_ASSERT(sizes.ready + sizes.delayed + sizes.processing == 0u);
}

}  // namespace
}  // namespace quorate::rt
