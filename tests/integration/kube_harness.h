#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/http_api.h"
#include "kube/store.h"
#include "kube/watcher.h"
#include "rt/group.h"
#include "rt/loop.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/fixture_error.h"
#include "tests/support/kube_fixture.h"

// What the tests of src/kube on a real kube-apiserver share.
namespace quorate::kube {

using namespace std::chrono_literals;
using support::FaultProxy;
using support::KubeCluster;
using support::KubeUser;

// One control plane (API server, controller manager) for all tests of the program. Each test has a
// namespace of its own; a test that stops the server starts it again.
KubeCluster& shared_kube();

// A custom resource with status and scale, for what built-in kinds cannot show.
inline constexpr Resource kWidgets{"test.quorate.io", "v1", "widgets", "Widget", true};
void install_widgets(KubeCluster& kube);

// The value, or the end of the test with the error's text.
template <class T>
T must(Result<T> result, std::source_location where = std::source_location::current()) {
  if (!result)
    throw support::FixtureError(fmt::format("line {}: {} ({})", where.line(), result.error().text(),
                                            name(result.error().code())));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// The failure, after a check that there is one and of its code.
template <class T>
Error refused(const Result<T>& result, Code code) {
  if (result) {
    ADD_FAILURE() << "it should have been refused";
    return Error(Code::kInternal, "was not refused");
  }
  EXPECT_EQ(name(result.error().code()), name(code)) << result.error().text();
  return result.error();
}

template <class T>
void expect_refused(const Result<T>& result, Code code) {
  (void)refused(result, code);
}

// A connection to the API server as somebody, with a client on it.
class Connection {
 public:
  Connection(rt::Loop& loop, const std::filesystem::path& kubeconfig, HttpApiOptions http = {},
             ClientOptions options = {});
  ~Connection();

  HttpApi& api() { return *api_; }
  Client& client() { return *client_; }

 private:
  rt::Loop& loop_;
  std::unique_ptr<HttpApi> api_;
  std::unique_ptr<Client> client_;
};

class KubeTest : public ::testing::Test {
 protected:
  explicit KubeTest(ClientOptions options = {});

  template <class T>
  T run(Task<T> task) {
    return loop_.run(std::move(task));
  }
  void run(Task<void> task) { loop_.run(std::move(task)); }
  rt::Deadline soon() { return here_.in(30s); }
  ObjectKey key(const std::string& name) const { return {ns_, name}; }
  Client& client() { return admin_->client(); }

  // Asks, outside of the loop, until `holds`: for what only the server knows. Ends the test if it
  // does not hold in time.
  void ask_until(std::string_view what, const std::function<bool()>& holds,
                 std::source_location where = std::source_location::current());
  // Runs the loop, and with it everything in the background, until `holds`, which must not itself
  // run anything.
  void await(std::string_view what, const std::function<bool()>& holds, Duration within = 30s,
             std::source_location where = std::source_location::current());

  // --- objects of this test's namespace
  json::Value config_map(const std::string& name, const std::string& value = "v");
  Result<Object> create(Resource resource, json::Value object);
  Result<Object> get(Resource resource, const std::string& name);
  Result<Object> merge(Resource resource, const std::string& name, json::Value patch);
  // A Pod that a test may declare running: it is bound to a node that has no kubelet.
  json::Value pod(const std::string& name, json::Object labels = {});
  // Says that these Pods are ready, and that node, which must be there.
  void declare_running(std::initializer_list<const char*> pods);
  void wait_for_service_account();

  KubeCluster& kube_;
  rt::Loop loop_;
  rt::Runtime here_;
  std::vector<std::string> log_lines_;
  std::unique_ptr<Connection> admin_;
  std::string ns_;
};

// A document from text, for readability.
json::Value parse(std::string_view text);

}  // namespace quorate::kube
