#include "kube/events.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "json/timestamp.h"

namespace quorate::kube {
namespace {

constexpr std::size_t kNoteCeiling = 1024;  // the API's own limits
constexpr std::size_t kWordCeiling = 128;
constexpr std::size_t kNameCeiling = 253;
constexpr std::size_t kNameSuffix = 17;  // "." and 16 digits
constexpr int kAttempts = 3;             // at a write whose answer is lost

// At most `ceiling` bytes, without half a character at the end.
std::string shortened(std::string text, std::size_t ceiling) {
  if (text.size() <= ceiling) return text;
  std::size_t end = ceiling;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

std::string_view name(Notice::Type type) {
  return type == Notice::Type::kWarning ? "Warning" : "Normal";
}

// Notices of one key are one series.
std::string series_key(const Notice& notice) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", notice.regarding.uid.value(),
                     notice.regarding.key.text(), name(notice.type), notice.reason, notice.action,
                     notice.note);
}

json::Value render_reference(const ObjectReference& reference) {
  json::Object out{{"apiVersion", reference.api_version},
                   {"kind", reference.kind},
                   {"name", reference.key.name},
                   {"uid", reference.uid.value()}};
  if (!reference.key.ns.empty()) out["namespace"] = reference.key.ns;
  if (!reference.resource_version.value().empty())
    out["resourceVersion"] = reference.resource_version.value();
  return out;
}

}  // namespace

Recorder::Recorder(rt::Runtime runtime, Client& client, RecorderOptions options)
    : runtime_(runtime), client_(client), options_(std::move(options)), changed_(runtime) {
  options_.instance = shortened(std::move(options_.instance), kWordCeiling);
  if (options_.instance.empty()) options_.instance = options_.controller;
}

void Recorder::publish(Notice notice) {
  ++counters_.published;
  if (queue_.size() >= options_.queue) {
    if (counters_.dropped++ == 0) options_.log.warn("events are dropped: the queue is full");
    return;
  }
  queue_.push_back(std::move(notice));
  changed_.notify();
}

Task<void> Recorder::run() {
  for (;;) {
    while (!queue_.empty()) {
      take(std::move(queue_.front()));
      queue_.pop_front();
    }
    if (auto due = find_due(); due != series_.end()) {
      writing_ = true;
      auto written = co_await write(due->first);
      writing_ = false;
      if (!written && written.error() == Code::kCancelled) co_return;
      continue;
    }
    forget_old();
    changed_.notify();  // a flush may be complete
    auto waited = co_await changed_.wait(next_due());
    if (!waited && waited.error() == Code::kCancelled) co_return;
  }
}

Task<Result<void>> Recorder::flush(rt::Deadline deadline) {
  ++flushes_;
  changed_.notify();
  Result<void> waited;
  while (waited && (!queue_.empty() || writing_ || find_due() != series_.end()))
    waited = co_await changed_.wait(deadline);
  --flushes_;
  co_return waited;
}

void Recorder::take(Notice notice) {
  notice.note = shortened(to_valid_utf8(notice.note), kNoteCeiling);
  notice.reason = shortened(std::move(notice.reason), kWordCeiling);
  notice.action = shortened(std::move(notice.action), kWordCeiling);
  auto [found, is_new] = series_.try_emplace(series_key(notice));
  Series& series = found->second;
  if (is_new) {
    series.event = make_event_key(notice);
    series.notice = std::move(notice);
  } else {
    ++series.count;
  }
  series.last = runtime_.clock->now();
  series.last_time = runtime_.clock->wall();
}

// The first of a kind and its first repetition are written at once, further ones now and then, and
// the last count when the series has ended.
bool Recorder::is_due(const Series& series) const {
  if (series.written == series.count) return false;
  if (series.written <= 1 || flushes_ > 0) return true;
  const auto now = runtime_.clock->now();
  return now >= series.written_at + options_.count_every;
}

Recorder::SeriesMap::iterator Recorder::find_due() {
  return std::find_if(series_.begin(), series_.end(),
                      [this](const auto& entry) { return is_due(entry.second); });
}

