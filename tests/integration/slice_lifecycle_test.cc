#include <gmock/gmock.h>

#include "tests/integration/slice_compare.h"
#include "tests/integration/slice_world.h"

// Foreign objects, pause, deletion, and operators that take turns.
namespace quorate::slice {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- Objects of others under our names ----

class Foreign : public SliceTest {
 protected:
  std::string make(kube::Resource resource, const std::string& name, const std::string& rest) {
    auto object = kube::make_object(resource, {ns_, name});
    auto parsed = json::parse(rest);
    for (auto& [field, value] : parsed->as_object()) object.as_object()[field] = value;
    const auto made = world().run(world().create(resource, ns_, std::move(object)));
    return std::string(json::text_or(made, "/metadata/uid", ""));
  }
  // Nobody tells us when an object that is not ours goes: after refusals it may take a while until
  // it is tried again.
  void wait_until_named(const std::string& object) {
    world().run(world().until(
        kube::kEtcdClusters, key("c"), 180s, "names " + object, [&](const auto& cluster) {
          const auto taken = waits_for(cluster, "NameTaken", {object});
          return taken.holds ? taken
                             : waits_for(cluster, "Refused", {object, "belongs to something else"});
        }));
  }

  Ledger ledger_;
};

TEST_F(Foreign, ObjectsAreNamedAndLeftAloneAndWhenTheyGoTheClusterIsMade) {
  struct Stranger {
    kube::Resource resource;
    std::string name;
    std::string rest;
    std::string uid;
  };
  // In the order in which the cluster comes to need them.
  std::vector<Stranger> strangers = {
      {kube::kSecrets, "c-peer-ca", R"({"data": {"key": "dmFsdWU="}})", ""},
      {kube::kPersistentVolumeClaims, "data-c-2",
       R"({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})",
       ""},
      {kube::kPods, "c-1", R"({"spec": {"containers": [{"name": "x", "image": "x"}]}})", ""},
      {kube::kServices, "c", R"({"spec": {"ports": [{"port": 80}]}})", ""},
  };
  for (auto& one : strangers) one.uid = make(one.resource, one.name, one.rest);
  declare("c");
  start_operator(ledger_);
  for (const auto& one : strangers) {
    SCOPED_TRACE(one.name);
    wait_until_named(std::string(one.resource.kind) + " " + one.name);
    EXPECT_EQ(uid_of(one.resource, one.name), one.uid);
    const auto live = get(one.resource, one.name);
    EXPECT_EQ(json::find(live, "/metadata/labels"), nullptr);
    EXPECT_EQ(json::find(live, "/metadata/ownerReferences"), nullptr);
    world().run(world().remove(one.resource, {ns_, one.name}));
  }
  wait_until_settled("c", 180s);
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

TEST_F(Foreign, AServiceOfAnotherClusterOfOursIsNotTaken) {
  start_operator(ledger_);
  declare("c-peer");  // its client Service is called as the peer Service of `c` would be
  wait_until_settled("c-peer");
  const auto before = get(kube::kServices, "c-peer");
  declare("c");
  wait_until_named("Service c-peer");
  const auto after = get(kube::kServices, "c-peer");
  EXPECT_EQ(json::render(*json::find(after, "/spec")), json::render(*json::find(before, "/spec")));
  EXPECT_FALSE(world().run(world().look(ns_)).contains("Pod c-0"));
  world().run(world().remove(kube::kEtcdClusters, key("c-peer")));
  wait_until_settled("c", 90s);
}

TEST_F(Foreign, AClusterThatAnotherOperatorHasClaimedIsNotTouched) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  const auto written = ledger_.writes().size();
  auto setup = world().setup(ns_, {5s, 4s, 500ms});
  setup.options.executor.call_timeout = 1s;
  setup.options.identity = "somebody-else";
  setup.options.lease.name = ns_ + "-else";
  Ledger others;
  auto& other = start_operator(others, std::move(setup));
  world().run(world().until_seen(60s, "the other looks at the cluster", [&] {
    return Look(other.counter("quorate_reconciles_total") >= 1, other.ended());
  }));
  EXPECT_THAT(others.writes(), IsEmpty());
  EXPECT_EQ(ledger_.writes().size(), written);
}

TEST_F(Foreign, OfTwoOperatorsOneClaimsAClusterAndTheOtherWritesNothing) {
  auto& one = start_operator(ledger_);
  auto setup = world().setup(ns_, kPatient);
  setup.options.identity = "somebody-else";
  setup.options.lease.name = ns_ + "-else";
  Ledger others;
  auto& other = start_operator(others, std::move(setup));
  world().run(world().until_seen(60s, "both lead", [&] {
    return Look(one.op().leading() && other.op().leading(), one.ended() + other.ended());
  }));
  declare("c");
  wait_until_settled("c");
  world().run(world().until_seen(60s, "both have looked", [&] {
    return Look(one.counter("quorate_reconciles_total") >= 1 &&
                    other.counter("quorate_reconciles_total") >= 1,
                one.ended() + other.ended());
  }));
  const auto cluster = get(kube::kEtcdClusters, "c");
  const auto owner = json::text_or(cluster, "/status/operator", "");
  const auto& loser = owner == "quorate" ? others : ledger_;
  for (const auto& write : loser.writes())
    EXPECT_FALSE(write.took_effect()) << owner << " has it, the other: " << write.what;
}

// ---- Pause ----

class Pause : public SliceTest {};

TEST_F(Pause, NothingIsDoneUntilItIsLifted) {
  Ledger ledger;
  auto setup = world().setup(ns_, kPatient);
  setup.options.observer.ask_every = 1s;  // how often a paused cluster is looked at
  auto& process = start_operator(ledger, std::move(setup));
  declare("c", R"({"paused": true})");
  world().run(world().until(kube::kEtcdClusters, key("c"), 30s, "says so", [](const auto& cluster) {
    return Look(json::text_or(cluster, "/status/phase", "") == "Paused", json::render(cluster));
  }));
  wait_for_looks(process, 2);
  for (const auto& write : ledger.writes()) EXPECT_TRUE(write.is_status()) << write.what;

  world().run(world().patch(kube::kEtcdClusters, key("c"), R"({"spec": {"paused": false}})"));
  wait_until_settled("c");

  world().run(world().patch(kube::kEtcdClusters, key("c"), R"({"spec": {"paused": true}})"));
  world().run(
      world().until(kube::kEtcdClusters, key("c"), 30s, "says so again", [](const auto& cluster) {
        return Look(json::text_or(cluster, "/status/phase", "") == "Paused", json::render(cluster));
      }));
  const auto written = ledger.writes().size();
  world().run(world().remove(kube::kServices, key("c")));
  wait_for_looks(process, 2);
  EXPECT_EQ(ledger.writes().size(), written);
  EXPECT_FALSE(world().run(world().look(ns_)).contains("Service c"));
}

// ---- Deletion ----

class Delete : public SliceTest {
 protected:
  void wait_until_only(std::vector<std::string> left) {
    world().run(world().until_all(ns_, 90s, "all else is collected", [&](const Snapshot& all) {
      std::vector<std::string> names;
      for (const auto& [name, object] : all) names.push_back(name);
      return Look(names == left, ::testing::PrintToString(names));
    }));
  }

