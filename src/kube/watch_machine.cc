#include "kube/watch_machine.h"

#include <algorithm>

#include "base/strings.h"
#include "kube/status.h"

namespace quorate::kube {
namespace {

constexpr int kStreamingFailures = 2;  // broken initial streams in a row before pages are used

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without_leading_zeros(std::string_view text) {
  const auto first = text.find_first_not_of('0');
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

}  // namespace

bool certainly_older(const ResourceVersion& a, const ResourceVersion& b) {
  if (!is_number(a.value()) || !is_number(b.value())) return false;
  const auto left = without_leading_zeros(a.value());
  const auto right = without_leading_zeros(b.value());
  return left.size() != right.size() ? left.size() < right.size() : left < right;
}

WatchMachine::EventType WatchMachine::parse_type(std::string_view type) {
  if (type == "ADDED") return EventType::kAdded;
  if (type == "MODIFIED") return EventType::kModified;
  if (type == "DELETED") return EventType::kDeleted;
  if (type == "BOOKMARK") return EventType::kBookmark;
  if (type == "ERROR") return EventType::kError;
  return EventType::kUnknown;
}

WatchMachine::Step WatchMachine::next() {
  opened_at_.reset();
  switch (state_) {
    case State::kEmpty:
      continue_token_.clear();
      if (options_.streaming && !streaming_refused_) {
        state_ = State::kInitStream;
        return {InitStream{}, Tell::kInit};
      }
      state_ = State::kInitPage;
      return {ListPage{"", whole_list_}, Tell::kInit};
    case State::kInitPage:
      return {ListPage{continue_token_, whole_list_}};
    case State::kInitStream:  // broke off: what was collected is void
      return {InitStream{}, Tell::kInit};
    case State::kInitListed:
      return {Watch{position_}};
    case State::kWatching:
    case State::kResuming:
      state_ = State::kResuming;
      return {Probe{}};
  }
  return {Probe{}};
}

WatchMachine::Tell WatchMachine::on_page(const ResourceVersion& list_version,
                                         std::string continue_token) {
  continue_token_ = std::move(continue_token);
  if (!continue_token_.empty()) return Tell::kNothing;
  whole_list_ = false;
  position_ = list_version;
  state_ = State::kInitListed;
  return Tell::kInitDone;
}

void WatchMachine::on_probe(const ResourceVersion& current) {
  if (certainly_older(current, position_))
    start_over();
  else
    state_ = State::kInitListed;
}

void WatchMachine::on_opened(Monotonic now) {
  opened_at_ = now;
  if (state_ == State::kInitListed) state_ = State::kWatching;
}

WatchMachine::Meaning WatchMachine::on_event(EventType type, const ResourceVersion& version,
                                             bool ends_initial_events) {
  if (state_ == State::kInitStream) {
    switch (type) {
      case EventType::kAdded:
      case EventType::kModified:
        return Meaning::kInitApply;
      case EventType::kDeleted:
        return Meaning::kDelete;
      case EventType::kBookmark:
        if (!ends_initial_events) return Meaning::kNone;
        state_ = State::kWatching;
        position_ = version;
        streaming_failures_ = 0;
        return Meaning::kInitDone;
      case EventType::kError:
      case EventType::kUnknown:
        return Meaning::kNone;
    }
  }
  if (certainly_older(version, position_)) {
    start_over();
    return Meaning::kNone;
  }
  if (!version.value().empty()) position_ = version;
  switch (type) {
    case EventType::kAdded:
    case EventType::kModified:
      return Meaning::kApply;
    case EventType::kDeleted:
      return Meaning::kDelete;
    case EventType::kBookmark:
      return Meaning::kPosition;
    case EventType::kError:
    case EventType::kUnknown:
      return Meaning::kNone;
  }
  return Meaning::kNone;
}

Duration WatchMachine::on_end(Monotonic now) {
  const bool healthy = opened_at_ && now - *opened_at_ >= options_.healthy_after;
  if (healthy) failures_ = 0;
  if (state_ == State::kInitStream) {  // ended before the list did
    if (++streaming_failures_ >= kStreamingFailures) streaming_refused_ = true;
    start_over();
    return back_off();
  }
  if (state_ == State::kWatching) state_ = State::kResuming;
  return healthy ? Duration::zero() : back_off();
}

Duration WatchMachine::on_failure(const Error& error, Monotonic now) {
  if (opened_at_ && now - *opened_at_ >= options_.healthy_after) failures_ = 0;
  const bool lost_place =
      error == Code::kGone || error == Code::kCorrupt || is_version_too_large(error);
  switch (state_) {
    case State::kInitStream:
      if (error == Code::kInvalid) {  // the server knows no streaming lists
        streaming_refused_ = true;
        start_over();
        return Duration::zero();
      }
      if (opened_at_ && ++streaming_failures_ >= kStreamingFailures) streaming_refused_ = true;
      start_over();
      break;
    case State::kInitPage:
      // Pages that expire on the way are too slow for this list: all of it at once, then.
      if (lost_place) {
        whole_list_ = error == Code::kGone;
        start_over();
      }
      break;
    case State::kEmpty:
    case State::kInitListed:
    case State::kWatching:
    case State::kResuming:
      if (lost_place)
        start_over();
      else if (state_ == State::kWatching || state_ == State::kInitListed)
        state_ = State::kResuming;
      break;
  }
  const auto told = error.retry_after().value_or(std::chrono::milliseconds(0));
  return std::max<Duration>(back_off(), told);
}

void WatchMachine::start_over() {
  state_ = State::kEmpty;
  position_ = ResourceVersion();
  continue_token_.clear();
}

Duration WatchMachine::back_off() {
  const int doublings = std::min(failures_++, 16);
  return std::min(options_.first_delay * (1 << doublings), options_.longest_delay);
}

}  // namespace quorate::kube
