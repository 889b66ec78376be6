#include "apiserver/controllers_test.h"

namespace quorate::apiserver {
namespace {

using BudgetTest = ControllersTest;

TEST_F(BudgetTest, CountsWhoMayGo) {
  create(*kinds().disruption_budgets, "default",
         {{"metadata", {{"name", "b"}}},
          {"spec", {{"minAvailable", 2}, {"selector", {{"matchLabels", {{"app", "etcd"}}}}}}}});
  add_node("n1");
  for (const char* name : {"a", "b", "c"}) create(pods(), "default", pod(name, {{"app", "etcd"}}));
  settle();
  const auto number = [&](const char* name) {
    return json::integer_at(get(*kinds().disruption_budgets, "default", "b"),
                            std::string("/status/") + name)
        .value_or(-1);
  };
  EXPECT_EQ(number("expectedPods"), 3);
  EXPECT_EQ(number("disruptionsAllowed"), 0);
  for (const char* name : {"a", "b", "c"}) make_ready(name, "10.0.0.1");
  settle();
  EXPECT_EQ(number("currentHealthy"), 3);
  EXPECT_EQ(number("desiredHealthy"), 2);
  EXPECT_EQ(number("disruptionsAllowed"), 1);
  EXPECT_EQ(number("observedGeneration"), 1);
  ASSERT_TRUE(verbs_.evict({"default", "a"}, {}));
  const auto second = verbs_.evict({"default", "b"}, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, 429);
  settle();
  EXPECT_EQ(number("currentHealthy"), 2);
  EXPECT_EQ(number("disruptionsAllowed"), 0);
}

}  // namespace
}  // namespace quorate::apiserver