  Ledger ledger_;
};

const std::vector<std::string> kClaims = {"PersistentVolumeClaim data-c-0",
                                          "PersistentVolumeClaim data-c-1",
                                          "PersistentVolumeClaim data-c-2"};

TEST_F(Delete, KeepsTheVolumesAndNothingElseAndTheyAreNeverAdopted) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  world().run(world().remove(kube::kEtcdClusters, key("c")));
  wait_until_only(kClaims);
  const auto kept = essence(world().run(world().look(ns_)));

  declare("c");
  wait_until_settled("c");
  auto all = world().run(world().look(ns_));
  for (const auto* member : {"c-3", "c-4", "c-5"}) {
    EXPECT_TRUE(all.contains(std::string("Pod ") + member));
    EXPECT_TRUE(all.contains(std::string("PersistentVolumeClaim data-") + member));
  }
  Snapshot old;
  for (const auto& claim : kClaims) old[claim] = all.at(claim);
  EXPECT_EQ(essence(old), kept);
  EXPECT_FALSE(all.contains("Pod c-0"));
}

TEST_F(Delete, TakesTheVolumesAlongIfToldSo) {
  start_operator(ledger_);
  declare("c", R"({"storage": {"claim": {}, "retention": {"whenDeleted": "Delete"}}})");
  wait_until_settled("c");
  world().run(world().remove(kube::kEtcdClusters, key("c")));
  wait_until_only({});
}

TEST_F(Delete, NeedsNoOperator) {
  auto& process = start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  world().run(process.stop(world().runtime().in(30s)));
  world().run(world().remove(kube::kEtcdClusters, key("c")));
  wait_until_only(kClaims);
}

