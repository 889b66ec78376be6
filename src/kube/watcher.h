#pragma once

#include <optional>
#include <string>

#include "base/log.h"
#include "kube/client.h"
#include "kube/watch_machine.h"

namespace quorate::kube {

// Hears what a watcher sees. The vocabulary lets a cache be swapped as a whole: Init, any number of
// InitApply, InitDone; then Apply and Delete one by one; Init again after a gap that could not be
// bridged. An Init that is followed by another Init came to nothing: what was applied in between is
// void. Between Init and InitDone an object may come again (the later one counts) or be deleted.
//
// Objects are texts that are valid during the call alone. The calls give the object's
// resourceVersion; an error means that the text is no object at all, and the list is begun anew.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  virtual void on_init() = 0;
  virtual Result<ResourceVersion> on_init_apply(json::PaddedView object) = 0;
  virtual void on_init_done(const ResourceVersion& position) = 0;
  virtual Result<ResourceVersion> on_apply(json::PaddedView object) = 0;
  virtual Result<ResourceVersion> on_delete(json::PaddedView object) = 0;
  // Nothing changed up to this version (a bookmark).
  virtual void on_position(const ResourceVersion& position) = 0;
};

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

  struct Health {
    bool synced = false;         // InitDone was told at least once
    std::optional<Error> error;  // the last failure, while it lasts
    std::optional<Monotonic> failing_since;
    std::uint64_t lists = 0;    // begun
    std::uint64_t watches = 0;  // accepted by the server
    std::uint64_t events = 0;
  };
  [[nodiscard]] const Health& health() const { return health_; }
  [[nodiscard]] WatchMachine::State state() const { return machine_.state(); }

 private:
  Task<Result<Duration>> carry_out(WatchMachine::Request request);
  Task<Result<void>> list(WatchMachine::ListPage page);
  Task<Result<void>> probe();
  Task<Result<void>> watch(WatchRequest request);
  Result<void> take_line(json::PaddedView line);
  void init_done(const ResourceVersion& position);
  void succeeded();
  void failed(const Error& error);

  rt::Runtime runtime_;
  Client& client_;
  Resource resource_;
  WatcherOptions options_;
  WatchSink& sink_;
  WatchMachine machine_;
  json::Projector projector_;
  Health health_;
};

}  // namespace quorate::kube
