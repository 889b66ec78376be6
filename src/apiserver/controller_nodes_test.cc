#include "apiserver/controllers_test.h"

namespace quorate::apiserver {
namespace {

class NodeTest : public ControllersTest {
 protected:
  std::string ready(const std::string& name) {
    const auto node = get(*kinds().nodes, "", name);
    const auto list = json::array_at(node, "/status/conditions");
    for (const auto& one : list ? **list : json::Array{})
      if (json::text_or(one, "/type", "") == "Ready")
        return std::string(json::text_or(one, "/status", ""));
    return "";
  }
  bool tainted(const std::string& name, std::string_view key) {
    const auto node = get(*kinds().nodes, "", name);
    const auto list = json::array_at(node, "/spec/taints");
    const auto& taints = list ? **list : json::Array{};
    return std::any_of(taints.begin(), taints.end(), [&](const json::Value& taint) {
      return json::text_or(taint, "/key", "") == key;
    });
  }
};

TEST_F(NodeTest, LosesItsFirstTaintOnceItIsReady) {
  create(*kinds().nodes, "", map("n1"));
  settle();
  EXPECT_TRUE(tainted("n1", "node.kubernetes.io/not-ready"));
  beat("n1");
  settle();
  EXPECT_FALSE(tainted("n1", "node.kubernetes.io/not-ready"));
}

TEST_F(NodeTest, IsUnknownWithoutALeaseAndItsPodsAreEvictedInTime) {
  add_node("n1");
  create(pods(), "default", pod("p"));
  settle();
  make_ready("p", "10.0.0.1");
  for (int i = 0; i < 6; ++i) {
    pass(20s);
    renew("n1");
  }
  EXPECT_EQ(ready("n1"), "True");
  pass(60s);
  EXPECT_EQ(ready("n1"), "Unknown");
  EXPECT_TRUE(tainted("n1", "node.kubernetes.io/unreachable"));
  EXPECT_FALSE(is_deleting(get(pods(), "default", "p")));
  pass(300s);
  // Nobody is there to end it.
  ASSERT_TRUE(there(pods(), "default", "p"));
  EXPECT_TRUE(is_deleting(get(pods(), "default", "p")));
  pass(3600s);
  EXPECT_TRUE(there(pods(), "default", "p"));
  merge(*kinds().nodes, "", "n1",
        {{"spec",
          {{"taints",
            json::Array{{{"key", "node.kubernetes.io/out-of-service"}, {"effect", "NoExecute"}},
                        {{"key", "node.kubernetes.io/unreachable"}, {"effect", "NoExecute"}}}}}}});
  settle();
  EXPECT_FALSE(there(pods(), "default", "p"));
}

TEST_F(NodeTest, ThatIsDeletedTakesItsPodsWithIt) {
  add_node("n1");
  create(pods(), "default", pod("p"));
  settle();
  ASSERT_EQ(node_of_pod("p"), "n1");
  remove(*kinds().nodes, "", "n1");
  settle();
  EXPECT_TRUE(there(pods(), "default", "p"));
  pass(60s);
  EXPECT_FALSE(there(pods(), "default", "p"));
}

TEST_F(NodeTest, ComesBackWithItsPods) {
  add_node("n1");
  create(pods(), "default", pod("p"));
  pass(100s);
  EXPECT_EQ(ready("n1"), "Unknown");
  renew("n1");
  beat("n1");
  pass(30s);
  EXPECT_EQ(ready("n1"), "True");
  EXPECT_FALSE(tainted("n1", "node.kubernetes.io/unreachable"));
  EXPECT_FALSE(is_deleting(get(pods(), "default", "p")));
}

}  // namespace
}  // namespace quorate::apiserver
