#include <fmt/format.h>
#include <gmock/gmock.h>

#include "api/names.h"
#include "tests/integration/slice_application.h"
#include "tests/integration/slice_compare.h"
#include "tests/integration/slice_world.h"

// What a declaration says beside size and version, on real etcd: options, limits, templates,
// metadata, Services.
namespace quorate::slice {
namespace {

using ::testing::IsEmpty;

constexpr const char* kRich = R"({
  "version": "3.6.16",
  "options": {"quota-backend-bytes": "268435456", "experimental-corrupt-check-time": "1h",
              "snapshot-count": "5000", "feature-gates": "InitialCorruptCheck=true"},
  "resources": {"limits": {"cpu": "1500m", "memory": "500Mi"}},
  "tolerations": [{"key": "dedicated", "operator": "Exists"}],
  "additionalMetadata": {"labels": {"team": "a"}, "annotations": {"example.com/note": "n"}},
  "podTemplate": {"metadata": {"labels": {"tier": "db"}},
                  "spec": {"terminationGracePeriodSeconds": 20,
                           "containers": [{"name": "etcd",
                                           "env": [{"name": "GOGC", "value": "80"}]}]}},
  "services": {"client": {"metadata": {"annotations": {"example.com/lb": "x"}},
                          "spec": {"type": "NodePort"}}},
  "storage": {"claim": {"metadata": {"labels": {"disk": "d"}}}},
  "tls": {"client": {"authentication": "ServerOnly"}}
})";

class Options : public SliceTest {
 protected:
  void SetUp() override {
    if (!fabric_refusal().empty()) GTEST_SKIP() << "no fabric: " << fabric_refusal();
    set_up_in(World::with_nodes());
  }

  // Every object of the cluster as the operator made it, with what differs from that now.
  void expect_all_read_back() {
    const auto all = world().run(world().look(ns_));
    for (const auto& write : ledger_.writes()) {
      if (!write.creates()) continue;
      auto built = write.body;
      const auto kind = std::string(json::text_or(built, "/kind", ""));
      for (const auto* field : {"/apiVersion", "/kind"}) json::remove(built, field);
      // What is known of members is written later.
      if (kind == "EtcdMember") json::remove(built, "/spec");
      // It leads to members when they have formed.
      if (kind == "Service" && json::remove(built, "/spec/selector/quorate.io~1serving"))
        for (const auto* mark : {"rendered", "owned"})
          json::remove(built, fmt::format("/metadata/annotations/quorate.io~1{}", mark));
      if (kind == "Pod" || kind == "PersistentVolumeClaim")
        json::remove(built, "/metadata/annotations");
      const auto name = kind + " " + std::string(json::text_or(built, "/metadata/name", ""));
      ASSERT_TRUE(all.contains(name)) << name;
      // The server adds two of its own.
      if (kind == "Pod") {
        EXPECT_EQ(find_difference(*json::find(built, "/spec/tolerations/0"),
                                  *json::find(all.at(name), "/spec/tolerations/0")),
                  "");
        json::remove(built, "/spec/tolerations");
      }
      EXPECT_EQ(find_difference(built, all.at(name)), "") << name;
    }
  }

  void expect_on_all(std::string_view pointer, const char* value) {
    const std::string at(pointer);
    for (const auto& [name, object] : world().run(world().look(ns_)))
      if (!name.starts_with("EtcdCluster"))
        EXPECT_EQ(json::text_or(object, at, "(none)"), value) << name << " " << at;
  }

  Ledger ledger_;
};

