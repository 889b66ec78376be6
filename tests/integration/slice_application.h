#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "etcd/client.h"
#include "tests/integration/slice_world.h"
#include "tests/support/member_process.h"

namespace quorate::slice {

using support::find_member_process;

// What an application shows to a cluster.
enum class Credentials {
  kCertificate,     // the one that the cluster's Secret `c-client-tls` offers to applications
  kAuthorityAlone,  // it knows whom to trust, and shows nothing of its own
  kNone,            // no TLS
};

// An application of a formed cluster: it speaks through the client Service.
class Application {
 public:
  // Throws FixtureError if Service or Secret are not there.
  Application(World& world, ClusterKey cluster,
              Credentials credentials = Credentials::kCertificate);
  ~Application();

  // Takes up what the Secret says now, as applications do whose mounted files have changed.
  void reload();

  // Each tries again for a while, as applications do; throws FixtureError if nothing helps.
  void put(const std::string& key, const std::string& value);
  // So many keys that begin with this, many at a time.
  void put_many(const std::string& prefix, int count);
  std::optional<std::string> get(const std::string& key);
  // Every key that begins with this, with its value, at one revision.
  std::map<std::string, std::string> get_all(const std::string& prefix);
  void remove_all(const std::string& prefix);
  // Many at a time; the answers stand in the order of the requests.
  std::vector<etcd::RangeAnswer> read(const std::vector<etcd::RangeRequest>& requests);
  etcd::MemberList members();
  // The error of an attempt to read without a certificate of our own; empty if it was allowed.
  std::string read_without_certificate();

  World& world() { return world_; }
  etcd::Api& api() { return *api_; }
  [[nodiscard]] const etcd::Target& target() const { return target_; }

 private:
  World& world_;
  ClusterKey cluster_;
  Credentials credentials_;
  etcd::Pool pool_;
  std::unique_ptr<etcd::Api> api_;
  etcd::Target target_;
};

}  // namespace quorate::slice
