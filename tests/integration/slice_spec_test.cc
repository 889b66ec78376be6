#include <gmock/gmock.h>

#include "api/crd.h"
#include "tests/integration/slice_world.h"

// Declarations that are refused, and edits.
namespace quorate::slice {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Task<Result<std::string>> try_to_create(World& world, std::string ns, json::Value cluster,
                                        bool dry_run) {
  kube::WriteOptions options;
  options.dry_run = dry_run;
  auto made = co_await world.admin().create(kube::kEtcdClusters, ns, std::move(cluster),
                                            world.runtime().in(30s), options);
  if (made) co_return "accepted";
  co_return made.error().text();
}

Task<Result<std::string>> try_to_patch(World& world, ClusterKey key, std::string patch) {
  auto patched = co_await world.patch(kube::kEtcdClusters, key, std::move(patch));
  if (patched) co_return "accepted";
  co_return patched.error().text();
}

class Spec : public SliceTest {
 protected:
  // What the API server says to a new cluster, or to an edit of `c`.
  std::string answer(const std::string& spec, const std::string& name = "c") {
    return world().run(try_to_create(world(), ns_, make_cluster(name, spec), true));
  }
  std::string answer_to_edit(const std::string& patch) {
    return world().run(try_to_patch(world(), key("c"), patch));
  }
  void wait_until_said(const std::string& reason, const std::vector<std::string>& texts) {
    world().run(world().until(
        kube::kEtcdClusters, key("c"), 30s, "says " + reason,
        [&](const json::Value& cluster) { return waits_for(cluster, reason, texts); }));
  }
  Task<Result<void>> tell_that_it_formed(bool& told) {
    CO_TRY(co_await world().patch(
        kube::kEtcdMembers, key("c-1"),
        R"({"spec": {"clusterID": "cafe", "memberID": "b0b", "started": true}})"));
    told = true;
    co_return Result<void>();
  }
  void expect_only_status_written_after(std::size_t written) {
    for (auto i = written; i < ledger_.writes().size(); ++i)
      EXPECT_TRUE(ledger_.writes()[i].is_status()) << ledger_.writes()[i].what;
  }

  Ledger ledger_;
};

TEST_F(Spec, TheSchemaRefusesWithFieldAndRule) {
  EXPECT_EQ(answer("{}"), "accepted");
  EXPECT_THAT(answer(R"({"replicas": 10})"), AllOf(HasSubstr("spec.replicas"), HasSubstr("10"),
                                                   HasSubstr("should be less than or equal to 9")));
  EXPECT_THAT(answer(R"({"replicas": -1})"),
              AllOf(HasSubstr("spec.replicas"), HasSubstr("should be greater than or equal to 0")));
  EXPECT_THAT(answer(R"({"replicas": 0, "storage": {"emptyDir": {}}})"),
              HasSubstr("spec.replicas must be at least 1"));
  EXPECT_THAT(answer(R"({"replica": 3})"), HasSubstr("unknown field \"spec.replica\""));
  EXPECT_THAT(answer(R"({"version": "v3.6.16"})"),
              AllOf(HasSubstr("spec.version"), HasSubstr("v3.6.16")));
  EXPECT_THAT(answer(R"({"version": "3.5.1"})"),
              AllOf(HasSubstr("spec.version"), HasSubstr("3.5.0 to 3.5.2 can corrupt data")));
  EXPECT_THAT(answer(R"({"storage": {"claim": {}, "emptyDir": {}}})"),
              AllOf(HasSubstr("spec.storage"), HasSubstr("exactly one of claim and emptyDir")));
  EXPECT_THAT(answer(R"({"storage": {"claim": {"size": "1Mi"}}})"),
              AllOf(HasSubstr("spec.storage.claim.size"), HasSubstr("must be at least 256Mi")));
  EXPECT_THAT(answer(R"({"resources": {"requests": {"memory": "1Gi"},
                                    "limits": {"memory": "64Mi"}}})"),
              HasSubstr("spec.resources.limits.memory must be at least the request"));
  EXPECT_THAT(answer(R"({"resources": {"limits": {"memory": "64Mi"}}})"),
              HasSubstr("spec.resources.limits.memory must be at least the request"))
      << "the request is 128Mi by default";
  EXPECT_THAT(answer("{}", "c-" + std::string(60, 'x')),
              HasSubstr("metadata.name must be at most 52 characters"));
}

