#include <gmock/gmock.h>

#include "api/names.h"
#include "operator/rbac.h"
#include "tests/integration/slice_compare.h"
#include "tests/integration/slice_world.h"

// What the operator makes of a declaration on a real API server. No node runs here, so the Pods
// stay pending and no cluster forms.
namespace quorate::slice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

std::vector<std::string> names_in(const Snapshot& all) {
  std::vector<std::string> names;
  for (const auto& [name, object] : all) names.push_back(name);
  return names;
}

std::vector<std::string> parts_of_c() {
  std::vector<std::string> parts = {"EtcdCluster c",       "Service c",
                                    "Service c-peer",      "PodDisruptionBudget c",
                                    "Secret c-peer-ca",    "Secret c-peer-tls",
                                    "Secret c-client-ca",  "Secret c-server-tls",
                                    "Secret c-client-tls", "Secret c-operator-tls"};
  for (const auto* member : {"c-0", "c-1", "c-2"}) {
    parts.push_back(std::string("EtcdMember ") + member);
    parts.push_back(std::string("Pod ") + member);
    parts.push_back(std::string("PersistentVolumeClaim data-") + member);
  }
  return parts;
}

std::string kind_in(const Write& write) {
  return std::string(json::text_or(write.body, "/kind", ""));
}

class Create : public SliceTest {
 protected:
  Ledger ledger_;
};

TEST_F(Create, MakesEveryPartOnceUnderItsOwnRights) {
  auto& process = start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  EXPECT_THAT(names_in(world().run(world().look(ns_))), UnorderedElementsAreArray(parts_of_c()));
  for (const auto& write : ledger_.writes())
    if (write.creates()) EXPECT_EQ(ledger_.count_effects(write.what), 1) << write.what;
  EXPECT_THAT(ledger_.denied(), IsEmpty());
  EXPECT_EQ(process.counter("quorate_broken_invariants_total"), 0);
  EXPECT_EQ(process.counter("quorate_step_failures_total"), 0);
}

TEST_F(Create, BeginsWithTheClaimThatTheClusterIsItsOwn) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  const auto& first = ledger_.writes().front();
  EXPECT_EQ(first.what, "PUT etcdclusters/status c");
  EXPECT_EQ(json::text_or(first.body, "/status/operator", ""), "quorate");
  EXPECT_NE(json::text_or(first.body, "/metadata/resourceVersion", ""), "");
}

TEST_F(Create, EveryPartReadsBackAsItWasBuilt) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  const auto all = world().run(world().look(ns_));
  int compared = 0;
  for (const auto& write : ledger_.writes()) {
    if (!write.creates()) continue;
    auto built = write.body;
    const auto kind = kind_in(write);
    // Lists leave these out; a record is told later that its member may run.
    json::remove(built, "/apiVersion");
    json::remove(built, "/kind");
    if (kind == "EtcdMember") json::remove(built, "/spec/run");
    // A first Pod is made held, and told later that the formation is open.
    if (kind == "Pod")
      json::remove(built,
                   "/metadata/annotations/" + json::escape_pointer(api::kAnnotationFormation));
    const auto name = kind + " " + std::string(json::text_or(built, "/metadata/name", ""));
    ASSERT_TRUE(all.contains(name)) << name;
    EXPECT_EQ(find_difference(built, all.at(name)), "") << name;
    EXPECT_EQ(json::text_or(all.at(name), "/metadata/uid", ""), write.uid) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 18);
}

TEST_F(Create, TheCertificatesAreThoseOfTheClustersTwoAuthorities) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  const auto all = world().run(world().look(ns_));
  const auto now = world().runtime().clock->wall();
  const auto& peer_ca = all.at("Secret c-peer-ca");
  const auto& client_ca = all.at("Secret c-client-ca");
  EXPECT_EQ(check_leaf(all.at("Secret c-peer-tls"), peer_ca, now), "");
  for (const auto* leaf : {"Secret c-server-tls", "Secret c-client-tls", "Secret c-operator-tls"}) {
    EXPECT_EQ(check_leaf(all.at(leaf), client_ca, now), "") << leaf;
    EXPECT_NE(check_leaf(all.at(leaf), peer_ca, now), "") << leaf;
  }
}

