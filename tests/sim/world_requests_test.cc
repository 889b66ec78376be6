#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/strings.h"
#include "operator/counted_api.h"
#include "tests/sim/world.h"

// What a cluster costs the Kubernetes API.
namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

// As in docs/budgets.md, where it is measured on the program as a whole.
constexpr int kBudget = 40;
// A member that starts after a quorum has formed is written down twice: its record, claim and Pod
// learn of the cluster first, and of the member later.
constexpr int kLateMember = 3;

// "POST pods": how often. Watches, which read whole resources, and leases aside.
std::map<std::string, int> count_requests(const Audit& audit, std::size_t from) {
  std::map<std::string, int> out;
  for (std::size_t i = from; i < audit.entries.size(); ++i) {
    const auto& entry = audit.entries[i];
    const bool watches =
        entry.method == "GET" && entry.path.find("/namespaces/") == std::string::npos;
    if (watches || entry.path.find("/leases") != std::string::npos) continue;
    ++out[entry.method + " " + op::resource_in(entry.path)];
  }
  return out;
}

int sum(const std::map<std::string, int>& requests) {
  int all = 0;
  for (const auto& [what, count] : requests) all += count;
  return all;
}

TEST(Requests, BringAClusterUpWithinTheBudgetAndThenCease) {
  WorldOptions options;
  options.clients = 0;
  World world(options);
  world.start();
  world.run_for(1min);  // somebody leads
  const auto before = world.audit().entries.size();
  ASSERT_TRUE(world.declare("c", json::Object()).has_value());
  ASSERT_TRUE(world.run_until([&] { return world.converged("c"); }, 5min));
  world.run_for(30s);
  const auto settled = world.audit().entries.size();
  auto requests = count_requests(world.audit(), before);
  EXPECT_LE(sum(requests), kBudget + kLateMember) << testing::PrintToString(requests);
  EXPECT_EQ(requests["PUT etcdclusters/status"], 2) << "the claim, and the end";
  EXPECT_EQ(requests["GET secrets"], 0) << "what was just made is known";
  world.run_for(20min);
  const auto idle = count_requests(world.audit(), settled);
  EXPECT_EQ(sum(idle), 0) << testing::PrintToString(idle);
}

// What one step of a pass has written, the next one of it knows.
TEST(Requests, AreNotRefusedWhileMembersComeAndGo) {
  WorldOptions options;
  options.clients = 0;
  World world(options);
  world.start();
  ASSERT_TRUE(world.declare("c", json::Object()).has_value());
  ASSERT_TRUE(world.run_until([&] { return world.converged("c"); }, 5min));
  const auto before = world.audit().entries.size();
  for (int size : {5, 3}) {
    ASSERT_TRUE(world.declare("c", json::Object{{"replicas", size}}).has_value());
    ASSERT_TRUE(world.run_until([&] { return world.converged("c"); }, 5min));
  }
  for (std::size_t i = before; i < world.audit().entries.size(); ++i) {
    const auto& entry = world.audit().entries[i];
    EXPECT_LT(entry.status, 400) << entry.method << " " << entry.path << " " << entry.body;
  }
}

// It hears of every cluster, so that it can take over at once, and works on none.
TEST(StandBy, DoesNotRememberClustersThatAreGone) {
  WorldOptions options;
  options.clients = 0;
  World world(options);
  world.start();
  world.run_for(1min);
  const auto stands_by = std::find_if(world.replicas().begin(), world.replicas().end(),
                                      [](const auto& one) { return !one->leading(); });
  ASSERT_NE(stands_by, world.replicas().end());
  const auto waits = [&] {
    const auto page = (*stands_by)->metrics();
    const std::string line = "quorate_queue{state=\"ready\"} ";
    const auto at = page.find(line);
    return at == std::string::npos ? -1 : std::atoi(page.c_str() + at + line.size());
  };
  ASSERT_TRUE(world.declare("stays", json::Object()).has_value());
  ASSERT_TRUE(world.declare("goes", json::Object()).has_value());
  ASSERT_TRUE(world.run_until([&] { return world.converged("goes"); }, 5min));
  EXPECT_EQ(waits(), 2);
  ASSERT_TRUE(world.remove("goes").has_value());
  ASSERT_TRUE(world.run_until([&] { return world.declared().size() == 1; }, 5min));
  world.run_for(10s);
  EXPECT_EQ(waits(), 1);
}

}  // namespace
}  // namespace quorate::sim
