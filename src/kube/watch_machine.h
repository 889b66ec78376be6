#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"

namespace quorate::kube {

// The decisions of a watcher, without any I/O: which request is next, what an event means, when the
// known state is no longer to be trusted.
//
//              ┌──────────────────────── expired, diverged, unreadable ───────────────────┐
//              ▼                                                                          │
//   kEmpty ──► kInitPage ──(last page)──► kInitListed ──► kWatching ──(stream ends)──► kResuming
//      └─────► kInitStream ──(end of initial events)────────▲   ▲───────────────────────┘
//
// kInitPage reads the list page by page; kInitStream lets the server send it as events, and falls
// back to pages for good where the server refuses. kResuming asks for the server's current position
// before a watch goes on: a position beyond it means that the server's storage was set back, and a
// watch from there would be silent for as long as it takes to pass it.
class WatchMachine {
 public:
  enum class State { kEmpty, kInitPage, kInitStream, kInitListed, kWatching, kResuming };

  // What to do now.
  struct ListPage {
    std::string continue_token;
    bool whole = false;  // without a page size: the list expired between two pages before
  };
  struct InitStream {};
  struct Watch {
    ResourceVersion from;
  };
  struct Probe {};  // a list of one object, for its resourceVersion
  using Request = std::variant<ListPage, InitStream, Watch, Probe>;

  // What to tell the sink beside the objects themselves.
  enum class Tell { kNothing, kInit, kInitDone };

  struct Options {
    bool streaming = true;  // try the streaming list first
    Duration first_delay = std::chrono::milliseconds(800);
    Duration longest_delay = std::chrono::seconds(30);
    // A watch that lived this long was a success: the next failure starts with the first delay.
    Duration healthy_after = std::chrono::seconds(10);
  };

  explicit WatchMachine(Options options) : options_(options) {}

  [[nodiscard]] State state() const { return state_; }
  // Where the watch stands: the last version seen.
  [[nodiscard]] const ResourceVersion& position() const { return position_; }

  // The next request. From kEmpty it begins a fresh list: tell the sink kInit first.
  struct Step {
    Request request;
    Tell tell = Tell::kNothing;
  };
  [[nodiscard]] Step next();

  // --- what came of it
  // A page (or the probe) has been read to its end.
  [[nodiscard]] Tell on_page(const ResourceVersion& list_version, std::string continue_token);
  void on_probe(const ResourceVersion& current);
  // The server accepted the watch.
  void on_opened(Monotonic now);

  enum class EventType { kAdded, kModified, kDeleted, kBookmark, kError, kUnknown };
  [[nodiscard]] static EventType parse_type(std::string_view type);
  // How the object of an event is to be taken.
  enum class Meaning { kInitApply, kApply, kDelete, kInitDone, kPosition, kNone };
  // An event with an object of that version (kError goes to on_failure). kInitDone: a bookmark that
  // ends the initial events. A version older than the position turns the state to kEmpty and gives
  // kNone: the caller drops the stream.
  [[nodiscard]] Meaning on_event(EventType type, const ResourceVersion& version,
                                 bool ends_initial_events);

  // The stream ended as it should. Gives how long to wait before the next request.
  [[nodiscard]] Duration on_end(Monotonic now);
  // The request failed, the stream broke or carried an ERROR event. Gives how long to wait, before
  // jitter; never less than the error's retry_after.
  [[nodiscard]] Duration on_failure(const Error& error, Monotonic now);

 private:
  void start_over();
  [[nodiscard]] Duration back_off();

  Options options_;
  State state_ = State::kEmpty;
  ResourceVersion position_;
  std::string continue_token_;
  bool streaming_refused_ = false;
  int streaming_failures_ = 0;
  bool whole_list_ = false;
  std::optional<Monotonic> opened_at_;
  int failures_ = 0;
};

// True if both are decimal numbers and a < b. Kubernetes documents that versions of one resource
// can be compared so from 1.34 on; where they are no numbers the answer is false, and the caller's
// fallback has to do.
[[nodiscard]] bool certainly_older(const ResourceVersion& a, const ResourceVersion& b);

}  // namespace quorate::kube
