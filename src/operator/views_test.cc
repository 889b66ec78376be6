#include "operator/views.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/arbitrary_fields_test.h"
#include "operator/facts.h"

namespace quorate::op {
namespace {

template <class View>
Result<View> project(std::string_view text) {
  json::Projector projector;
  return json::project<View>(projector, text);
}

TEST(PodView, ReadsHowTheContainersFare) {
  auto view =
      project<PodView>(R"({"metadata":{"name":"c-0","namespace":"n","uid":"u","resourceVersion":"1",
    "annotations":{"quorate.io/formation":"open","other":"x"}},
    "spec":{"nodeName":"node-1"},
    "status":{"phase":"Running","podIP":"198.18.1.2",
      "conditions":[{"type":"Ready","status":"True"}],
      "initContainerStatuses":[{"name":"install-launch","restartCount":0,
        "state":{"terminated":{"exitCode":0,"reason":"Completed"}}}],
      "containerStatuses":[{"name":"sidecar","restartCount":9,"state":{"running":{}}},
        {"name":"etcd","restartCount":2,
        "state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off"}},
        "lastState":{"terminated":{"exitCode":64,"reason":"Error","message":"{}"}}}]}})");
  ASSERT_TRUE(view) << view.error().text();
  EXPECT_EQ(view->node, "node-1");
  EXPECT_EQ(view->ip, "198.18.1.2");
  EXPECT_TRUE(view->ready);
  EXPECT_TRUE(view->formation_open);
  EXPECT_EQ(view->etcd.restarts, 2);
  EXPECT_EQ(view->etcd.waiting, "CrashLoopBackOff");
  ASSERT_TRUE(view->etcd.last);
  EXPECT_EQ(view->etcd.last->exit_code, 64);
  ASSERT_TRUE(view->install.terminated);
  EXPECT_EQ(view->install.terminated->exit_code, 0);
}

TEST(PodView, TellsWhyNoNodeWasFound) {
  auto view =
      project<PodView>(R"({"metadata":{"name":"c-0"},"status":{"phase":"Pending","conditions":[
    {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes"}]}})");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->unschedulable, "0/3 nodes");
  EXPECT_FALSE(view->ready);
}

TEST(PodView, KnowsWhenItsNodeIsNotHeardFrom) {
  const auto since = [](std::string_view ready, std::string_view containers) {
    auto view = project<PodView>(fmt::format(
        R"({{"metadata":{{"name":"c-0"}},"status":{{"phase":"Running","conditions":[
      {{"type":"Ready",{},"lastTransitionTime":"2026-01-02T03:04:05Z"}},
      {{"type":"ContainersReady","status":"{}"}}]}}}})",
        ready, containers));
    EXPECT_TRUE(view);
    return view->node_silent_since.has_value();
  };
  EXPECT_TRUE(since(R"("status":"False")", "True")) << "no kubelet says this";
  EXPECT_FALSE(since(R"("status":"True")", "True"));
  EXPECT_FALSE(since(R"("status":"False","reason":"ContainersNotReady")", "False"));
  EXPECT_FALSE(since(R"("status":"False","reason":"ReadinessGatesNotReady")", "True"))
      << "somebody else's gate";
}

TEST(ClusterFacts, KeepWhatCannotBeDecodedAsAFact) {
  auto view = project<ClusterView>(
      R"({"metadata":{"name":"c","namespace":"n","uid":"u","generation":3},"spec":{"replica":3}})");
  ASSERT_TRUE(view);
  auto facts = cluster_facts(*view);
  EXPECT_FALSE(facts.declared);
  EXPECT_NE(facts.undecodable.find("replica"), std::string::npos) << facts.undecodable;
  EXPECT_EQ(facts.generation, 3);
}

TEST(ClusterFacts, AnAbsentSpecMeansTheDefaults) {
  auto view = project<ClusterView>(R"({"metadata":{"name":"c","namespace":"n","uid":"u"}})");
  ASSERT_TRUE(view);
  auto facts = cluster_facts(*view);
  ASSERT_TRUE(facts.declared) << facts.undecodable;
  EXPECT_EQ(facts.declared->replicas, 3);
  EXPECT_FALSE(facts.status);
}

TEST(ClaimView, OfAnotherNameIsNoClaimOfTheCluster) {
  auto view = project<ClaimView>(R"({"metadata":{"name":"data-c-2","namespace":"n","uid":"u"},
    "spec":{"resources":{"requests":{"storage":"1Gi"}}},"status":{"phase":"Bound","capacity":{"storage":"2Gi"}}})");
  ASSERT_TRUE(view);
  EXPECT_FALSE(claim_facts(*view, "d"));
  auto facts = claim_facts(*view, "c");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->ordinal, Ordinal(2));
  EXPECT_EQ(facts->phase, plan::ClaimPhase::kBound);
  EXPECT_EQ(facts->capacity->text(), "2Gi");
}

TEST(RecordView, SaysWhyItIsNoRecord) {
  auto view = project<RecordView>(
      R"({"metadata":{"name":"c-0","namespace":"n","uid":"u"},"spec":{"clusterNam":"c"}})");
  ASSERT_TRUE(view);
  auto facts = record_facts(*view);
  ASSERT_FALSE(facts);
  EXPECT_NE(facts.error().text().find("clusterNam"), std::string::npos) << facts.error().text();
}

// Caches keep views packed.
TEST(Views, SurvivePacking) {
  EXPECT_TRUE(kube::survives_packing<ClusterView>());
  EXPECT_TRUE(kube::survives_packing<RecordView>());
  EXPECT_TRUE(kube::survives_packing<ClaimView>());
  EXPECT_TRUE(kube::survives_packing<PodView>());
  EXPECT_TRUE(kube::survives_packing<ServiceView>());
  EXPECT_TRUE(kube::survives_packing<BudgetView>());
  EXPECT_TRUE(kube::survives_packing<SecretView>());
}

}  // namespace
}  // namespace quorate::op