rt::Deadline Recorder::next_due() const {
  rt::Deadline next = rt::Deadline::never();
  for (const auto& [key, series] : series_) {
    const bool unwritten = series.written != series.count;
    next = next.sooner({unwritten ? series.written_at + options_.count_every
                                  : series.last + options_.series_ends_after});
  }
  return next;
}

// Series that have ended, and the oldest where there are too many.
void Recorder::forget_old() {
  const auto now = runtime_.clock->now();
  std::erase_if(series_, [&](const auto& entry) {
    return entry.second.written == entry.second.count &&
           now >= entry.second.last + options_.series_ends_after;
  });
  while (series_.size() > options_.series) {
    auto oldest = std::min_element(series_.begin(), series_.end(),
                                   [](auto& a, auto& b) { return a.second.last < b.second.last; });
    series_.erase(oldest);
  }
}

// Brings the Event up to the count of its series. Series may come and go meanwhile.
Task<Result<void>> Recorder::write(std::string key) {
  const Series series = series_.at(key);
  const bool is_new = series.written == 0;
  Result<void> written;
  if (is_new)
    written = co_await create(series);
  else
    written = co_await count(series);
  if (!written && written.error() == Code::kCancelled) co_return written;
  auto found = series_.find(key);
  if (found == series_.end()) co_return written;
  if (written) {
    ++(is_new ? counters_.created : counters_.counted);
    found->second.written = series.count;
    found->second.written_at = runtime_.clock->now();
    found->second.attempts = 0;
    co_return written;
  }
  // Both writes may be repeated: the name and the count are our own.
  if (written.error() == Code::kUnknownOutcome && ++found->second.attempts < kAttempts)
    co_return written;
  if (!is_new && written.error() == Code::kNotFound) {  // the server forgets Events after an hour
    found->second.count -= series.written;
    found->second.written = 0;
    found->second.event = make_event_key(series.notice);
    co_return written;
  }
  if (counters_.failed++ == 0)
    options_.log.warn("cannot write an event", {{"error", written.error()}});
  series_.erase(found);
  co_return written;
}

Task<Result<void>> Recorder::create(const Series& series) {
  const auto deadline = runtime_.in(options_.write_timeout);
  auto created = co_await client_.create(kEvents, series.event.ns, render(series), deadline);
  // The name is our own: it is there because an earlier answer got lost.
  if (!created && !is_already_exists(created.error())) co_return fail(std::move(created).error());
  co_return Result<void>();
}

Task<Result<void>> Recorder::count(const Series& series) {
  const auto deadline = runtime_.in(options_.write_timeout);
  json::Object body;
  body["series"] = json::Object{{"count", series.count},
                                {"lastObservedTime", json::render_micro_time(series.last_time)}};
  CO_TRY(
      co_await client_.patch(kEvents, series.event, PatchKind::kMerge, std::move(body), deadline));
  co_return Result<void>();
}

ObjectKey Recorder::make_event_key(const Notice& notice) {
  const auto& key = notice.regarding.key;
  const auto stem = key.name.substr(0, kNameCeiling - kNameSuffix);
  return {key.ns.empty() ? "default" : key.ns,
          fmt::format("{}.{:016x}", stem, runtime_.random->next())};
}

json::Value Recorder::render(const Series& series) const {
  auto event = make_object(kEvents, series.event);
  auto& object = event.as_object();
  object["eventTime"] = json::render_micro_time(series.last_time);
  object["type"] = name(series.notice.type);
  object["reason"] = series.notice.reason;
  object["action"] = series.notice.action;
  object["note"] = series.notice.note;
  object["regarding"] = render_reference(series.notice.regarding);
  object["reportingController"] = options_.controller;
  object["reportingInstance"] = options_.instance;
  if (series.count > 1)
    object["series"] = json::Object{
        {"count", series.count}, {"lastObservedTime", json::render_micro_time(series.last_time)}};
  return event;
}

}  // namespace quorate::kube