TEST_F(Spec, TheSchemaRefusesEditsThatCannotBeTakenUp) {
  declare("c");
  EXPECT_THAT(answer_to_edit(R"({"spec": {"storage": {"claim": {"size": "512Mi"}}}})"),
              AllOf(HasSubstr("spec.storage.claim"), HasSubstr("a volume only grows")));
  EXPECT_THAT(answer_to_edit(R"({"spec": {"storage": {"claim": null, "emptyDir": {}}}})"),
              AllOf(HasSubstr("spec.storage"), HasSubstr("data does not move by itself")));
  EXPECT_THAT(answer_to_edit(R"({"spec": {"resources": {"limits": {"memory": "64Mi"}}}})"),
              HasSubstr("spec.resources.limits.memory must be at least the request"));
  EXPECT_THAT(answer_to_edit(R"({"spec": {"tls": {"client": {"mode": "Disabled"}}}})"),
              AllOf(HasSubstr("spec.tls.client"), HasSubstr("cannot be changed yet")));
}

// Its Pods do not hold anything yet: they are simply made anew.
TEST_F(Spec, AnUnformedClusterTakesEditsUpWithNewPodsOnTheSameVolumes) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  const auto pod = uid_of(kube::kPods, "c-0");
  const auto claim = uid_of(kube::kPersistentVolumeClaims, "data-c-0");
  edit(R"({"spec": {"version": "3.5.35"}})");
  world().run(world().until_all(ns_, 60s, "every Pod has the new image", [](const Snapshot& all) {
    for (const auto* name : {"Pod c-0", "Pod c-1", "Pod c-2"}) {
      if (!all.contains(name)) return Look(false, std::string(name) + " is not there");
      const auto image = json::text_or(all.at(name), "/spec/containers/0/image", "");
      if (!image.ends_with(":v3.5.35")) return Look(false, std::string(image));
    }
    return Look(true);
  }));
  wait_until_settled("c");
  EXPECT_NE(uid_of(kube::kPods, "c-0"), pod);
  for (const auto* member : {"c-0", "c-1", "c-2"})
    EXPECT_EQ(json::text_or(get(kube::kEtcdMembers, member), "/spec/version", ""), "3.5.35");
  EXPECT_EQ(uid_of(kube::kPersistentVolumeClaims, "data-c-0"), claim);
  EXPECT_EQ(json::integer_at(get(kube::kEtcdClusters, "c"), "/status/formation").value_or(0), 1);
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

bool has_intent(const Write& write) { return json::find(write.body, "/status/intent") != nullptr; }

// Whoever looks into a cluster in the middle of it knows what is being done, to whom, and by whom.
TEST_F(Spec, WhatIsHarmedIsNamedInStatusBeforehand) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  const auto pod = uid_of(kube::kPods, "c-0");
  const auto written = ledger_.writes().size();
  edit(R"({"spec": {"version": "3.5.35"}})");
  world().run(world().until_seen(60s, "three Pods are replaced", [&] {
    int removed = 0;
    for (const auto* name : {"c-0", "c-1", "c-2"})
      removed += ledger_.count_effects(std::string("DELETE pods ") + name);
    return Look(removed == 3, std::to_string(removed));
  }));
  wait_until_settled("c");
  std::vector<std::string> intended;
  for (auto i = written; i < ledger_.writes().size(); ++i) {
    const auto& write = ledger_.writes()[i];
    if (has_intent(write) && write.took_effect()) {
      ASSERT_NE(json::text_or(write.body, "/metadata/resourceVersion", ""), "");
      intended.emplace_back(json::text_or(write.body, "/status/intent/targets/0", ""));
    }
    if (!write.what.starts_with("DELETE ")) continue;
    const auto name = write.what.substr(write.what.rfind(' ') + 1);
    ASSERT_FALSE(intended.empty()) << write.what;
    EXPECT_EQ(intended.back(),
              fmt::format("{} {}", name, json::text_or(write.body, "/preconditions/uid", "?")));
    EXPECT_NE(json::text_or(write.body, "/preconditions/resourceVersion", ""), "") << write.what;
  }
  EXPECT_EQ(intended.front(), "c-0 " + pod);
  const auto cluster = get(kube::kEtcdClusters, "c");
  EXPECT_EQ(json::find(cluster, "/status/intent"), nullptr);
}

// A witness comes to light after the decision, which no cache had shown: no harm is done.
TEST_F(Spec, NothingIsHarmedIfTheWorldHasChangedSinceItWasDecided) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  const auto pods = {uid_of(kube::kPods, "c-0"), uid_of(kube::kPods, "c-1"),
                     uid_of(kube::kPods, "c-2")};
  bool told = false;
  ledger_.interrupt(has_intent, [&]() { return tell_that_it_formed(told); });
  edit(R"({"spec": {"version": "3.5.35"}})");
  wait_until_said("InvalidSpec", {"spec.version: cannot be changed from 3.6.16 to 3.5.35 yet"});
  EXPECT_TRUE(told);
  for (const auto& write : ledger_.writes())
    EXPECT_FALSE(write.what.starts_with("DELETE ")) << write.what;
  EXPECT_THAT(pods, ::testing::ElementsAre(uid_of(kube::kPods, "c-0"), uid_of(kube::kPods, "c-1"),
                                           uid_of(kube::kPods, "c-2")));
}

