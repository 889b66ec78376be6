#include "rt/keyed_queue.h"

#include <map>

#include "rt/signal.h"

namespace quorate::rt::detail {

namespace {

// Orders by time; among equals, by who came first.
using Place = std::pair<Monotonic, std::uint64_t>;

}  // namespace

struct QueueCore::State {
  State(Runtime with, QueueOptions opts)
      : runtime(std::move(with)), options(opts), ready_changed(runtime), due_changed(runtime) {}

  // What is ready is taken in the order of the time since when it waits, moved back by `advantage`
  // for each step of priority.
  Place ready_place(const QueueItem& item) const {
    return {item.due - static_cast<int>(item.priority) * options.advantage, item.sequence};
  }
  static Place delayed_place(const QueueItem& item) { return {item.due, item.sequence}; }

  void insert(QueueItem& item);
  void remove(QueueItem& item);
  void promote_due();
  QueueItem* take();

  // At most one waiting worker looks after the clock, so that one wakes for each due time instead
  // of all.
  class Timekeeper {
   public:
    explicit Timekeeper(State& state) : state_(state) { state_.has_timekeeper = true; }
    Timekeeper(const Timekeeper&) = delete;
    Timekeeper& operator=(const Timekeeper&) = delete;
    // However it leaves (with an item, late, cancelled), another takes over.
    ~Timekeeper() {
      state_.has_timekeeper = false;
      if (!state_.delayed.empty()) state_.ready_changed.notify_one();
    }

   private:
    State& state_;
  };

  Runtime runtime;
  QueueOptions options;
  std::map<Place, QueueItem*> ready;
  std::map<Place, QueueItem*> delayed;
  std::size_t processing = 0;
  std::uint64_t arrivals = 0;
  bool has_timekeeper = false;
  Signal ready_changed;  // for the others
  Signal due_changed;    // for the timekeeper
};

void QueueCore::State::insert(QueueItem& item) {
  item.sequence = ++arrivals;
  bool urgent = item.due <= runtime.clock->now();
  if (urgent)
    ready.emplace(ready_place(item), &item);
  else
    urgent = delayed.emplace(delayed_place(item), &item).first == delayed.begin();
  if (!urgent) return;
  ready_changed.notify_one();
  due_changed.notify();
}

void QueueCore::State::remove(QueueItem& item) {
  if (delayed.erase(delayed_place(item)) == 0) ready.erase(ready_place(item));
}

void QueueCore::State::promote_due() {
  const Monotonic now = runtime.clock->now();
  while (!delayed.empty() && delayed.begin()->first.first <= now) {
    QueueItem& item = *delayed.begin()->second;
    delayed.erase(delayed.begin());
    ready.emplace(ready_place(item), &item);
  }
}

QueueItem* QueueCore::State::take() {
  promote_due();
  if (ready.empty()) return nullptr;
  QueueItem* item = ready.begin()->second;
  ready.erase(ready.begin());
  item->pending = false;
  item->processing = true;
  ++processing;
  if (!ready.empty()) ready_changed.notify_one();  // one wake-up may stand for several items
  return item;
}

QueueCore::QueueCore(Runtime runtime, QueueOptions options)
    : state_(std::make_unique<State>(std::move(runtime), options)) {}
QueueCore::~QueueCore() = default;

void QueueCore::schedule(QueueItem& item, Duration delay, Priority priority) {
  Monotonic due = Deadline::after(*state_->runtime.clock, std::max(delay, Duration(0))).at;
  if (item.pending) {
    due = std::min(due, item.due);
    priority = std::max(priority, item.priority);
    if (due == item.due && priority == item.priority) return;
    if (!item.processing) state_->remove(item);
  }
  item.pending = true;
  item.due = due;
  item.priority = priority;
  if (!item.processing) state_->insert(item);
}

void QueueCore::retry(QueueItem& item) {
  ++item.failures;
  const Duration delay = state_->options.backoff.delay(item.failures, *state_->runtime.random);
  schedule(item, delay, Priority::kEvent);
}

void QueueCore::done(QueueItem& item) {
  CHECK(item.processing, "done() with a key that is not being processed");
  item.processing = false;
  --state_->processing;
  if (item.pending) state_->insert(item);
}

void QueueCore::withdraw(QueueItem& item) {
  CHECK(!item.processing, "withdraw() of a key that is being processed");
  if (item.pending) state_->remove(item);
  item.pending = false;
}

QueueItem* QueueCore::try_next() { return state_->take(); }

Task<Result<QueueItem*>> QueueCore::next(Deadline deadline) {
  CO_TRY(co_await check_cancelled());
  for (;;) {
    if (QueueItem* item = state_->take()) co_return item;
    if (state_->has_timekeeper || state_->delayed.empty()) {
      CO_TRY(co_await state_->ready_changed.wait(deadline));
      continue;
    }
    State::Timekeeper timekeeper(*state_);
    const Deadline due{state_->delayed.begin()->first.first};
    auto woken = co_await state_->due_changed.wait(deadline.sooner(due));
    if (woken || (woken.error() == Code::kTimeout && due.passed(*state_->runtime.clock))) continue;
    co_return fail(woken.error());
  }
}

QueueSizes QueueCore::sizes() const {
  QueueSizes sizes{state_->ready.size(), state_->delayed.size(), state_->processing, {}};
  const Monotonic now = state_->runtime.clock->now();
  // What is due but not yet looked at counts as ready.
  for (auto it = state_->delayed.begin(); it != state_->delayed.end() && it->first.first <= now;
       ++it) {
    ++sizes.ready;
    --sizes.delayed;
    sizes.longest_wait = std::max(sizes.longest_wait, now - it->first.first);
  }
  for (const auto& [place, item] : state_->ready)
    sizes.longest_wait = std::max(sizes.longest_wait, now - item->due);
  return sizes;
}

}  // namespace quorate::rt::detail
