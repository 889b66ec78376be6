#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

#include "api/names.h"
#include "tests/integration/slice_clients.h"

// Real etcd members that become more and fewer, while somebody writes.
namespace quorate::slice {
namespace {

using ::testing::IsEmpty;

class Resize : public SliceOnNodes {
 protected:
  void scale(int replicas) { edit(fmt::format(R"({{"spec": {{"replicas": {}}}}})", replicas)); }
  std::string cluster_id() {
    return std::string(json::text_or(get(kube::kEtcdClusters, "c"), "/status/clusterID", ""));
  }
  std::int64_t least_available() {
    return json::integer_at(get(kube::kPodDisruptionBudgets, "c"), "/spec/minAvailable")
        .value_or(0);
  }
  void wait_until_hibernated() {
    world().run(world().until(
        kube::kEtcdClusters, key("c"), 120s, "hibernated", [](const json::Value& live) {
          const auto generation = json::integer_at(live, "/metadata/generation");
          return Look(
              json::text_or(live, "/status/phase", "") == "Hibernated" &&
                  json::integer_at(live, "/status/observedGeneration").value_or(0) == generation,
              json::render(live));
        }));
  }
  void wait_until_ready_with(int replicas) {
    world().run(world().until(kube::kEtcdClusters, key("c"), 180s, "ready at that size",
                              [&](const json::Value& live) {
                                const auto members = json::integer_at(live, "/status/replicas");
                                if (members != replicas) return Look(false, json::render(live));
                                return is_ready(live);
                              }));
  }
};

// 1 -> 3 -> 5 -> 3 -> 1: one cluster, and every acknowledged write is there at every size.
TEST_F(Resize, GoesUpAndDownAndKeepsEveryAcknowledgedWrite) {
  declare("c", R"({"replicas": 1})");
  wait_until_ready("c");
  const auto id = cluster_id();
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  clients.wait_for_writes(10);

  struct Size {
    int replicas;
    std::vector<std::string> members;
    int least;
  };
  const Size way[] = {{3, {"c-0", "c-1", "c-2"}, 2}, {5, {"c-0", "c-1", "c-2", "c-3", "c-4"}, 3}};
  for (const auto& size : way) {
    SCOPED_TRACE(size.replicas);
    clients.during(fmt::format("grow to {}", size.replicas), [&] {
      scale(size.replicas);
      wait_until_members_in(world(), key("c"), size.members);
    });
    EXPECT_EQ(application.members().voters(), size.members.size());
    EXPECT_EQ(application.members().members.size(), size.members.size());
    EXPECT_EQ(least_available(), size.least);
  }
  for (const int replicas : {3, 1}) {
    SCOPED_TRACE(replicas);
    clients.during(fmt::format("shrink to {}", replicas), [&] {
      scale(replicas);
      wait_until_ready_with(replicas);
    });
    EXPECT_EQ(application.members().voters(), static_cast<std::size_t>(replicas));
  }
  clients.wait_for_writes(10);
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  EXPECT_EQ(cluster_id(), id);
  EXPECT_THAT(ledger_.denied(), IsEmpty());
  for (const auto& write : ledger_.writes())
    if (write.creates()) EXPECT_EQ(ledger_.count_effects(write.what), 1) << write.what;
}

// A learner that begins with a snapshot of a long log does not answer before the next entry, and
// nobody writes any (docs/etcd-facts.md).
TEST_F(Resize, AQuietClusterWithALongLogGrows) {
  declare("c", R"({"replicas": 1, "version": "3.6.16"})");
  wait_until_ready("c");
  Application application(world(), key("c"));
  application.put_many("fill/", 5100);
  scale(2);
  wait_until_members_in(world(), key("c"), {"c-0", "c-1"});
  EXPECT_EQ(application.members().voters(), 2u);
  EXPECT_EQ(application.get_all("fill/").size(), 5100u);
}

TEST_F(Resize, KeepsVolumesIfToldSoAndNeverMountsThemAgain) {
  declare("c", R"({"replicas": 3,
                   "storage": {"claim": {}, "retention": {"whenScaled": "Retain"}}})");
  wait_until_ready("c");
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  clients.wait_for_writes(10);
  scale(1);
  wait_until_ready_with(1);
  const auto all = world().run(world().look(ns_));
  int kept = 0;
  for (const char* claim : {"data-c-0", "data-c-1", "data-c-2"}) {
    const auto& live = all.at(std::string("PersistentVolumeClaim ") + claim);
    kept += json::text_or(live,
                          "/metadata/annotations/" + json::escape_pointer(api::kAnnotationRemoved),
                          "") == "true";
  }
  EXPECT_EQ(kept, 2) << "marked, and still there";
  scale(2);
  wait_until_ready_with(2);
  EXPECT_TRUE(world().run(world().look(ns_)).contains("Pod c-3")) << "a name that was never used";
  clients.wait_for_writes(5);
  EXPECT_THAT(clients.find_faults(), IsEmpty());
}

TEST_F(Resize, GrowsVolumesAndStopsNobody) {
  declare("c");
  wait_until_ready("c");
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  clients.wait_for_writes(1);
  const auto pods = {uid_of(kube::kPods, "c-0"), uid_of(kube::kPods, "c-1"),
                     uid_of(kube::kPods, "c-2")};
  clients.during("grow volumes", [&] {
    edit(R"({"spec": {"storage": {"claim": {"size": "2Gi"}}}})");
    wait_until_ready("c");
  });
  for (const char* claim : {"data-c-0", "data-c-1", "data-c-2"})
    EXPECT_EQ(
        json::text_or(get(kube::kPersistentVolumeClaims, claim), "/status/capacity/storage", ""),
        "2Gi");
  EXPECT_THAT(pods, ::testing::ElementsAre(uid_of(kube::kPods, "c-0"), uid_of(kube::kPods, "c-1"),
                                           uid_of(kube::kPods, "c-2")));
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

// 3 -> 0 -> 3: everything stops, and the same members wake on their own volumes.
TEST_F(Resize, HibernatesAndWakesWithEveryAcknowledgedWrite) {
  declare("c");
  wait_until_ready("c");
  const auto id = cluster_id();
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  clients.wait_for_writes(20);
  std::map<std::string, std::string> volumes;
  for (const char* claim : {"data-c-0", "data-c-1", "data-c-2"})
    volumes[claim] = uid_of(kube::kPersistentVolumeClaims, claim);
  clients.during("hibernate and wake", [&] {
    scale(0);
    wait_until_hibernated();
    for (const auto& [name, object] : world().run(world().look(ns_)))
      EXPECT_FALSE(name.starts_with("Pod ")) << name;
    scale(3);
    wait_until_members_in(world(), key("c"), {"c-0", "c-1", "c-2"});
  });
  EXPECT_EQ(cluster_id(), id);
  for (const auto& [claim, uid] : volumes)
    EXPECT_EQ(uid_of(kube::kPersistentVolumeClaims, claim), uid);
  clients.wait_for_writes(5);
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

}  // namespace
}  // namespace quorate::slice
