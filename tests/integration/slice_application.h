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
  [[nodiscard]] Monotonic now() const { return world_.runtime().clock->now(); }
  // The error of an attempt to read without a certificate of our own; empty if it was allowed.
  std::string read_without_certificate();

 private:
  World& world_;
  etcd::Pool pool_;
  std::unique_ptr<etcd::Api> api_;
  etcd::Target target_;
};

// Clients as they come and go: they write one key after the other, whatever happens, and remember
// what was acknowledged. At the end a line tells the longest gap: how long the slowest write took.
class Writer {
 public:
  explicit Writer(Application& application, std::string prefix)
      : application_(application), prefix_(std::move(prefix)) {}
  ~Writer();

  void write(int count);
  // Acknowledged writes that cannot be read, or read otherwise.
  std::vector<std::string> find_lost();

 private:
  Application& application_;
  std::string prefix_;
  std::map<std::string, std::string> acknowledged_;
  Duration slowest_{};
};

}  // namespace quorate::slice
