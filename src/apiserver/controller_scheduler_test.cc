#include "apiserver/controllers_test.h"

namespace quorate::apiserver {
namespace {

class SchedulerTest : public ControllersTest {
 protected:
  static json::Value member(const std::string& name) {
    auto made = pod(name, {{"app", "etcd"}});
    (void)json::put(
        made, "/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution",
        json::Array{{{"weight", 100},
                     {"podAffinityTerm",
                      {{"topologyKey", "kubernetes.io/hostname"},
                       {"labelSelector", {{"matchLabels", {{"app", "etcd"}}}}}}}}});
    return made;
  }
};

TEST_F(SchedulerTest, PutsMembersOnDifferentNodesWhileItCan) {
  for (const char* name : {"n1", "n2", "n3"}) add_node(name);
  settle();
  std::set<std::string> nodes;
  for (const char* name : {"a", "b", "c"}) {
    create(pods(), "default", member(name));
    settle();
    nodes.insert(node_of_pod(name));
  }
  EXPECT_EQ(nodes, (std::set<std::string>{"n1", "n2", "n3"}));
  create(pods(), "default", member("d"));
  settle();
  EXPECT_FALSE(node_of_pod("d").empty());
}

TEST_F(SchedulerTest, SaysWhyAPodHasNoNodeAndTriesAgain) {
  create(pods(), "default", pod("a"));
  settle();
  auto waiting = get(pods(), "default", "a");
  EXPECT_EQ(json::text_or(waiting, "/status/conditions/0/reason", ""), "Unschedulable");
  EXPECT_EQ(json::text_or(waiting, "/status/conditions/0/message", ""),
            "0/0 nodes are available: no nodes available to schedule pods.");
  EXPECT_EQ(names(*kinds().events, "default").size(), 1U);
  add_node("n1", "500m");
  settle();
  waiting = get(pods(), "default", "a");
  EXPECT_EQ(json::text_or(waiting, "/status/conditions/0/message", ""),
            "0/1 nodes are available: 1 Insufficient cpu.");
  beat("n1", "1");
  settle();
  EXPECT_EQ(node_of_pod("a"), "n1");
}

TEST_F(SchedulerTest, KeepsOutOfNodesThatAreTaintedCordonedOrFull) {
  for (const char* name : {"n1", "n2", "n3"}) add_node(name, "1");
  settle();
  merge(*kinds().nodes, "", "n1", {{"spec", {{"unschedulable", true}}}});
  merge(*kinds().nodes, "", "n2",
        {{"spec", {{"taints", json::Array{{{"key", "x"}, {"effect", "NoSchedule"}}}}}}});
  settle();
  create(pods(), "default", pod("a"));
  settle();
  EXPECT_EQ(node_of_pod("a"), "n3");
  create(pods(), "default", pod("b"));
  settle();
  EXPECT_EQ(node_of_pod("b"), "");
}

}  // namespace
}  // namespace quorate::apiserver
