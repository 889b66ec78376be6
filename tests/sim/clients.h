#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "etcd/api.h"
#include "rt/group.h"
#include "tests/sim/etcd/api.h"

namespace quorate::sim {

// One operation of a client on one key, as the client saw it.
struct Operation {
  enum class Kind { kPut, kGet };
  enum class Outcome {
    kOk,
    kNever,    // certainly not carried out
    kUnknown,  // no answer: may be carried out, or be yet to come
  };
  Kind kind{};
  int client = 0;
  std::string cluster;
  int life = 1;  // of the cluster: one that is deleted and declared again is another
  std::string key;
  std::string value;  // written, or read; empty: there was none
  Monotonic called{};
  Monotonic returned = Monotonic::max();
  Outcome outcome = Outcome::kUnknown;
  std::int64_t revision = 0;  // of the answer's header
  std::uint64_t cluster_id = 0;
};

struct History {
  std::vector<Operation> operations;  // in the order of their calls
  std::vector<std::size_t> answered;  // in the order of their answers
  std::uint64_t acknowledged = 0;     // puts
  std::map<std::string, int> lives;   // of each cluster, how often it was declared anew
};

struct Endpoint {
  ObjectKey pod;
  std::string address;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// An application: writes and reads a few keys through whatever stands behind
// the client Service, and remembers what it was told.
class Client {
 public:
  using FindEndpoints = std::function<const std::vector<Endpoint>&(const std::string& cluster)>;
  // Who to be towards a cluster: nullptr for one without TLS.
  using FindIdentity =
      std::function<std::shared_ptr<const etcd::Identity>(const std::string& cluster)>;
  struct Options {
    Duration pause = std::chrono::milliseconds(700);  // between two operations, on average
    Duration patience = std::chrono::seconds(5);
    int keys = 3;
  };

  Client(rt::Runtime runtime, etcdsim::EtcdWorld& world, int number, FindEndpoints endpoints,
         FindIdentity identity, History& history, Options options);
  ~Client();

  // Talks to the cluster until told otherwise.
  void talk_to(std::string cluster);
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
  [[nodiscard]] std::optional<Monotonic> last_success() const { return last_success_; }

 private:
  Task<void> run(std::string cluster);
  Task<void> operate(std::string cluster);
  void settle(std::size_t which, const Error* error, const etcd::Header& header, std::string value);

  rt::Runtime runtime_;
  etcdsim::SimEtcd api_;
  int number_;
  FindEndpoints endpoints_;
  FindIdentity identity_;
  History& history_;
  Options options_;
  std::uint64_t count_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::optional<Monotonic> last_success_;
  rt::TaskGroup group_;
};

}  // namespace quorate::sim
