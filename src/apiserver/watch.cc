#include "apiserver/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "apiserver/builtin_types.h"
#include "apiserver/metadata.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

std::string line(std::string_view type, std::string_view object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
}

class Stream : public Watch {
 public:
  struct Start {
    std::int64_t position;          // everything up to here is told, or in `initial`
    std::deque<RecordPtr> initial;  // to be said first, as added
    bool mark_initial_end = false;
  };

  Stream(rt::Runtime runtime, Storage& storage, const Kind& kind, ListRequest request,
         const Options& options, Start start)
      : runtime_(runtime),
        storage_(storage),
        kind_(kind),
        request_(std::move(request)),
        renderer_(kind, request_.form),
        bookmark_interval_(options.bookmark_interval),
        end_(runtime.in(timeout(options))),
        next_bookmark_(next_bookmark()),
        start_(std::move(start)),
        // An object cannot be told as a list: the real server ends such a watch without a word.
        ended_(request_.form.is_metadata_list()) {}

  Task<Result<std::optional<std::string>>> read(rt::Deadline deadline) override {
    while (true) {
      if (auto text = next_line()) co_return text;
      // Also if the end has come meanwhile: one that asked for them gets one before it.
      if (request_.bookmarks && !ended_ && next_bookmark_.passed(*runtime_.clock)) {
        next_bookmark_ = next_bookmark();
        co_return bookmark(false);
      }
      if (ended_ || end_.passed(*runtime_.clock)) co_return std::optional<std::string>();
      auto until = deadline.sooner(end_);
      if (request_.bookmarks) until = until.sooner(next_bookmark_);
      auto waited = co_await storage_.changed(kind_).wait(until);
      if (waited || waited.error().code() != Code::kTimeout) {
        if (!waited) co_return fail(std::move(waited).error());
        continue;
      }
      // A reader that was held up is told first what happened meanwhile: a bookmark means that
      // nothing was left out.
      if (auto text = next_line()) co_return text;
      if (end_.passed(*runtime_.clock) || next_bookmark_.passed(*runtime_.clock)) continue;
      if (deadline.passed(*runtime_.clock)) co_return fail(std::move(waited).error());
    }
  }

 private:
  Duration timeout(const Options& options) const {
    if (!request_.timeout_seconds || *request_.timeout_seconds <= 0)
      return options.default_watch_timeout;
    return std::chrono::seconds(*request_.timeout_seconds);
  }

  // Every minute, and shortly before the end.
  rt::Deadline next_bookmark() const {
    constexpr std::chrono::seconds kBeforeEnd(2);
    const auto regular = runtime_.in(bookmark_interval_);
    const rt::Deadline last{end_.at - kBeforeEnd};
    return last.passed(*runtime_.clock) ? regular : regular.sooner(last);
  }

  // What can be said without waiting.
  std::optional<std::string> next_line() {
    if (ended_) return std::nullopt;
    if (!start_.initial.empty()) {
      const auto record = std::move(start_.initial.front());
      start_.initial.pop_front();
      return line("ADDED", render(*record));
    }
    if (std::exchange(start_.mark_initial_end, false)) return bookmark(true);
    if (start_.position < storage_.oldest()) {
      ended_ = true;
      const auto refusal = expired(
          fmt::format("too old resource version: {} ({})", start_.position, storage_.oldest()));
      return line("ERROR", json::render(refusal.status()));
    }
    while (const Event* event = storage_.next_event(kind_, start_.position)) {
      start_.position = event->version();
      if (auto text = say(*event)) return text;
    }
    return std::nullopt;
  }

  std::string render(const Record& record) {
    return renderer_.object(record, runtime_.clock->wall());
  }

  // An object that enters the selection is added to it, one that leaves it is deleted from it.
  std::optional<std::string> say(const Event& event) {
    const auto selected = [&](const RecordPtr& record) {
      return record && request_.selection.matches(*event.kind, event.key, *record);
    };
    const bool before = selected(event.before);
    const bool now = event.type != Event::Type::kDeleted && selected(event.now);
    if (now) return line(before ? "MODIFIED" : "ADDED", render(*event.now));
    if (!before) return std::nullopt;
    if (event.type == Event::Type::kDeleted) return line("DELETED", render(*event.now));
    // Its last selected state, under the version of the change.
    auto last = event.before->value();
    metadata_of(last)["resourceVersion"] = fmt::to_string(event.version());
    const Record record{event.version(), json::render(last), {}};
    return line("DELETED", render(record));
  }

  std::string bookmark(bool initial_end) {
    // At other times than the initial end nothing of this kind is left to be told: then a reader
    // may go on from what is newest of all.
    if (!initial_end) start_.position = std::max(start_.position, storage_.version());
    json::Object metadata{{"resourceVersion", fmt::to_string(start_.position)}};
    if (initial_end) metadata["annotations"] = {{"k8s.io/initial-events-end", "true"}};
    json::Value object = json::Object();
    // An empty object of the kind's Go type, where there is one.
    if (!kind_.custom) object = make_zero(kind_.rules->schema());
    auto& members = object.as_object();
    members["kind"] = kind_.kind;
    members["apiVersion"] = kind_.api_version();
    members["metadata"] = std::move(metadata);
    return line("BOOKMARK", renderer_.object(object, runtime_.clock->wall()));
  }

  rt::Runtime runtime_;
  Storage& storage_;
  const Kind& kind_;
  ListRequest request_;
  Renderer renderer_;
  Duration bookmark_interval_;
  rt::Deadline end_;
  rt::Deadline next_bookmark_;
  Start start_;
  bool ended_;
};

}  // namespace

Outcome<std::unique_ptr<Watch>> open_watch(rt::Runtime runtime, Storage& storage, const Kind& kind,
                                           const ListRequest& request, const Options& options) {
  const auto& wanted = request.resource_version;
  const auto asked = parse_integer(wanted.empty() ? "0" : wanted);
  if (!asked || *asked < 0)
    return fail(Refusal{
        .code = 500,
        .reason = "",
        .message = fmt::format("resourceVersion: Invalid value: {}: strconv.ParseUint: parsing {}: "
                               "invalid syntax",
                               quoted(wanted), quoted(wanted)),
        .details = {},
        .retry_after_seconds = {}});
  Stream::Start start{.position = *asked, .initial = {}, .mark_initial_end = false};
  if (*asked == 0 || request.initial_events) {
    start.position = std::max(storage.version(), *asked);
    for (const auto& [key, record] : storage.objects(kind))
      if (request.selection.matches(kind.stored(), key, *record)) start.initial.push_back(record);
    start.mark_initial_end = request.bookmarks && (request.initial_events || wanted.empty());
  }
  return std::unique_ptr<Watch>(
      std::make_unique<Stream>(runtime, storage, kind, request, options, std::move(start)));
}

}  // namespace quorate::apiserver
