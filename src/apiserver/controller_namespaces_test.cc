#include "apiserver/controllers_test.h"

namespace quorate::apiserver {
namespace {

using NamespaceTest = ControllersTest;

TEST_F(NamespaceTest, HasAServiceAccountFromTheStart) {
  EXPECT_TRUE(there(*kinds().service_accounts, "default", "default"));
}

TEST_F(NamespaceTest, GoesOnceItIsEmpty) {
  create(ns(), "", map("team"));
  auto kept = map("kept");
  (void)json::put(kept, "/metadata/finalizers", json::Array{"example.com/keep"});
  create(*kinds().config_maps, "team", kept);
  create(*kinds().config_maps, "team", map("plain"));
  settle();
  remove(ns(), "", "team");
  settle();
  EXPECT_EQ(names(*kinds().config_maps, "team"), std::vector<std::string>{"kept"});
  ASSERT_TRUE(there(ns(), "", "team"));
  EXPECT_EQ(json::text_or(get(ns(), "", "team"), "/status/phase", ""), "Terminating");
  merge(*kinds().config_maps, "team", "kept", {{"metadata", {{"finalizers", nullptr}}}});
  settle();
  EXPECT_FALSE(there(ns(), "", "team"));
}

}  // namespace
}  // namespace quorate::apiserver
