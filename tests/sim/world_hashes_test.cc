#include <gtest/gtest.h>

#include "json/document.h"
#include "tests/sim/world.h"

// Members of one cluster whose data differ, without anybody having told etcd.
namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

std::string phase_of(World& world) {
  const auto cluster = world.cluster("c");
  return cluster ? std::string(json::text_or(*cluster, "/status/phase", "")) : "";
}

json::Object with_replicas(int replicas) { return {{"replicas", replicas}}; }

class Divergence : public testing::Test {
 protected:
  Divergence() : world_(WorldOptions()) {
    world_.start();
    EXPECT_TRUE(world_.declare("c", with_replicas(3)).has_value());
    EXPECT_TRUE(world_.run_until([&] { return world_.converged("c"); }, 5min));
    for (auto& client : world_.clients()) client->talk_to("c");
    world_.run_for(1min);
  }
  // One bit of one member's database flips.
  void flip(const std::string& pod) {
    const auto disk = world_.disk_of({World::kNamespace, pod});
    ASSERT_TRUE(disk && disk->data.formed);
    ASSERT_TRUE(disk->data.formed->state.kv.tamper());
  }
  bool is_frozen() { return phase_of(world_).find("differs at revision") != std::string::npos; }

  World world_;
};

TEST_F(Divergence, IsFoundWithinTheHourAndFreezesTheCluster) {
  flip("c-1");
  EXPECT_TRUE(world_.run_until([&] { return is_frozen(); }, 75min)) << phase_of(world_);
  // Nothing is removed, added or restarted any more.
  ASSERT_TRUE(world_.declare("c", with_replicas(5)).has_value());
  world_.run_for(5min);
  EXPECT_EQ(world_.pods_of("c").size(), 3U);
  EXPECT_TRUE(is_frozen());
}

TEST_F(Divergence, IsNotSeenWhereThereIsNone) {
  world_.run_for(3h);
  EXPECT_FALSE(is_frozen()) << phase_of(world_);
}

}  // namespace
}  // namespace quorate::sim
