#include "sandbox/furnish.h"

#include <gtest/gtest.h>

#include "apiserver/storage.h"
#include "apiserver/verbs.h"
#include "json/document.h"
#include "rt/virtual_loop.h"

namespace quorate::sandbox {
namespace {

class FurnishTest : public ::testing::Test {
 protected:
  FurnishTest() {
    EXPECT_TRUE(install_kinds(api_));
    EXPECT_TRUE(furnish(api_));
  }
  json::Value lease() {
    const auto found = api_.storage().find(*api_.registry().built_in().leases,
                                           {kOperatorNamespace, kOperatorLease});
    return found ? found->value() : json::Value();
  }

  rt::VirtualLoop loop_{1};
  apiserver::Server api_{loop_.actor("api"), {}};
};

TEST_F(FurnishTest, FreesTheLeaseOfAnOperatorThatWasKilled) {
  apiserver::Request request;
  request.method = "POST";
  request.path = "/apis/coordination.k8s.io/v1/namespaces/quorate-system/leases";
  request.content_type = "application/json";
  request.body =
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"quorate-operator"},
          "spec":{"holderIdentity":"somebody","leaseDurationSeconds":15,"leaseTransitions":77}})";
  ASSERT_EQ(api_.serve(request).status, 201);
  ASSERT_TRUE(furnish(api_));
  EXPECT_EQ(json::text_or(lease(), "/spec/holderIdentity", "?"), "");
  EXPECT_EQ(json::text_or(lease(), "/metadata/annotations/quorate.io~1released-epoch", ""), "77");
  const auto version = api_.storage().version();
  ASSERT_TRUE(furnish(api_));
  EXPECT_EQ(api_.storage().version(), version) << "nothing is left to do";
}

TEST_F(FurnishTest, KnowsOurKinds) {
  apiserver::Request request;
  request.path = "/apis/quorate.io/v1alpha1/etcdclusters";
  EXPECT_EQ(api_.serve(request).status, 200);
}

TEST_F(FurnishTest, RunsAsManyNodesAsWasSaidLast) {
  const auto& kind = *api_.registry().built_in().nodes;
  const auto names = [&] {
    std::string out;
    for (const auto& [key, record] : api_.storage().objects(kind)) out += key.name + " ";
    return out;
  };
  EXPECT_EQ(settle_nodes(api_, std::nullopt).value(), 3) << "at first";
  for (const char* name : {"node-1", "node-2", "node-10", "mine"})
    ASSERT_TRUE(api_.verbs().create(kind, "", {{"metadata", {{"name", name}}}}));
  EXPECT_EQ(settle_nodes(api_, std::nullopt).value(), 10) << "also if one of them was deleted";
  EXPECT_EQ(settle_nodes(api_, 12).value(), 12);
  EXPECT_EQ(names(), "mine node-1 node-10 node-2 ");
  EXPECT_EQ(settle_nodes(api_, 2).value(), 2);
  EXPECT_EQ(names(), "mine node-1 node-2 ") << "somebody else's stays";
  EXPECT_EQ(settle_nodes(api_, std::nullopt).value(), 2);
}

}  // namespace
}  // namespace quorate::sandbox
