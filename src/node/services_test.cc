#include "node/services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quorate::node {
namespace {

using testing::ElementsAre;

template <class T>
T parse(const std::string& text) {
  json::Projector projector;
  auto out = json::project<T>(projector, text);
  EXPECT_TRUE(out) << out.error().text();
  return std::move(*out);
}

BackendView pod(const std::string& name, const std::string& ip, bool ready,
                const std::string& extra_metadata = "") {
  return parse<BackendView>(
      R"({"metadata":{"name":")" + name + R"(","namespace":"n","labels":{"app":"x"})" +
      extra_metadata + R"(},"spec":{"hostname":")" + name +
      R"(","subdomain":"h","containers":[{"ports":[{"name":"client","containerPort":2379}]}]},)" +
      R"("status":{"podIP":")" + ip + R"(","conditions":[{"type":"Ready","status":")" +
      (ready ? "True" : "False") + R"("}]}})");
}

class ServicesTest : public testing::Test {
 protected:
  ServiceMap map() {
    ServiceFacts facts;
    for (const auto& service : services_) facts.services.push_back(&service);
    for (const auto& each : pods_) facts.pods.push_back(&each);
    for (const auto& slice : slices_) facts.slices.push_back(&slice);
    facts.api_server = api_server_;
    return map_services(facts);
  }
  void add_service(const std::string& name, const std::string& spec, const std::string& ns = "n") {
    services_.push_back(parse<ServiceView>(R"({"metadata":{"name":")" + name +
                                           R"(","namespace":")" + ns + R"("},"spec":)" + spec +
                                           "}"));
  }
  static std::vector<Ipv4> addresses(const ServiceMap& map, const std::string& name) {
    const auto* found = map.zone.find(name);
    EXPECT_TRUE(found) << name;
    return found ? *found : std::vector<Ipv4>{};
  }

  std::vector<ServiceView> services_;
  std::vector<BackendView> pods_;
  std::vector<SliceView> slices_;
  std::optional<SocketAddress> api_server_;
};

TEST_F(ServicesTest, AClientServiceHasItsAddressAndReadyBackends) {
  add_service("c", R"({"clusterIP":"198.19.1.1","selector":{"app":"x"},
                       "ports":[{"port":80,"targetPort":"client","protocol":"TCP"},{"port":81}]})");
  pods_ = {pod("a", "198.18.1.2", true), pod("b", "198.18.2.2", false),
           pod("d", "198.18.3.2", true, R"(,"deletionTimestamp":"2026-01-02T00:00:00Z")")};
  auto out = map();
  EXPECT_THAT(addresses(out, "c.n.svc.cluster.local"), ElementsAre(Ipv4(198, 19, 1, 1)));
  EXPECT_THAT((out.backends[{Ipv4(198, 19, 1, 1), 80}]),
              ElementsAre(SocketAddress{Ipv4(198, 18, 1, 2), 2379}));
  EXPECT_THAT((out.backends[{Ipv4(198, 19, 1, 1), 81}]),
              ElementsAre(SocketAddress{Ipv4(198, 18, 1, 2), 81}));
}

TEST_F(ServicesTest, WithoutAReadyBackendNobodyListens) {
  add_service("c", R"({"clusterIP":"198.19.1.1","selector":{"app":"x"},"ports":[{"port":80}]})");
  pods_ = {pod("a", "198.18.1.2", false)};
  EXPECT_TRUE(map().backends.empty());
}

TEST_F(ServicesTest, AHeadlessServiceGivesItsPodsNames) {
  add_service("h", R"({"clusterIP":"None","selector":{"app":"x"},"ports":[{"port":2380}]})");
  pods_ = {pod("a", "198.18.1.2", true), pod("b", "198.18.2.2", false)};
  auto out = map();
  EXPECT_THAT(addresses(out, "h.n.svc.cluster.local"), ElementsAre(Ipv4(198, 18, 1, 2)));
  EXPECT_THAT(addresses(out, "a.h.n.svc.cluster.local"), ElementsAre(Ipv4(198, 18, 1, 2)));
  EXPECT_EQ(out.zone.find("b.h.n.svc.cluster.local"), nullptr);
  EXPECT_THAT(*out.zone.find_pointers("2.1.18.198.in-addr.arpa"),
              ElementsAre("a.h.n.svc.cluster.local"));
}

TEST_F(ServicesTest, PublishedWhetherReadyOrNotIfItSaysSo) {
  add_service("h",
              R"({"clusterIP":"None","selector":{"app":"x"},"publishNotReadyAddresses":true})");
  pods_ = {pod("a", "198.18.1.2", true), pod("b", "198.18.2.2", false), pod("c", "", false)};
  auto out = map();
  EXPECT_THAT(addresses(out, "h.n.svc.cluster.local"),
              ElementsAre(Ipv4(198, 18, 1, 2), Ipv4(198, 18, 2, 2)));
  EXPECT_THAT(addresses(out, "b.h.n.svc.cluster.local"), ElementsAre(Ipv4(198, 18, 2, 2)));
}

TEST_F(ServicesTest, AnEmptyHeadlessServiceExists) {
  add_service("h", R"({"clusterIP":"None","selector":{"app":"x"}})");
  EXPECT_TRUE(addresses(map(), "h.n.svc.cluster.local").empty());
}

TEST_F(ServicesTest, AFinishedPodIsNoEndpoint) {
  add_service("h",
              R"({"clusterIP":"None","selector":{"app":"x"},"publishNotReadyAddresses":true})");
  pods_ = {pod("a", "198.18.1.2", true)};
  pods_[0].finished = true;
  EXPECT_TRUE(addresses(map(), "h.n.svc.cluster.local").empty());
}

TEST_F(ServicesTest, WithoutASelectorTheSlicesCount) {
  add_service("c", R"({"clusterIP":"198.19.1.1","ports":[{"name":"web","port":80}]})");
  slices_.push_back(parse<SliceView>(
      R"({"metadata":{"name":"c-1","namespace":"n","labels":{"kubernetes.io/service-name":"c"}},
          "endpoints":[{"addresses":["198.18.1.9"],"conditions":{"ready":true}},
                       {"addresses":["198.18.1.8"],"conditions":{"ready":false}}],
          "ports":[{"name":"web","port":8080}]})"));
  EXPECT_THAT((map().backends[{Ipv4(198, 19, 1, 1), 80}]),
              ElementsAre(SocketAddress{Ipv4(198, 18, 1, 9), 8080}));
}

TEST_F(ServicesTest, TheApiServerStandsBehindItsService) {
  add_service("kubernetes", R"({"clusterIP":"198.19.0.1","ports":[{"name":"https","port":443}]})",
              "default");
  api_server_ = SocketAddress{Ipv4(127, 0, 0, 1), 6443};
  EXPECT_THAT((map().backends[{Ipv4(198, 19, 0, 1), 443}]),
              ElementsAre(SocketAddress{Ipv4(127, 0, 0, 1), 6443}));
}

}  // namespace
}  // namespace quorate::node
