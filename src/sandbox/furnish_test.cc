#include "sandbox/furnish.h"

#include <gtest/gtest.h>

#include "apiserver/storage.h"
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
  EXPECT_EQ(count_nodes(api_), 0);
}

}  // namespace
}  // namespace quorate::sandbox
