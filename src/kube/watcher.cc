#include "kube/watcher.h"

#include "json/stream.h"

namespace quorate::kube {
namespace {

constexpr std::size_t kLineCeiling = 8 << 20;  // an event: an object and a little around it

}  // namespace

Watcher::Watcher(rt::Runtime runtime, Client& client, Resource resource, WatcherOptions options,
                 WatchSink& sink)
    : runtime_(runtime),
      client_(client),
      resource_(resource),
      options_(std::move(options)),
      sink_(sink),
      machine_(options_.machine),
      events_(machine_, sink) {
  options_.log = options_.log.with("watch", resource.text());
}

Task<void> Watcher::run() {
  for (;;) {
    const auto step = machine_.next();
    if (step.tell == WatchMachine::Tell::kInit) {
      ++health_.lists;
      sink_.on_init();
    }
    Result<Duration> delay = co_await carry_out(step.request);
    if (!delay) {
      if (delay.error() == Code::kCancelled) co_return;
      failed(delay.error());
      delay = machine_.on_failure(delay.error(), runtime_.clock->now());
    }
    if (*delay == Duration::zero()) continue;
    const auto spread = static_cast<std::uint64_t>(delay->count() / 2 + 1);
    const Duration jitter(static_cast<Duration::rep>(runtime_.random->below(spread)));
    const Monotonic until = runtime_.clock->now() + *delay + jitter;
    auto slept = co_await runtime_.clock->sleep_until(until);
    if (!slept) co_return;
  }
}

// One request to its end. Gives how long to wait before the next.
Task<Result<Duration>> Watcher::carry_out(WatchMachine::Request request) {
  if (auto* page = std::get_if<WatchMachine::ListPage>(&request)) {
    CO_TRY(co_await list(std::move(*page)));
    co_return Duration::zero();
  }
  if (std::holds_alternative<WatchMachine::Probe>(request)) {
    CO_TRY(co_await probe());
    co_return Duration::zero();
  }
  WatchRequest stream;
  stream.what = options_.what;
  const auto spread = static_cast<std::uint64_t>(options_.watch_timeout.count());
  stream.timeout = options_.watch_timeout + std::chrono::seconds(runtime_.random->below(spread));
  stream.initial_events = std::holds_alternative<WatchMachine::InitStream>(request);
  if (auto* resumed = std::get_if<WatchMachine::Watch>(&request)) stream.from = resumed->from;
  CO_TRY(co_await watch(std::move(stream)));
  co_return machine_.on_end(runtime_.clock->now());
}

Task<Result<void>> Watcher::list(WatchMachine::ListPage page) {
  PageRequest request{options_.what, std::move(page.continue_token)};
  if (page.whole) request.what.page_size = 0;
  const auto deadline = runtime_.in(options_.request_timeout);
  EachItem each = [this](json::PaddedView item) { return readable(sink_.on_init_apply(item)); };
  CO_TRY(auto end, co_await client_.list_page(resource_, std::move(request), deadline, each));
  succeeded();
  const ResourceVersion version(std::move(end.resource_version));
  if (machine_.on_page(version, std::move(end.continue_token)) == WatchMachine::Tell::kInitDone)
    sink_.on_init_done(version);
  health_.synced |= machine_.state() == WatchMachine::State::kInitListed;
  co_return Result<void>();
}

Task<Result<void>> Watcher::probe() {
  PageRequest request;
  request.what.ns = options_.what.ns;  // without selectors: one object is found at once
  request.what.metadata_only = true;
  request.what.page_size = 1;
  const auto deadline = runtime_.in(options_.request_timeout);
  EachItem ignore = [](json::PaddedView) { return Result<void>(); };
  CO_TRY(auto end, co_await client_.list_page(resource_, std::move(request), deadline, ignore));
  machine_.on_probe(ResourceVersion(std::move(end.resource_version)));
  if (machine_.state() == WatchMachine::State::kEmpty)
    options_.log.warn("the server's versions went back; listing anew");
  co_return Result<void>();
}

Task<Result<void>> Watcher::watch(WatchRequest request) {
  const Duration lives = request.timeout + options_.grace;
  const auto deadline = runtime_.in(options_.request_timeout);
  CO_TRY(auto stream, co_await client_.watch(resource_, std::move(request), deadline));
  ++health_.watches;
  machine_.on_opened(runtime_.clock->now());
  succeeded();
  heard_at_ = runtime_.clock->now();
  Result<void> ended;
  rt::TaskGroup following(runtime_);
  following_ = &following;
  following.spawn("read", follow(*stream, runtime_.in(lives), ended));
  co_await following.join();
  following_ = nullptr;
  CO_TRY(co_await rt::check_cancelled());
  co_return ended;
}

void Watcher::doubt(Monotonic since) {
  if (following_ && heard_at_ < since) following_->cancel();
}

Task<void> Watcher::follow(net::ResponseStream& stream, rt::Deadline end, Result<void>& ended) {
  ended = co_await read_events(stream, end);
  if (!ended && ended.error() == Code::kCancelled)
    ended = fail(Code::kUnavailable, "it is silent, though something must have come");
}

Task<Result<void>> Watcher::read_events(net::ResponseStream& stream, rt::Deadline end) {
  json::LineSplitter lines(kLineCeiling);
  for (;;) {
    const bool initial = machine_.state() == WatchMachine::State::kInitStream;
    const auto patience = initial ? end.sooner(runtime_.in(options_.initial_silence)) : end;
    CO_TRY(auto piece, co_await stream.read(patience));
    if (!piece) break;
    heard_at_ = runtime_.clock->now();
    auto taken = lines.push(*piece, [this](json::PaddedView line) { return events_.take(line); });
    CO_TRY(std::move(taken));
    health_.synced |= machine_.state() == WatchMachine::State::kWatching;
  }
  if (lines.pending() > 0) co_return fail(Code::kUnavailable, "the watch was cut in mid-event");
  co_return Result<void>();
}

void Watcher::succeeded() {
  health_.error.reset();
  health_.failing_since.reset();
}

// Each failure is kept for health(); the log hears of a failure that lasts once, not at each try.
void Watcher::failed(const Error& error) {
  const bool first = !health_.error || health_.error->text() != error.text();
  if (!health_.failing_since) health_.failing_since = runtime_.clock->now();
  health_.error = error;
  if (first) options_.log.warn("watch interrupted", {{"error", error}});
}

}  // namespace quorate::kube
