#pragma once

// For the tests of this folder alone: a small API server in memory, in virtual time, that
// misbehaves on command. It keeps objects and their history per collection; it knows nothing of
// kinds.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "json/document.h"
#include "kube/api.h"
#include "rt/group.h"
#include "rt/signal.h"
#include "rt/virtual_loop.h"

namespace quorate::kube {

class FakeServer : public Api {
 public:
  // What happens to one request. The request reaches the server after `before` even if its sender
  // has gone meanwhile, as on a network.
  struct Fate {
    bool refused = false;  // no connection: kUnavailable
    Duration before{};
    Duration after{};
    bool answer_lost = false;                   // kUnknownOutcome
    std::optional<net::Response> instead = {};  // answered without being processed
  };
  using Oracle = std::function<Fate(const net::Request&)>;

  explicit FakeServer(rt::Runtime runtime);

  // --- Api
  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override;
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override;

  // --- command
  Oracle oracle;  // empty: all is well
  std::vector<net::Request> seen;
  bool streaming_lists = true;
  bool expiry_as_event = false;       // 410 comes inside of the stream instead of as its head
  std::size_t piece = 0;              // bytes of a stream given at once; 0: lines as they are
  void break_streams();               // all open ones: kUnavailable
  void end_streams();                 // all open ones end properly
  void silence_streams();             // all open ones say nothing more, nor end
  void bookmark();                    // to all open ones
  void compact();                     // versions before the current one are forgotten
  void rewind(std::int64_t version);  // the storage was restored: back to the state at that version
  void expire_continue_tokens() { ++token_epoch_; }
  [[nodiscard]] std::size_t open_streams() const { return streams_.size(); }

  // --- content; paths are of collections: "/api/v1/namespaces/n/configmaps", or without the
  // namespace part. Writes go through here, too.
  net::Response handle(const net::Request& request);
  void put(const std::string& collection, const std::string& ns, const std::string& name,
           json::Object content = {});
  bool erase(const std::string& collection, const std::string& ns, const std::string& name);
  // "n/name" -> resourceVersion
  [[nodiscard]] std::map<std::string, std::string> versions(const std::string& collection) const;
  [[nodiscard]] const json::Value* find(const std::string& collection, const std::string& ns,
                                        const std::string& name) const;
  [[nodiscard]] std::int64_t version() const { return version_; }

 private:
  struct Event {
    std::int64_t version;
    std::string collection;
    std::string type;
    json::Value object;
  };
  struct Target {
    std::string collection;  // with the namespace part taken out
    std::string ns;
    std::string name;
    std::map<std::string, std::string> query;
  };
  using Objects = std::map<std::pair<std::string, std::string>, json::Value>;
  struct Exchange;
  class Stream;

  static Target parse(const std::string& path);
  Task<void> serve(std::shared_ptr<Exchange> exchange, Fate fate);
  net::Response list(const Target& target);
  net::Response create(const Target& target, json::Value object);
  net::Response change(const Target& target, const net::Request& request);
  void store(const std::string& type, const std::string& collection, json::Value object);
  [[nodiscard]] Objects objects_at(const std::string& collection, std::int64_t version) const;

  rt::Runtime runtime_;
  rt::TaskGroup fibers_;
  rt::Signal changed_;
  std::map<std::string, Objects> objects_;
  std::vector<Event> history_;
  std::int64_t version_ = 100;
  std::int64_t compacted_ = 0;
  std::int64_t uids_ = 0;
  int token_epoch_ = 0;
  int incarnation_ = 0;
  std::set<Stream*> streams_;
};

struct FakeWorld {
  explicit FakeWorld(std::uint64_t seed = 1)
      : loop(seed), here(loop.actor("main")), server(loop.actor("server")) {}
  ~FakeWorld() { loop.tear_down(); }

  rt::VirtualLoop loop;
  rt::Runtime here;
  FakeServer server;
};

// Frames go before what they refer to: declare it after that.
struct CrashAtEnd {
  rt::VirtualLoop& loop;
  ~CrashAtEnd() { loop.tear_down(); }
};

// Calls `run` with one seed after the other until it fails; the failure names the seed. A few by
// default; QUORATE_RUNS and QUORATE_SEED make the search longer or repeat one.
void for_seeds(std::uint64_t runs, const std::function<void(std::uint64_t seed)>& run);

net::Response status_answer(int code, std::string reason, std::string message);

}  // namespace quorate::kube
