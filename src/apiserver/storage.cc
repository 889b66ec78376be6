#include "apiserver/storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apiserver/selection.h"
#include "base/check.h"

namespace quorate::apiserver {

namespace {

// Numbers as they are read back from their text, so that an object is the same before and after.
void settle_numbers(json::Value& value) {
  if (value.is_uint64() && value.get_uint64() <= std::numeric_limits<std::int64_t>::max()) {
    value = static_cast<std::int64_t>(value.get_uint64());
  } else if (value.is_double() && !std::isfinite(value.get_double())) {
    value = nullptr;
  } else if (value.is_array()) {
    for (auto& element : value.get_array()) settle_numbers(element);
  } else if (value.is_object()) {
    for (auto& [name, member] : value.get_object()) settle_numbers(member);
  }
}

}  // namespace

Decoded Record::decoded() const {
  if (auto there = last.lock()) return there;
  auto parsed = json::parse(text, {.bytes = text.size()});
  CHECK(parsed.has_value(), "stored object: {}", parsed.error().text());
  auto decoded = std::make_shared<const json::Value>(std::move(*parsed));
  if (recent) {
    last = decoded;
    recent->keep(decoded);
  }
  return decoded;
}

bool KeyOrder::operator()(const ObjectKey& a, const ObjectKey& b) const {
  if (a.ns == b.ns) return a.name < b.name;
  const auto [left, right] = std::mismatch(a.ns.begin(), a.ns.end(), b.ns.begin(), b.ns.end());
  const char ours = left == a.ns.end() ? '/' : *left;
  const char theirs = right == b.ns.end() ? '/' : *right;
  return ours < theirs;
}

Storage::Storage(rt::Runtime runtime, std::size_t history) : runtime_(runtime), history_(history) {}

Storage::Shelf& Storage::shelf(const Kind& kind) {
  const std::size_t id = kind.stored().id;
  if (shelves_.size() <= id) shelves_.resize(id + 1);
  auto& place = shelves_[id];
  if (!place) {
    place = std::make_unique<Shelf>();
    place->changed = std::make_unique<rt::Signal>(runtime_);
  }
  return *place;
}

const Storage::Shelf* Storage::find_shelf(const Kind& kind) const {
  const std::size_t id = kind.stored().id;
  return id < shelves_.size() ? shelves_[id].get() : nullptr;
}

RecordPtr Storage::find(const Kind& kind, const ObjectKey& key) const {
  const auto& all = objects(kind);
  const auto found = all.find(key);
  return found == all.end() ? nullptr : found->second;
}

const Storage::Objects& Storage::objects(const Kind& kind) const {
  static const Objects none;
  const Shelf* shelf = find_shelf(kind);
  return shelf ? shelf->objects : none;
}

std::optional<Storage::Objects> Storage::objects_at(const Kind& kind, std::int64_t version) const {
  if (version < oldest_) return std::nullopt;
  Objects then = objects(kind);
  const Shelf* shelf = find_shelf(kind);
  if (!shelf) return then;
  // Undone from the latest change back.
  for (auto event = shelf->history.rbegin();
       event != shelf->history.rend() && event->version() > version; ++event) {
    if (event->before)
      then[event->key] = event->before;
    else
      then.erase(event->key);
  }
  return then;
}

const Event* Storage::next_event(const Kind& kind, std::int64_t version) const {
  CHECK(version >= oldest_, "version {} is forgotten, oldest is {}", version, oldest_);
  const Shelf* shelf = find_shelf(kind);
  if (!shelf) return nullptr;
  const auto next =
      std::upper_bound(shelf->history.begin(), shelf->history.end(), version,
                       [](std::int64_t v, const Event& event) { return v < event.version(); });
  return next == shelf->history.end() ? nullptr : &*next;
}

rt::Signal& Storage::changed(const Kind& kind) { return *shelf(kind).changed; }

RecordPtr Storage::make_record(const Kind& kind, json::Value object) {
  return make_record(kind, std::move(object), version_ + 1);
}

RecordPtr Storage::make_record(const Kind& kind, json::Value object, std::int64_t version) {
  auto record = std::make_shared<Record>();
  record->version = version;
  object.as_object()["metadata"].as_object()["resourceVersion"] = fmt::to_string(record->version);
  settle_numbers(object);
  record->text = json::render(object);
  record->index = make_index(kind.stored(), object);
  record->recent = recent_;
  const auto decoded = std::make_shared<const json::Value>(std::move(object));
  record->last = decoded;
  recent_->keep(decoded);
  return record;
}

RecordPtr Storage::create(const Kind& kind, const ObjectKey& key, json::Value object) {
  auto& objects = shelf(kind).objects;
  CHECK(!objects.contains(key), "{} {} is there already", kind.plural, key.text());
  auto record = make_record(kind, std::move(object));
  Event event{Event::Type::kAdded, &kind.stored(), key, nullptr, record};
  write_down(event);
  objects.emplace(key, record);
  publish(std::move(event));
  return record;
}

RecordPtr Storage::update(const Kind& kind, const ObjectKey& key, json::Value object) {
  auto& objects = shelf(kind).objects;
  const auto found = objects.find(key);
  CHECK(found != objects.end(), "{} {} is not there", kind.plural, key.text());
  auto record = make_record(kind, std::move(object));
  Event event{Event::Type::kModified, &kind.stored(), key, found->second, record};
  write_down(event);
  found->second = record;
  publish(std::move(event));
  return record;
}

RecordPtr Storage::remove(const Kind& kind, const ObjectKey& key) {
  auto& objects = shelf(kind).objects;
  const auto found = objects.find(key);
  CHECK(found != objects.end(), "{} {} is not there", kind.plural, key.text());
  auto record = make_record(kind, found->second->value());
  Event event{Event::Type::kDeleted, &kind.stored(), key, found->second, record};
  write_down(event);
  objects.erase(found);
  publish(std::move(event));
  return record;
}

void Storage::write_down(const Event& event) {
  if (journal_) journal_->commit(event);
}

void Storage::publish(Event event) {
  version_ = event.version();
  auto& shelf = this->shelf(*event.kind);
  shelf.history.push_back(event);
  order_.push_back(event.kind->id);
  while (order_.size() > history_) forget_first();
  tell_listeners(event);
  shelf.changed->notify();
}

void Storage::tell_listeners(const Event& event) {
  // One that is told may write, listen or go. Who begins to listen meanwhile is not told of this.
  const auto count = listeners_.size();
  ++telling_;
  bool some_went = false;
  for (std::size_t i = 0; i < count; ++i)
    if (const auto listener = listeners_[i].lock())
      listener->on_event_(event);
    else
      some_went = true;
  if (--telling_ == 0 && some_went)
    std::erase_if(listeners_, [](const auto& listener) { return listener.expired(); });
}

void Storage::forget_first() {
  auto& history = shelves_[order_.front()]->history;
  oldest_ = history.front().version();
  history.pop_front();
  order_.pop_front();
}

void Storage::compact(std::int64_t version) {
  while (!order_.empty() && shelves_[order_.front()]->history.front().version() <= version)
    forget_first();
  oldest_ = std::max(oldest_, std::min(version, version_));
  for (const auto& shelf : shelves_)
    if (shelf) shelf->changed->notify();
}

void Storage::restore(std::vector<Kept> objects, std::int64_t version) {
  for (auto& shelf : shelves_)
    if (shelf) shelf->objects.clear();
  compact(version_);
  version_ = oldest_ = version;
  for (auto& kept : objects) {
    CHECK(kept.version <= version, "{} has version {}, after the last one, {}", kept.key.text(),
          kept.version, version);
    auto record = make_record(*kept.kind, std::move(kept.object), kept.version);
    shelf(*kept.kind).objects[kept.key] = record;
    tell_listeners({Event::Type::kAdded, &kept.kind->stored(), kept.key, nullptr, record});
  }
}

std::shared_ptr<Storage::Listener> Storage::listen(OnEvent on_event) {
  auto listener = std::make_shared<Listener>(std::move(on_event));
  listeners_.push_back(listener);
  return listener;
}

}  // namespace quorate::apiserver