TEST_F(Options, FormAClusterOfWhichEveryPartReadsBackAsItWasBuilt) {
  auto& process = start_operator(ledger_);
  declare("c", kRich);
  wait_until_ready("c");
  expect_all_read_back();
  expect_on_all("/metadata/labels/team", "a");
  expect_on_all("/metadata/annotations/example.com~1note", "n");
  const auto pod = get(kube::kPods, "c-0");
  const auto arguments = json::render(*json::find(pod, "/spec/containers/0/args"));
  for (const char* one : {"--quota-backend-bytes=268435456", "--corrupt-check-time=1h",
                          "--snapshot-count=5000", "--feature-gates=InitialCorruptCheck=true"})
    EXPECT_NE(arguments.find(one), std::string::npos) << arguments;
  EXPECT_EQ(arguments.find("--client-cert-auth"), std::string::npos);
  const auto environment = json::render(*json::find(pod, "/spec/containers/0/env"));
  for (const char* one : {R"({"name":"GOGC","value":"80"})", R"({"name":"GOMAXPROCS","value":"2"})",
                          R"({"name":"GOMEMLIMIT","value":"471859200"})"})
    EXPECT_NE(environment.find(one), std::string::npos) << environment;
  EXPECT_EQ(json::text_or(pod, "/metadata/labels/tier", ""), "db");

  // Nobody is asked for a certificate, and everybody sees whom he talks to.
  Application application(world(), key("c"), Credentials::kAuthorityAlone);
  application.put("k", "v");
  EXPECT_EQ(application.get("k"), "v");

  const auto written = ledger_.writes().size();
  wait_for_looks(process, 2);
  EXPECT_EQ(ledger_.writes().size(), written) << "a second pass writes nothing";
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

TEST_F(Options, WithoutTlsMembersAndClientsSpeakInTheClearAndNoKeyIsMade) {
  start_operator(ledger_);
  declare("c", R"({"tls": {"peer": {"mode": "Disabled"}, "client": {"mode": "Disabled"}}})");
  wait_until_ready("c");
  Application application(world(), key("c"), Credentials::kNone);
  application.put("k", "v");
  EXPECT_EQ(application.get("k"), "v");
  const auto list = application.members();
  EXPECT_EQ(list.voters(), 3U);
  for (const auto& member : list.members)
    for (const auto& url : member.peer_urls) EXPECT_TRUE(url.starts_with("http://")) << url;
  for (const auto& [name, object] : world().run(world().look(ns_)))
    EXPECT_FALSE(name.starts_with("Secret ")) << name;
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

TEST_F(Options, ChangesOfMetadataServicesAndBudgetLeaveTheMembersAlone) {
  auto& process = start_operator(ledger_);
  declare("c", kRich);
  wait_until_ready("c");
  const auto pod = uid_of(kube::kPods, "c-0");
  world().run(world().patch(kube::kEtcdClusters, key("c"), R"({"spec": {
      "additionalMetadata": {"labels": {"team": null, "cost": "7"}},
      "podTemplate": {"metadata": {"labels": {"tier": null}}},
      "services": {"client": {"metadata": null, "spec": {"type": "ClusterIP"}}},
      "disruptionBudget": {"enabled": false}}})"));
  world().run(world().until_all(ns_, 60s, "all is as declared", [](const Snapshot& all) {
    for (const auto& [name, object] : all) {
      if (name.starts_with("EtcdCluster")) continue;
      if (json::text_or(object, "/metadata/labels/cost", "") != "7")
        return Look(false, name + " has no label cost");
      if (json::find(object, "/metadata/labels/team"))
        return Look(false, name + " still has the label team");
    }
    return Look(!all.contains("PodDisruptionBudget c"), "the budget is still there");
  }));
  wait_until_ready("c");
  const auto service = get(kube::kServices, "c");
  EXPECT_EQ(json::text_or(service, "/spec/type", ""), "ClusterIP");
  EXPECT_EQ(json::find(service, "/metadata/annotations/example.com~1lb"), nullptr);
  const auto relabelled = get(kube::kPods, "c-0");
  EXPECT_EQ(json::find(relabelled, "/metadata/labels/tier"), nullptr);
  EXPECT_EQ(uid_of(kube::kPods, "c-0"), pod);
  const auto written = ledger_.writes().size();
  wait_for_looks(process, 2);
  EXPECT_EQ(ledger_.writes().size(), written);
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

}  // namespace
}  // namespace quorate::slice
