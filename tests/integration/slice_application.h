#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "etcd/client.h"
#include "tests/integration/slice_world.h"

namespace quorate::slice {

// An application of a formed cluster: it speaks through the client Service, with the certificate
// that the cluster's Secret `c-client-tls` offers to applications.
class Application {
 public:
  // Throws FixtureError if Service or Secret are not there.
  Application(World& world, ClusterKey cluster);
  ~Application();

  // Each tries again for a while, as applications do; throws FixtureError if nothing helps.
  void put(const std::string& key, const std::string& value);
  // So many keys that begin with this, many at a time.
  void put_many(const std::string& prefix, int count);
  std::optional<std::string> get(const std::string& key);
  // Every key that begins with this, with its value, at one revision.
  std::map<std::string, std::string> get_all(const std::string& prefix);
  etcd::MemberList members();
  // The error of an attempt to read without a certificate of our own; empty if it was allowed.
  std::string read_without_certificate();

 private:
  World& world_;
  etcd::Pool pool_;
  std::unique_ptr<etcd::Api> api_;
  etcd::Target target_;
};

// Clients as they come and go: they write one key after the other, whatever happens, and remember
// what was acknowledged.
class Writer {
 public:
  explicit Writer(Application& application, std::string prefix)
      : application_(application), prefix_(std::move(prefix)) {}

  void write(int count);
  // Acknowledged writes that cannot be read, or read otherwise.
  std::vector<std::string> find_lost();

 private:
  Application& application_;
  std::string prefix_;
  std::map<std::string, std::string> acknowledged_;
};

// The etcd process of a member; nothing if none runs. By the environment that the operator gave it,
// so that no process of anybody else is met.
std::optional<pid_t> find_member_process(const std::string& cluster_uid, const std::string& member);

}  // namespace quorate::slice