TEST_F(Create, StatusSaysWhatIsWaitedForSinceWhenAndUntilWhen) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  const auto cluster = get(kube::kEtcdClusters, "c");
  EXPECT_EQ(json::text_or(cluster, "/status/phase", ""), "Forming with 3 members");
  EXPECT_EQ(json::text_or(cluster, "/status/waiting/0/message", ""), "0 of 3 members answer");
  EXPECT_NE(json::text_or(cluster, "/status/waiting/0/since", ""), "");
  EXPECT_NE(json::text_or(cluster, "/status/waiting/0/deadline", ""), "");
  EXPECT_EQ(json::text_or(cluster, "/status/ready", ""), "0/3");
  EXPECT_EQ(json::text_or(cluster, "/status/operator", ""), "quorate");
  EXPECT_EQ(json::text_or(cluster, "/status/version/target", ""), api::kDefaultEtcdVersion);
  EXPECT_EQ(json::integer_at(cluster, "/status/formation").value_or(0), 1);
  // Nothing is in place yet, so no generation has been observed wholly.
  EXPECT_EQ(json::integer_at(cluster, "/status/observedGeneration").value_or(0), 0);
  std::map<std::string, std::string> conditions;
  for (const auto& one : json::find(cluster, "/status/conditions")->get_array())
    conditions[std::string(json::text_or(one, "/type", ""))] = json::text_or(one, "/status", "");
  const std::map<std::string, std::string> expected = {
      {"Ready", "False"},    {"Available", "False"}, {"Progressing", "True"},
      {"Degraded", "False"}, {"Frozen", "False"},    {"CertificatesValid", "True"}};
  EXPECT_EQ(conditions, expected);
}

TEST_F(Create, StatusNamesAnImageThatCannotBePulled) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  // There is no kubelet: what it would say is ours to say.
  world().run(world().patch(kube::kPods, key("c-1"),
                            R"({"status": {"containerStatuses": [{"name": "etcd", "image": "x",
                              "imageID": "", "ready": false, "restartCount": 0,
                              "state": {"waiting": {"reason": "ErrImagePull",
                                                    "message": "no such image"}}}]}})",
                            kube::Part::kStatus));
  world().run(
      world().until(kube::kEtcdClusters, key("c"), 30s, "names it", [](const auto& cluster) {
        return waits_for(cluster, "ErrImagePull", {"c-1", "no such image"});
      }));
}

TEST_F(Create, WritesEventsAboutTheCluster) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  world().run(world().until_seen(30s, "Events tell what it waits for", [&] {
    const auto events = world().kube().kubectl({"get", "events.events.k8s.io", "--namespace=" + ns_,
                                                "--output=jsonpath={.items[*].note}"});
    const bool told = events.out.find("0 of 3 members answer") != std::string::npos;
    return Look(told, events.out + events.err);
  }));
}

class Settled : public SliceTest {
 protected:
  void SetUp() override {
    SliceTest::SetUp();
    declare("c");
    process_ = &start_operator(ledger_);
    wait_until_settled("c");
    written_ = ledger_.writes().size();
  }

  // The writes since the cluster had settled.
  std::vector<std::string> later_writes() const {
    std::vector<std::string> out;
    for (std::size_t i = written_; i < ledger_.writes().size(); ++i)
      out.push_back(ledger_.writes()[i].what);
    return out;
  }

  Ledger ledger_;
  OperatorProcess* process_ = nullptr;
  std::size_t written_ = 0;
};

TEST_F(Settled, LookingAgainWritesNothing) {
  for (const auto* value : {"a", "b", "c"}) {
    world().run(world().patch(
        kube::kEtcdClusters, key("c"),
        fmt::format(R"({{"metadata": {{"annotations": {{"touched": "{}"}}}}}})", value)));
    wait_for_looks(*process_, 3);
  }
  EXPECT_THAT(later_writes(), IsEmpty());
}

TEST_F(Settled, AFreshOperatorWritesNothing) {
  world().run(process_->stop(world().runtime().in(30s)));
  auto& fresh = start_operator(ledger_);
  world().run(world().until_seen(60s, "it looks at the cluster", [&] {
    return Look(fresh.counter("quorate_reconciles_total") >= 3, fresh.ended());
  }));
  EXPECT_THAT(later_writes(), IsEmpty());
}

TEST_F(Settled, WhatOthersAddIsLeftAlone) {
  world().run(
      world().patch(kube::kServices, key("c"),
                    R"({"metadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}}})"));
  world().run(world().patch(kube::kPods, key("c-0"), R"({"metadata": {"labels": {"team": "a"}}})"));
  wait_for_looks(*process_, 3);
  EXPECT_THAT(later_writes(), IsEmpty());
  EXPECT_EQ(json::text_or(get(kube::kServices, "c"), "/metadata/labels/team", ""), "a");
}

