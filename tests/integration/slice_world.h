#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <string>

#include "kube/client.h"
#include "kube/http_api.h"
#include "rt/loop.h"
#include "tests/integration/slice_operator.h"
#include "tests/support/fixture_error.h"
#include "tests/support/kube_fixture.h"
#include "tests/support/wait.h"

// What the tests of the operator on a real API server share.
namespace quorate::slice {

using namespace std::chrono_literals;
using support::Look;

// Where the operator runs and keeps its leases.
inline constexpr const char* kOperatorNamespace = "quorate-system";

// Every object of a namespace that clusters are made of, as the server has it: "Pod c-0".
using Snapshot = std::map<std::string, json::Value>;

// An EtcdCluster; `spec` is JSON.
json::Value make_cluster(const std::string& name, const std::string& spec = "{}");

// Why the kernel refuses a fabric on this machine; empty if it does not, and then the whole program
// runs inside one.
const std::string& fabric_refusal();

// A control plane that tests share, with our CRDs and the operator's rights in place. Each test has
// a namespace of its own in it. One thread; its loop runs while somebody waits in run(), and with
// it every operator that was started.
class World {
 public:
  // Both are started when first asked for, and ended after the last test.
  static World& without_nodes();  // Pods stay pending
  static World& with_nodes();     // three of ours; needs a fabric

  explicit World(bool nodes);
  ~World();

  support::KubeCluster& kube() { return kube_; }
  rt::Runtime runtime() { return loop_.runtime(); }
  kube::Client& admin() { return *admin_; }
  // The operator's own ServiceAccount, with the rights of op::make_rbac.
  [[nodiscard]] const kube::ClusterConfig& operator_config() const { return operator_config_; }
  [[nodiscard]] kube::ClusterConfig account_config(const std::string& ns, const std::string& name);
  void apply(const std::vector<json::Value>& manifests);

  // The value, or the end of the test with the error's text.
  template <class T>
  T run(Task<Result<T>> work, std::source_location where = std::source_location::current()) {
    Result<T> result = loop_.run(std::move(work));
    if (!result)
      throw support::FixtureError(fmt::format("line {}: {}", where.line(), result.error().text()));
    if constexpr (!std::is_void_v<T>) return std::move(*result);
  }
  void run(Task<void> work) { loop_.run(std::move(work)); }

  // An operator that watches this namespace alone, under a lease of its own.
  OperatorSetup setup(const std::string& ns, kube::LeaseTimings timings);

  // A new namespace in which Pods can be made at once.
  Task<Result<std::string>> make_namespace(std::string hint);
  Task<Result<json::Value>> create(kube::Resource resource, std::string ns, json::Value object);
  Task<Result<json::Value>> get(kube::Resource resource, ObjectKey key);
  // A merge patch; `patch` is JSON.
  Task<Result<json::Value>> patch(kube::Resource resource, ObjectKey key, std::string patch,
                                  kube::Part part = kube::Part::kWhole);
  // Another status in place of the one that it has.
  Task<Result<void>> put_status(kube::Resource resource, ObjectKey key, json::Value object);
  Task<Result<void>> remove(kube::Resource resource, ObjectKey key);
  Task<Result<Snapshot>> look(std::string ns);

  // Look again and again until it holds; kTimeout with what was seen last.
  using LookAtObject = std::function<Look(const json::Value& object)>;
  using LookAtAll = std::function<Look(const Snapshot& all)>;
  Task<Result<void>> until(kube::Resource resource, ObjectKey key, Duration within,
                           std::string what, LookAtObject holds);
  Task<Result<void>> until_all(std::string ns, Duration within, std::string what, LookAtAll holds);
  // For what can be seen without asking.
  Task<Result<void>> until_seen(Duration within, std::string what, std::function<Look()> holds);

 private:
  void start_nodes();
  Log make_log(const std::string& name);
  rt::Deadline soon() { return loop_.runtime().in(30s); }

  support::KubeCluster kube_;
  support::ServerProcess nodes_;
  rt::Loop loop_;
  std::unique_ptr<kube::HttpApi> api_;
  std::unique_ptr<kube::Client> admin_;
  kube::ClusterConfig operator_config_;
  int namespaces_ = 0;
};

// Nothing is left to do but to wait until members answer: all objects are there.
Look is_settled(const json::Value& cluster);
// Every member is ready, as declared, and nothing is left to do.
Look is_ready(const json::Value& cluster);
// Until the cluster is ready with exactly these members, and of others neither Pod nor record nor,
// unless volumes are kept, claim is left.
void wait_until_members_in(World& world, ClusterKey cluster, std::vector<std::string> members,
                           bool volumes_kept = false);
// Where the node keeps what a member has written; throws FixtureError if there is nothing.
std::filesystem::path data_folder(World& world, const std::string& ns, const std::string& member);
// `status.waiting` has an entry of this reason, and the texts stand in its message.
Look waits_for(const json::Value& cluster, const std::string& reason,
               const std::vector<std::string>& texts = {});

// A test with a namespace of its own. Operators that it started are killed when it ends, however it
// does.
class SliceTest : public ::testing::Test {
 protected:
  void SetUp() override { set_up_in(World::without_nodes()); }
  void TearDown() override;
  void set_up_in(World& world);

  // Patient, because a busy machine must not look like a lost lease.
  static constexpr kube::LeaseTimings kPatient{10s, 8s, 1s};

  OperatorProcess& start_operator(Ledger& ledger);
  OperatorProcess& start_operator(Ledger& ledger, OperatorSetup setup);
  void declare(const std::string& name, const std::string& spec = "{}");
  void wait_until_settled(const std::string& name, Duration within = 60s);
  void wait_until_ready(const std::string& name, Duration within = 120s);
  // Until the operator has looked at clusters this many times more.
  void wait_for_looks(OperatorProcess& process, int times);
  ClusterKey key(const std::string& name) const { return ClusterKey{{ns_, name}}; }
  json::Value get(kube::Resource resource, const std::string& name);
  std::string uid_of(kube::Resource resource, const std::string& name);

  // A merge patch of cluster "c".
  void edit(const std::string& patch);

  World& world() { return *world_; }
  std::string ns_;

 private:
  World* world_ = nullptr;
  std::vector<std::unique_ptr<OperatorProcess>> processes_;
};

// As SliceTest, with nodes on which members run. Its operator asks them every second.
class SliceOnNodes : public SliceTest {
 protected:
  void SetUp() override;
  virtual void begin();
  OperatorSetup brisk_setup();

  Ledger ledger_;
  OperatorProcess* process_ = nullptr;
};

}  // namespace quorate::slice
