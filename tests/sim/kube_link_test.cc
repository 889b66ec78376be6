#include "tests/sim/kube_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/crd.h"
#include "apiserver/storage.h"
#include "apiserver/verbs.h"
#include "base/check.h"
#include "kube/client.h"
#include "kube/lease.h"
#include "kube/store.h"
#include "kube/watcher.h"
#include "rt/virtual_loop.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

constexpr kube::Resource kClusters{"quorate.io", "v1alpha1", "etcdclusters", "EtcdCluster", true};

// A server, and a client of the production code as another actor.
struct World {
  explicit World(std::uint64_t seed = 1)
      : loop(seed), server(loop.actor("server"), {}), here(loop.actor("main")) {
    for (const auto& file : api::render_crds()) {
      const auto installed = server.install_crd(file.text);
      CHECK(installed.has_value(), "{}", installed.error().text());
    }
  }
  ~World() { loop.tear_down(); }

  rt::Deadline soon() { return here.in(30s); }

  rt::VirtualLoop loop;
  apiserver::Server server;
  rt::Runtime here;
  KubeLink link{here, server};
  kube::Client client{here, link};
};

json::Value config_map(const std::string& name, const std::string& value) {
  return json::Object{{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", {{"name", name}, {"labels", {{"app", "x"}}}}},
                      {"data", {{"key", value}}}};
}

template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), "{}", result.error().text());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

TEST(KubeLink, CarriesReadsAndWritesOfTheProductionClient) {
  World world;
  auto& client = world.client;
  const ObjectKey key{"default", "a"};
  auto made = must(world.loop.run(
      client.create(kube::kConfigMaps, "default", config_map("a", "1"), world.soon())));
  EXPECT_EQ(must(made.meta()).key, key);

  const auto again = world.loop.run(
      client.create(kube::kConfigMaps, "default", config_map("a", "1"), world.soon()));
  ASSERT_FALSE(again);
  EXPECT_TRUE(kube::is_already_exists(again.error())) << again.error().text();

  auto patched =
      must(world.loop.run(client.patch(kube::kConfigMaps, key, kube::PatchKind::kMerge,
                                       json::Object{{"data", {{"key", "2"}}}}, world.soon())));
  EXPECT_EQ(json::text_or(must(patched.document()), "/data/key", ""), "2");
  EXPECT_NE(must(patched.meta()).resource_version, must(made.meta()).resource_version);

  // An update that was made from the version before is refused.
  const auto stale =
      world.loop.run(client.update(kube::kConfigMaps, key, must(made.document()), world.soon()));
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code(), Code::kConflict);

  must(world.loop.run(client.remove(kube::kConfigMaps, key, world.soon())));
  const auto gone = world.loop.run(client.get(kube::kConfigMaps, key, world.soon()));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), Code::kNotFound);
}

TEST(KubeLink, ListsInPagesWithSelectors) {
  World world;
  for (int i = 0; i < 5; ++i)
    must(world.loop.run(world.client.create(
        kube::kConfigMaps, "default", config_map("m" + std::to_string(i), "v"), world.soon())));
  std::vector<std::string> names;
  const auto note = [&](json::PaddedView item) -> Result<void> {
    names.emplace_back(must(kube::Object(std::string(item.text())).meta()).key.name);
    return {};
  };
  must(world.loop.run(world.client.list(
      kube::kConfigMaps, {.ns = "default", .label_selector = "app=x", .page_size = 2}, 10s, note)));
  EXPECT_THAT(names, ::testing::ElementsAre("m0", "m1", "m2", "m3", "m4"));
  names.clear();
  must(world.loop.run(world.client.list(kube::kConfigMaps,
                                        {.ns = "default", .label_selector = "app!=x"}, 10s, note)));
  EXPECT_THAT(names, ::testing::IsEmpty());
}

Task<void> follow(kube::Watcher& watcher) { co_await watcher.run(); }

