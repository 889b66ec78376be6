#include "apiserver/controllers_test.h"

namespace quorate::apiserver {
namespace {

class EndpointTest : public ControllersTest {
 protected:
  void add_service(bool publishes) {
    create(*kinds().services, "default",
           {{"metadata", {{"name", "s"}}},
            {"spec",
             {{"clusterIP", "None"},
              {"publishNotReadyAddresses", publishes},
              {"selector", {{"app", "etcd"}}},
              {"ports",
               json::Array{{{"name", "client"}, {"port", 2379}, {"targetPort", "client"}}}}}}});
  }
  json::Value slice() {
    const auto all = names(*kinds().endpoint_slices, "default");
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? json::Value(json::Object{})
                       : get(*kinds().endpoint_slices, "default", all.front());
  }
  bool flag(const char* name) {
    return json::flag_at(slice(), std::string("/endpoints/0/conditions/") + name).value_or(false);
  }
};

TEST_F(EndpointTest, FollowsThePodsOfAService) {
  add_service(false);
  settle();
  const auto empty = slice();
  EXPECT_TRUE(json::find(empty, "/endpoints")->is_null());
  EXPECT_TRUE(name_of(empty).starts_with("s-"));
  add_node("n1");
  create(pods(), "default", pod("p", {{"app", "etcd"}}));
  create(pods(), "default", pod("other", {{"app", "web"}}));
  settle();
  make_ready("p", "10.0.0.1");
  make_ready("other", "10.0.0.2");
  settle();
  EXPECT_EQ(json::text_or(slice(), "/endpoints/0/addresses/0", ""), "10.0.0.1");
  EXPECT_EQ(json::integer_at(slice(), "/ports/0/port").value_or(0), 2379);
  EXPECT_TRUE(flag("ready"));
  EXPECT_EQ(json::array_at(slice(), "/endpoints").value()->size(), 1U);

  remove(pods(), "default", "p");
  settle();
  EXPECT_FALSE(flag("ready"));
  EXPECT_TRUE(flag("serving"));
  EXPECT_TRUE(flag("terminating"));
}

TEST_F(EndpointTest, PublishesThoseThatAreNotReadyWhenAsked) {
  add_service(true);
  add_node("n1");
  create(pods(), "default", pod("p", {{"app", "etcd"}}));
  settle();
  set_status(pods(), "default", "p", {{"phase", "Running"}, {"podIP", "10.0.0.1"}});
  settle();
  EXPECT_TRUE(flag("ready"));
  EXPECT_FALSE(flag("serving"));
}

}  // namespace
}  // namespace quorate::apiserver