TEST_F(Spec, ReplicasOfAFormationWaitUntilItHasFormed) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  edit(R"({"spec": {"replicas": 5}})");
  wait_until_said("ReplicasWait", {"3 members", "5 are wanted"});
  EXPECT_FALSE(world().run(world().look(ns_)).contains("EtcdMember c-3"));
}

// Status was lost; one record remembers. It is believed, the others are told, and from then on the
// schema knows as well. What was declared meanwhile hinders neither status nor other edits.
TEST_F(Spec, AClusterThatAnyWitnessCallsFormedIsNotRolledYetAndNotFormedAnew) {
  auto& process = start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  world().run(process.stop(world().runtime().in(30s)));
  world().run(
      world().patch(kube::kEtcdMembers, key("c-1"),
                    R"({"spec": {"clusterID": "cafe", "memberID": "b0b", "started": true}})"));
  edit(R"({"spec": {"replicas": 5, "version": "3.5.35"}})");
  start_operator(ledger_);
  wait_until_said("InvalidSpec", {"spec.version: cannot be changed from 3.6.16 to 3.5.35 yet",
                                  "the cluster has formed"});
  world().run(world().until_all(ns_, 30s, "all were told the cluster ID", [](const Snapshot& all) {
    for (const auto* name : {"EtcdMember c-0", "EtcdMember c-2"})
      if (json::text_or(all.at(name), "/spec/clusterID", "") != "cafe") return Look(false, name);
    return Look(true);
  }));
  EXPECT_FALSE(world().run(world().look(ns_)).contains("EtcdMember c-3"));
  EXPECT_THAT(answer_to_edit(R"({"spec": {"version": "3.7.3"}})"),
              HasSubstr("to another patch version of the same minor release alone"));
  EXPECT_EQ(answer_to_edit(R"({"spec": {"paused": true}})"), "accepted");
}

// ---- Without admission ----

void drop_rules(json::Value& schema) {
  if (schema.is_array())
    for (auto& item : schema.get_array()) drop_rules(item);
  if (!schema.is_object()) return;
  auto& fields = schema.get_object();
  for (const auto* rule : {"x-kubernetes-validations", "minimum", "maximum", "pattern"})
    fields.erase(rule);
  for (auto& [field, value] : fields) drop_rules(value);
}

// CRDs that check nothing, as somebody may have installed them.
class SpecWithoutAdmission : public Spec {
 protected:
  void SetUp() override {
    Spec::SetUp();
    auto crds = api::make_crds();
    for (auto& crd : crds) drop_rules(crd);
    world().apply(crds);
    wait_until_answered("accepted");
  }
  void TearDown() override {
    Spec::TearDown();
    world().apply(api::make_crds());
    wait_until_answered("spec.replicas");
  }

 private:
  // To what the schema refuses.
  void wait_until_answered(const std::string& text) {
    support::eventually(60s, "the API server has the new schema", [&] {
      const auto said = answer(R"({"replicas": 10})");
      return Look(said.find(text) != std::string::npos, said);
    });
  }
};

TEST_F(SpecWithoutAdmission, TheOperatorNamesFieldValueAndRuleAndMakesNothing) {
  start_operator(ledger_);
  declare("c", R"({"replicas": 10, "version": "3.5.1",
                   "resources": {"requests": {"memory": "1Gi"}, "limits": {"memory": "512Mi"}}})");
  wait_until_said("InvalidSpec",
                  {"spec.replicas: 10 must be between 0 and 9", "spec.version: ", "3.5.1",
                   "3.5.0 to 3.5.2 can corrupt data",
                   "spec.resources.limits.memory: 512Mi must be at least the request of 1Gi"});
  EXPECT_EQ(world().run(world().look(ns_)).size(), 1U);
  expect_only_status_written_after(0);
  edit(R"({"spec": {"replicas": 3, "version": null, "resources": null}})");
  wait_until_settled("c");
}

TEST_F(SpecWithoutAdmission, AnEditThatCannotBeTakenUpChangesNothing) {
  auto& process = start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  const auto written = ledger_.writes().size();
  edit(R"({"spec": {"resources": {"limits": {"memory": "64Mi"}},
                    "storage": {"claim": {"size": "512Mi"}}}})");
  wait_until_said("InvalidSpec", {"spec.resources.limits.memory: 64Mi"});
  edit(R"({"spec": {"resources": {"limits": null}}})");
  wait_until_said("InvalidSpec", {"spec.storage.claim.size: cannot shrink from 1Gi to 512Mi"});
  wait_for_looks(process, 3);
  expect_only_status_written_after(written);
  edit(R"({"spec": {"storage": {"claim": {"size": "1Gi"}}}})");
  wait_until_settled("c");
  expect_only_status_written_after(written);
}

}  // namespace
}  // namespace quorate::slice
