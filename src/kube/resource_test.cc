#include "kube/resource.h"

#include <gtest/gtest.h>

namespace quorate::kube {
namespace {

TEST(Resource, HasThePathsOfTheApi) {
  EXPECT_EQ(kPods.path(ObjectKey{"n", "p"}), "/api/v1/namespaces/n/pods/p");
  EXPECT_EQ(kPods.path(ObjectKey{"n", "p"}, "status"), "/api/v1/namespaces/n/pods/p/status");
  EXPECT_EQ(kPods.path(""), "/api/v1/pods");
  EXPECT_EQ(kLeases.path("n"), "/apis/coordination.k8s.io/v1/namespaces/n/leases");
  EXPECT_EQ(kNodes.path(ObjectKey{"ignored", "x"}), "/api/v1/nodes/x");
  EXPECT_EQ(kNamespaces.path(ObjectKey{"", "n"}), "/api/v1/namespaces/n");
}

TEST(Resource, EscapesWhatANameMustNotChangeInAPath) {
  EXPECT_EQ(kPods.path(ObjectKey{"n", "../x?y"}), "/api/v1/namespaces/n/pods/..%2Fx%3Fy");
}

TEST(Resource, NamesItsGroupAndVersionAsObjectsDo) {
  EXPECT_EQ(kPods.api_version(), "v1");
  EXPECT_EQ(kPodDisruptionBudgets.api_version(), "policy/v1");
  EXPECT_EQ(kPods.text(), "pods");
  EXPECT_EQ(kEtcdClusters.text(), "etcdclusters.quorate.io");
}

TEST(Resource, IsFoundByWhatAnObjectSaysOfItself) {
  ASSERT_TRUE(find_resource("events.k8s.io/v1", "Event"));
  EXPECT_EQ(*find_resource("events.k8s.io/v1", "Event"), kEvents);
  EXPECT_EQ(find_resource("v1", "Pod")->plural, "pods");
  EXPECT_FALSE(find_resource("v2", "Pod"));
  EXPECT_FALSE(find_resource("v1", "Lease"));
}

TEST(Query, JoinsAndEscapes) {
  Query query;
  query.add("limit", "500").add_if(false, "x", "y").add("labelSelector", "a in (b,c)");
  EXPECT_EQ(query.text(), "?limit=500&labelSelector=a%20in%20%28b%2Cc%29");
  EXPECT_EQ(Query().text(), "");
}

}  // namespace
}  // namespace quorate::kube
