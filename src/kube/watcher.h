#pragma once

#include <optional>
#include <string>

#include "base/log.h"
#include "kube/client.h"
#include "kube/watch_events.h"
#include "kube/watch_machine.h"
#include "kube/watch_sink.h"
#include "rt/group.h"

namespace quorate::kube {

struct WatcherOptions {
  ListOptions what;
  WatchMachine::Options machine;
  Duration request_timeout = std::chrono::seconds(30);  // of a page, and of a watch's head
  // The server ends a watch after a time between this and its double; a stream that is still
  // silent `grace` after that is dead.
  std::chrono::seconds watch_timeout = std::chrono::seconds(240);
  Duration grace = std::chrono::seconds(10);
  // Initial events that pause this long are given up for pages.
  Duration initial_silence = std::chrono::seconds(30);
  Log log;
};

// Keeps a sink up to date with one resource: list, then watch, resumed after every loss, listed
// anew when the server has forgotten the place. Carries out what WatchMachine decides.
//
// Failures never end it: it backs off and says so in health(). Missing permissions and kinds that
// are not served (yet) are such failures, too.
class Watcher {
 public:
  Watcher(rt::Runtime runtime, Client& client, Resource resource, WatcherOptions options,
          WatchSink& sink);

  // Until cancelled.
  Task<void> run();
  // Something has happened since then that this watch should have told. If it has told nothing at
  // all, it is taken for dead, and opened anew: the time after which silence alone says so is long.
  void doubt(Monotonic since);

  struct Health {
    bool synced = false;         // InitDone was told at least once
    std::optional<Error> error;  // the last failure, while it lasts
    std::optional<Monotonic> failing_since;
    std::uint64_t lists = 0;    // begun
    std::uint64_t watches = 0;  // accepted by the server
  };
  [[nodiscard]] const Health& health() const { return health_; }
  [[nodiscard]] std::uint64_t events() const { return events_.taken(); }
  [[nodiscard]] WatchMachine::State state() const { return machine_.state(); }

 private:
  Task<Result<Duration>> carry_out(WatchMachine::Request request);
  Task<Result<void>> list(WatchMachine::ListPage page);
  Task<Result<void>> probe();
  Task<Result<void>> watch(WatchRequest request);
  Task<void> follow(net::ResponseStream& stream, rt::Deadline end, Result<void>& ended);
  Task<Result<void>> read_events(net::ResponseStream& stream, rt::Deadline end);
  void succeeded();
  void failed(const Error& error);

  rt::Runtime runtime_;
  Client& client_;
  Resource resource_;
  WatcherOptions options_;
  WatchSink& sink_;
  WatchMachine machine_;
  WatchEvents events_;
  Health health_;
  rt::TaskGroup* following_ = nullptr;  // the fiber that reads, while a watch is open
  Monotonic heard_at_{};
};

}  // namespace quorate::kube