TEST(KubeLink, KeepsAStoreUpToDateInVirtualTime) {
  World world;
  kube::Store<kube::MetaView> store(world.here, {});
  kube::Watcher watcher(world.here, world.client, kube::kConfigMaps, {}, store);
  rt::TaskGroup group(world.here);
  group.spawn("watch", follow(watcher));
  must(world.loop.run(store.wait_until_synced(world.soon())));

  // Changes within an hour reach it, through every end and resumption of its watches.
  for (int i = 0; i < 10; ++i) {
    const auto name = "m" + std::to_string(i);
    auto made = must(world.loop.run(
        world.client.create(kube::kConfigMaps, "default", config_map(name, "v"), world.soon())));
    store.note_written(must(made.meta()));
    must(world.loop.run(store.wait_until_caught_up({"default", name}, world.soon())));
    EXPECT_NE(store.find({"default", name}), nullptr);
    world.loop.run_for(6min);
  }
  EXPECT_GT(watcher.health().watches, 5u);
  EXPECT_EQ(watcher.health().lists, 1u) << "every watch was resumed";

  must(world.loop.run(world.client.remove(kube::kConfigMaps, {"default", "m3"}, world.soon())));
  world.loop.run_for(1s);
  EXPECT_EQ(store.find({"default", "m3"}), nullptr);

  // What the server has forgotten is listed anew.
  world.loop.pause("main");
  const auto& kind = *world.server.registry().built_in().config_maps;
  ASSERT_TRUE(world.server.verbs().create(kind, "default", config_map("late", "v")));
  world.server.storage().compact(world.server.storage().version());
  world.loop.resume("main");
  world.loop.run_for(1min);
  EXPECT_NE(store.find({"default", "late"}), nullptr);
  EXPECT_EQ(watcher.health().lists, 2u);
  world.loop.tear_down();
}

TEST(KubeLink, ServesOurOwnKindsWithGenerations) {
  World world;
  const json::Value cluster{{"apiVersion", "quorate.io/v1alpha1"},
                            {"kind", "EtcdCluster"},
                            {"metadata", {{"name", "c"}}},
                            {"spec", {{"replicas", 3}}}};
  auto made =
      must(world.loop.run(world.client.create(kClusters, "default", cluster, world.soon())));
  EXPECT_EQ(must(made.meta()).generation, 1);
  const ObjectKey key{"default", "c"};
  auto status =
      must(world.loop.run(world.client.patch(kClusters, key, kube::PatchKind::kMerge,
                                             json::Object{{"status", {{"observedGeneration", 1}}}},
                                             world.soon(), {.part = kube::Part::kStatus})));
  EXPECT_EQ(must(status.meta()).generation, 1);
  auto paused = must(
      world.loop.run(world.client.patch(kClusters, key, kube::PatchKind::kMerge,
                                        json::Object{{"spec", {{"paused", true}}}}, world.soon())));
  EXPECT_EQ(must(paused.meta()).generation, 2);
  EXPECT_EQ(json::integer_at(must(paused.document()), "/status/observedGeneration").value_or(0), 1);
}

Task<void> lead_until_cancelled(rt::Runtime here, int& led) {
  ++led;
  (void)co_await here.clock->sleep_until(Monotonic::max());
}

struct Campaign {
  rt::Runtime here;
  int led = 0;
  Task<void> lead(kube::Leadership) { return lead_until_cancelled(here, led); }
};

Task<void> run_election(kube::Election& election, Campaign& campaign) {
  (void)co_await election.run(
      [&campaign](kube::Leadership leadership) { return campaign.lead(leadership); });
}

TEST(KubeLink, ElectsOneOfTwoAndTheOtherAfterACrash) {
  World world;
  KubeLink other_link(world.loop.actor("other"), world.server);
  kube::Client other_client(world.loop.actor("other"), other_link);
  Campaign first{world.here, 0}, second{world.loop.actor("other"), 0};
  kube::ElectionOptions options;
  options.lease = {"default", "leader"};
  kube::Election a(world.here, world.client, options);
  kube::Election b(world.loop.actor("other"), other_client, options);
  rt::TaskGroup mine(world.here), theirs(world.loop.actor("other"));
  mine.spawn("elect", run_election(a, first));
  world.loop.run_for(1min);
  theirs.spawn("elect", run_election(b, second));
  world.loop.run_for(5min);
  EXPECT_EQ(first.led, 1);
  EXPECT_EQ(second.led, 0);
  world.loop.crash("main");
  world.loop.run_for(5min);
  EXPECT_EQ(second.led, 1);
  world.loop.tear_down();
}

TEST(KubeLink, GivesTheSameTraceForTheSameSeed) {
  const auto run = [](std::uint64_t seed) {
    World world(seed);
    for (int i = 0; i < 20; ++i)
      must(world.loop.run(world.client.create(
          kube::kConfigMaps, "default", config_map("m" + std::to_string(i), "v"), world.soon())));
    std::string all;
    for (const auto& [key, record] :
         world.server.storage().objects(*world.server.registry().built_in().config_maps))
      all += record->text;
    return all + std::to_string(world.loop.trace_hash());
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

}  // namespace
}  // namespace quorate::sim
