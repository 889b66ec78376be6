#include "apiserver/controller.h"

#include <fmt/format.h>

#include "apiserver/metadata.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

const json::Value& Change::object() const {
  if (!now_) now_ = event_.now->decoded();
  return *now_;
}

const json::Value& Change::before() const {
  static const json::Value kNothing;
  if (!event_.before) return kNothing;
  if (!before_) before_ = event_.before->decoded();
  return *before_;
}

Controller::Controller(rt::Runtime runtime, Verbs& verbs, std::string name)
    : runtime_(runtime), verbs_(verbs), name_(std::move(name)), marked_(runtime) {}

void Controller::mark(const WorkKey& work) { mark_after(work, Duration(0)); }

void Controller::mark_after(const WorkKey& work, Duration delay) {
  if (ready_.contains(work)) return;
  const auto when = rt::Deadline::after(*runtime_.clock, delay).at;
  const auto before = later_.find(work);
  if (before != later_.end()) {
    if (before->second <= when) return;
    by_time_.erase({before->second, work});
    later_.erase(before);
  }
  if (delay <= Duration(0)) {
    ready_.insert(work);
  } else {
    later_.emplace(work, when);
    by_time_.emplace(when, work);
  }
  marked_.notify();
}

// What stands is told like something new, in the order in which it was written.
void Controller::note_all() {
  std::map<std::int64_t, Event> events;
  for (const auto& kind : verbs_.registry().kinds()) {
    if (kind->stored_as) continue;
    for (const auto& [key, record] : verbs_.storage().objects(*kind))
      events.emplace(record->version, Event{Event::Type::kAdded, kind.get(), key, nullptr, record});
  }
  for (const auto& [version, event] : events) note(Change(event));
}

std::optional<WorkKey> Controller::take_due(std::optional<Monotonic>& next) {
  const auto now = runtime_.clock->now();
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    later_.erase(by_time_.begin()->second);
    ready_.insert(by_time_.begin()->second);
    by_time_.erase(by_time_.begin());
  }
  next.reset();
  if (!ready_.empty()) return std::move(ready_.extract(ready_.begin()).value());
  if (!by_time_.empty()) next = by_time_.begin()->first;
  return std::nullopt;
}

Task<void> Controller::run() {
  listener_ = verbs_.storage().listen([this](const Event& event) { note(Change(event)); });
  note_all();
  while (true) {
    std::optional<Monotonic> next;
    if (auto work = take_due(next)) {
      reconcile(*work);
      if (!co_await rt::yield(runtime_)) break;
      continue;
    }
    const auto deadline = next ? rt::Deadline{*next} : rt::Deadline::never();
    if (auto woken = co_await marked_.wait(deadline); !woken && woken.error() != Code::kTimeout)
      break;
  }
  listener_.reset();
}

Decoded Controller::look_at(const Kind& kind, const ObjectKey& key) {
  const auto record = verbs_.storage().find(kind, key);
  return record ? record->decoded() : nullptr;
}

std::optional<json::Value> Controller::find(const Kind& kind, const ObjectKey& key) {
  const auto found = look_at(kind, key);
  if (!found) return std::nullopt;
  return *found;
}

WriteOptions Controller::as_writer(std::string_view subresource) const {
  WriteOptions options;
  // The real ones run in two programs.
  options.manager = name_ == "default-scheduler" ? "kube-scheduler" : "kube-controller-manager";
  options.subresource = subresource;
  options.validation = FieldValidation::kIgnore;
  return options;
}

void Controller::change_status(const WorkKey& work, json::Value object) {
  const auto before = look_at(*work.kind, work.key);
  if (!before || json::equal(*before, object)) return;
  (void)verbs_.update(*work.kind, work.key, std::move(object), as_writer("status"));
}

void Controller::change(const WorkKey& work, json::Value object) {
  const auto before = look_at(*work.kind, work.key);
  if (!before || json::equal(*before, object)) return;
  (void)verbs_.update(*work.kind, work.key, std::move(object), as_writer());
}

void Controller::tell(const json::Value& about, std::string_view type, std::string_view reason,
                      std::string_view message) {
  const std::string ns(namespace_of(about).empty() ? "default" : namespace_of(about));
  const auto time = json::render_time(now());
  for (const auto& [key, record] : objects(*kinds().events)) {
    if (key.ns != ns || record->text.find(uid_of(about)) == std::string::npos) continue;
    auto event = record->value();
    if (json::text_or(event, "/involvedObject/uid", "") != uid_of(about) ||
        json::text_or(event, "/reason", "") != reason ||
        json::text_or(event, "/message", "") != message)
      continue;
    (void)json::put(event, "/count", json::integer_at(event, "/count").value_or(0) + 1);
    (void)json::put(event, "/lastTimestamp", json::Value(time));
    (void)verbs_.update(*kinds().events, key, std::move(event), as_writer());
    return;
  }
  json::Object subject{{"kind", json::text_or(about, "/kind", "")},
                       {"name", name_of(about)},
                       {"uid", uid_of(about)},
                       {"apiVersion", json::text_or(about, "/apiVersion", "")},
                       {"resourceVersion", version_of(about)}};
  if (!namespace_of(about).empty()) subject["namespace"] = namespace_of(about);
  json::Value event{{"metadata",
                     {{"name", fmt::format("{}.{:016x}", name_of(about), runtime_.random->next())},
                      {"namespace", ns}}},
                    {"involvedObject", std::move(subject)},
                    {"reason", reason},
                    {"message", message},
                    {"source", {{"component", name_}}},
                    {"firstTimestamp", time},
                    {"lastTimestamp", time},
                    {"count", 1},
                    {"type", type},
                    {"reportingComponent", name_},
                    {"reportingInstance", ""}};
  (void)verbs_.create(*kinds().events, ns, std::move(event), as_writer());
}

}  // namespace quorate::apiserver
