#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/document.h"
#include "rt/clock.h"

namespace quorate::apiserver {

// A Kubernetes API in memory: a request goes in, an answer or a stream comes out. It holds what
// Quorate uses; each verb and field that it has behaves like the real server's, which a conformance
// suite compares answer by answer (docs/apiserver.md lists what differs, and why).
//
// Pure: no sockets, no threads. Time comes from the runtime's clock, UIDs and generated names from
// its chance. A request is served within the call: nothing here waits, but for what a stream has
// yet to say.

struct Request {
  std::string method = "GET";
  std::string path;                          // without its query, unescaped by segment
  std::map<std::string, std::string> query;  // unescaped
  std::string content_type;                  // of the body: decides the kind of a patch
  std::string accept;
  std::string user;  // who asks, for managed fields' default manager
  std::string user_agent;
  std::string body;
};

// One running watch. Pieces are the lines of the wire: `{"type":...,"object":{...}}\n`.
class Watch {
 public:
  virtual ~Watch() = default;
  // The next line; nothing once the watch has ended (its timeout, or an ERROR line before: 410).
  // kTimeout at the deadline: the watch goes on.
  virtual Task<Result<std::optional<std::string>>> read(rt::Deadline deadline) = 0;
};

struct Answer {
  int status = 200;
  // Names in lower case: content-type, warning (one for each), retry-after.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;  // empty if there is a stream
  std::unique_ptr<Watch> watch;
};

struct Options {
  std::size_t history = 10000;                            // events that a watch can resume over
  Duration bookmark_interval = std::chrono::seconds(60);  // for watches that asked
  Duration default_watch_timeout = std::chrono::minutes(30);
  std::string cluster_domain = "cluster.local";
  std::string service_cidr = "198.19.0.0/16";
};

class Storage;   // storage.h: objects as bytes, resourceVersions, history
class Registry;  // registry.h: which kinds there are, and the rules of each
class Verbs;     // verbs.h: create, update, patch, delete, ... on documents

class Server {
 public:
  Server(rt::Runtime runtime, Options options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Serves the kinds of a CustomResourceDefinition, from its YAML or JSON. kInvalid if it is none.
  Result<void> install_crd(std::string_view text);

  Answer serve(const Request& request);

  // For the built-in controllers and for what plays kubelets and users in process: the same rules
  // as over the wire, without text in between. Reads and listeners are the storage's, writes go
  // through the verbs.
  Verbs& verbs();
  Storage& storage();
  const Registry& registry() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quorate::apiserver