TEST_F(Settled, AnEditedServiceIsPutBackByOneWrite) {
  world().run(world().patch(kube::kServices, key("c"),
                            R"({"spec": {"selector": {"quorate.io/serving": null}}})"));
  // There is nobody yet to whom it could lead: it selects what no Pod has.
  world().run(
      world().until(kube::kServices, key("c"), 30s, "selects as before", [](const auto& live) {
        return Look(json::text_or(live, "/spec/selector/quorate.io~1serving", "") == "not-yet",
                    json::render(*json::find(live, "/spec/selector")));
      }));
  wait_until_settled("c");
  wait_for_looks(*process_, 3);
  std::vector<std::string> wanted = later_writes();
  std::erase(wanted, "PUT etcdclusters/status c");  // it told people
  EXPECT_THAT(wanted, ElementsAre("PATCH services c"));
}

TEST_F(Settled, ADeletedServiceComesBack) {
  const auto before = uid_of(kube::kServices, "c-peer");
  world().run(world().remove(kube::kServices, key("c-peer")));
  world().run(
      world().until(kube::kServices, key("c-peer"), 30s, "is another", [&](const auto& live) {
        return Look(json::text_or(live, "/metadata/uid", "") != before, "the old one");
      }));
  wait_until_settled("c");
}

TEST_F(Settled, ALostAuthorityIsNotMadeAnewWhileMembersMayTrustIt) {
  world().run(world().remove(kube::kSecrets, key("c-peer-ca")));
  world().run(world().until(kube::kEtcdClusters, key("c"), 30s, "says so", [](const auto& cluster) {
    return waits_for(cluster, "AuthorityLost", {"Secret c-peer-ca"});
  }));
  wait_for_looks(*process_, 3);
  EXPECT_EQ(ledger_.count_effects("POST secrets c-peer-ca"), 1);
}

// What goes to whom, by the rights that `quorate manifests` grants.
class Rights : public SliceTest {};

TEST_F(Rights, OfOneNamespaceAreEnough) {
  const std::string home = "narrow-" + ns_;
  world().apply(op::make_rbac({home, {ns_}, "narrow"}));
  auto setup = world().setup(ns_, kPatient);
  setup.config = world().account_config(home, "narrow");
  setup.options.lease.ns = home;
  Ledger ledger;
  start_operator(ledger, std::move(setup));
  declare("c");
  wait_until_settled("c");
  EXPECT_THAT(ledger.denied(), IsEmpty());
}

// Two clusters of one name, each in a namespace of its own, and one that is not selected.
TEST_F(Rights, OfSeveralNamespacesAreEnoughAndClustersCanBeChosenByLabel) {
  const std::string home = "narrow-" + ns_;
  const auto other = world().run(world().make_namespace("other"));
  world().apply(op::make_rbac({home, {ns_, other}, "narrow"}));
  auto setup = world().setup(ns_, kPatient);
  setup.config = world().account_config(home, "narrow");
  setup.options.lease.ns = home;
  setup.options.namespaces = {ns_, other};
  setup.options.selector = "tier=prod";
  Ledger ledger;
  auto& process = start_operator(ledger, std::move(setup));
  declare("unselected");
  for (const auto& ns : {ns_, other}) {
    auto cluster = make_cluster("c");
    cluster.as_object()["metadata"].as_object()["labels"] = json::Object{{"tier", "prod"}};
    world().run(world().create(kube::kEtcdClusters, ns, std::move(cluster)));
  }
  for (const auto& ns : {ns_, other})
    world().run(world().until(kube::kEtcdClusters, {ns, "c"}, 90s, "has settled", is_settled));
  const auto unselected = get(kube::kEtcdClusters, "unselected");
  EXPECT_EQ(json::find(unselected, "/status"), nullptr);
  EXPECT_EQ(process.counter("quorate_clusters"), 2);
  EXPECT_THAT(ledger.denied(), IsEmpty());
  world().run(world().remove(kube::kEtcdClusters, {other, "c"}));
}

TEST_F(Rights, DoNotReachFurther) {
  const auto config = world().kube().kubeconfig(
      "rights",
      {.token = world().kube().service_account_token(kOperatorNamespace, "quorate-operator")});
  const std::vector<std::vector<std::string>> refused = {
      {"delete", "secrets"},      {"update", "pods"}, {"create", "pods", "--subresource=exec"},
      {"delete", "etcdclusters"}, {"get", "nodes"},   {"create", "clusterrolebindings"}};
  for (auto right : refused) {
    right.insert(right.begin(), {"auth", "can-i", "--namespace=" + ns_});
    const auto answer = world().kube().kubectl_as(config, right);
    EXPECT_EQ(answer.out, "no\n") << ::testing::PrintToString(right) << answer.err;
  }
}

}  // namespace
}  // namespace quorate::slice