// The old cluster's Pod lingers, as on a node that is slow: nothing of the new one may be mixed
// with it.
TEST_F(Delete, AClusterMadeAnewAtOnceWaitsForWhatIsLeftOfTheOldOne) {
  start_operator(ledger_);
  declare("c");
  wait_until_settled("c");
  world().run(world().patch(kube::kPods, key("c-1"),
                            R"({"metadata": {"finalizers": ["example.com/slow-node"]}})"));
  const auto old_pod = uid_of(kube::kPods, "c-1");
  world().run(world().remove(kube::kEtcdClusters, key("c")));
  declare("c");
  world().run(world().until(kube::kEtcdClusters, key("c"), 30s, "says so", [](const auto& cluster) {
    return waits_for(cluster, "OldObjects", {});
  }));
  world().run(world().until_all(ns_, 90s, "the rest is collected", [](const Snapshot& all) {
    return Look(!all.contains("Pod c-0") && !all.contains("EtcdMember c-0"), "");
  }));
  world().run(world().until(
      kube::kEtcdClusters, key("c"), 30s, "names it",
      [](const auto& cluster) { return waits_for(cluster, "OldObjects", {"Pod c-1"}); }));
  EXPECT_EQ(uid_of(kube::kPods, "c-1"), old_pod);
  world().run(world().patch(kube::kPods, key("c-1"), R"({"metadata": {"finalizers": null}})"));
  wait_until_settled("c", 90s);
  const auto all = world().run(world().look(ns_));
  EXPECT_TRUE(all.contains("Pod c-3"));
  EXPECT_FALSE(all.contains("Pod c-1"));
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

// ---- Two operators ----

class Leaders : public SliceTest {
 protected:
  static constexpr kube::LeaseTimings kQuick{5s, 4s, 500ms};
  static constexpr auto kCall = 2s;
  OperatorSetup quick(const std::string& replica) {
    auto setup = world().setup(ns_, kQuick);
    setup.options.replica = replica;
    setup.options.executor.call_timeout = kCall;
    return setup;
  }
  void wait_until_leading(OperatorProcess& process) {
    world().run(world().until_seen(30s, "it leads",
                                   [&] { return Look(process.op().leading(), process.ended()); }));
  }

  Ledger first_, second_;
};

TEST_F(Leaders, OnlyTheLeaderWritesAndWhenItDiesTheOtherGoesOn) {
  auto& leader = start_operator(first_, quick("first"));
  wait_until_leading(leader);
  auto& other = start_operator(second_, quick("second"));
  declare("a");
  wait_until_settled("a");
  world().run(world().until_seen(30s, "the other watches, too",
                                 [&] { return Look(other.op().ready(), other.ended()); }));
  EXPECT_FALSE(other.op().leading());
  EXPECT_THAT(second_.writes(), IsEmpty());

  world().run(leader.kill());
  const auto killed = world().runtime().clock->now();
  const auto written = first_.writes().size();
  declare("b");
  world().run(world().until_seen(60s, "the other acts",
                                 [&] { return Look(!second_.writes().empty(), other.ended()); }));
  // Not before the old lease has ended, and a call that was sent at its very end.
  EXPECT_GE(world().runtime().clock->now() - killed, kQuick.lease + kCall - 2 * kQuick.retry);
  wait_until_settled("b");
  EXPECT_TRUE(other.op().leading());
  EXPECT_EQ(first_.writes().size(), written);
  for (const auto& write : second_.writes())
    EXPECT_THAT(write.what, ::testing::Not(HasSubstr(" a"))) << "a had settled under the first";
  EXPECT_THAT(first_.denied(), IsEmpty());
  EXPECT_THAT(second_.denied(), IsEmpty());
}

TEST_F(Leaders, ACleanStopHandsOverBeforeTheLeaseEnds) {
  auto& leader = start_operator(first_);  // its lease runs for 10 s
  wait_until_leading(leader);
  declare("a");
  wait_until_settled("a");
  world().run(leader.stop(world().runtime().in(30s)));
  const auto stopped = world().runtime().clock->now();
  auto& next = start_operator(second_);
  wait_until_leading(next);
  EXPECT_LT(world().runtime().clock->now() - stopped, kPatient.lease);
  declare("b");
  wait_until_settled("b");
}

}  // namespace
}  // namespace quorate::slice
