#include "kube/watcher.h"

#include <gtest/gtest.h>

#include "kube/fake_server.h"
#include "kube/store.h"

namespace quorate::kube {
namespace {

using namespace std::chrono_literals;

constexpr const char* kMaps = "/api/v1/configmaps";

std::map<std::string, std::string> versions(const Store<MetaView>& store) {
  std::map<std::string, std::string> out;
  store.for_each([&](const MetaView& view) {
    out[view.meta.key.text()] = view.meta.resource_version.value();
  });
  return out;
}

struct WatcherTest : ::testing::TestWithParam<bool> {
  WatcherTest() {
    for (int i = 0; i < 5; ++i) world.server.put(kMaps, "n", "x" + std::to_string(i));
  }
  static WatcherOptions options(bool streaming) {
    WatcherOptions out;
    out.what.page_size = 2;
    out.machine.streaming = streaming;
    return out;
  }
  void start() { group.spawn("watch", watcher.run()); }
  void start_and_sync() {
    start();
    world.loop.run_for(1s);
    ASSERT_TRUE(store.synced());
  }
  void expect_truth() { EXPECT_EQ(versions(store), world.server.versions(kMaps)); }
  int count_requests(std::string_view part) {
    return static_cast<int>(
        std::count_if(world.server.seen.begin(), world.server.seen.end(),
                      [&](auto& r) { return r.path.find(part) != std::string::npos; }));
  }

  FakeWorld world;
  Client client{world.here, world.server};
  Store<MetaView> store{world.here};
  Watcher watcher{world.here, client, kConfigMaps, options(GetParam()), store};
  rt::TaskGroup group{world.here};
  CrashAtEnd crash_at_end{world.loop};
};

INSTANTIATE_TEST_SUITE_P(List, WatcherTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Streamed" : "Paged"; });

TEST_P(WatcherTest, ListsThenFollows) {
  start_and_sync();
  expect_truth();
  EXPECT_EQ(count_requests("limit=2"), GetParam() ? 0 : 3);
  EXPECT_EQ(count_requests("sendInitialEvents"), GetParam() ? 1 : 0);
  world.server.put(kMaps, "n", "new");
  world.server.put(kMaps, "n", "x1");
  world.server.erase(kMaps, "n", "x2");
  world.loop.run_for(10ms);
  expect_truth();
  EXPECT_EQ(watcher.health().lists, 1u);
  EXPECT_EQ(watcher.health().watches, 1u);
  EXPECT_FALSE(watcher.health().error);
}

TEST_P(WatcherTest, ResumesABrokenWatchWithoutListing) {
  start_and_sync();
  world.server.break_streams();
  world.server.put(kMaps, "n", "while-away");
  world.server.erase(kMaps, "n", "x0");
  world.loop.run_for(2s);
  expect_truth();
  EXPECT_EQ(watcher.health().lists, 1u);
  EXPECT_EQ(watcher.health().watches, 2u);
  EXPECT_FALSE(watcher.health().error);
}

TEST_P(WatcherTest, ReopensAWatchThatTheServerEndedInTime) {
  start_and_sync();
  world.loop.run_for(1h);  // a watch lives 4 to 8 minutes
  EXPECT_GE(watcher.health().watches, 8u);
  EXPECT_LE(watcher.health().watches, 16u);
  EXPECT_EQ(watcher.health().lists, 1u);
  world.server.put(kMaps, "n", "new");
  world.loop.run_for(2s);
  expect_truth();
}

TEST_P(WatcherTest, ListsAnewWhenItsPlaceWasForgotten) {
  for (bool as_event : {false, true}) {
    if (!watcher.health().lists) start_and_sync();
    world.server.expiry_as_event = as_event;
    const auto lists = watcher.health().lists;
    world.server.break_streams();
    world.server.erase(kMaps, "n", "x3");
    world.server.put(kMaps, "n", as_event ? "a" : "b");
    world.server.compact();
    world.loop.run_for(1min);
    expect_truth();
    EXPECT_EQ(watcher.health().lists, lists + 1) << as_event;
  }
}

TEST_P(WatcherTest, ResumesFromABookmarkThoughOlderPlacesAreForgotten) {
  start_and_sync();
  world.server.put("/api/v1/secrets", "n", "another-kind");  // moves the version, tells us nothing
  world.server.bookmark();
  world.loop.run_for(10ms);
  world.server.compact();
  world.server.break_streams();
  world.loop.run_for(10s);
  EXPECT_EQ(watcher.health().lists, 1u);
  EXPECT_EQ(watcher.health().watches, 2u);
}

TEST_P(WatcherTest, ListsAnewWhenTheServersStorageWasSetBack) {
  start_and_sync();
  const auto before = world.server.version();
  world.server.put(kMaps, "n", "lost");
  world.server.put(kMaps, "n", "lost-too");
  world.loop.run_for(10ms);
  world.server.rewind(before);
  world.server.put(kMaps, "n", "new");  // at a version that the watch has passed already
  world.loop.run_for(10s);
  expect_truth();
  EXPECT_EQ(watcher.health().lists, 2u);
}

TEST_P(WatcherTest, NoticesAStreamThatIsSilentForTooLong) {
  start_and_sync();
  world.server.silence_streams();
  world.server.put(kMaps, "n", "unheard");
  world.loop.run_for(9min);
  expect_truth();
  EXPECT_EQ(watcher.health().lists, 1u);
}

TEST_P(WatcherTest, OpensASilentStreamAnewOnceItIsDoubted) {
  start_and_sync();
  const auto begun = world.here.clock->now();
  world.server.put(kMaps, "n", "heard");
  world.loop.run_for(1s);
  watcher.doubt(begun);
  world.loop.run_for(10s);
  EXPECT_EQ(watcher.health().watches, 1u) << "it has told something since then";

  const auto since = world.here.clock->now();
  world.server.silence_streams();
  world.server.put(kMaps, "n", "unheard");
  world.loop.run_for(10s);
  EXPECT_EQ(watcher.health().watches, 1u);
  watcher.doubt(since);
  world.loop.run_for(10s);
  expect_truth();
  EXPECT_EQ(watcher.health().watches, 2u);
  EXPECT_EQ(watcher.health().lists, 1u) << "it goes on where it was";
}

TEST_P(WatcherTest, SaysWhatKeepsItAndGoesOnWhenItCan) {
  world.server.oracle = [](const net::Request&) {
    return FakeServer::Fate{.instead = status_answer(403, "Forbidden", "no list for you")};
  };
  start();
  world.loop.run_for(1min);
  EXPECT_FALSE(store.synced());
  ASSERT_TRUE(watcher.health().error);
  EXPECT_EQ(watcher.health().error->code(), Code::kForbidden);
  EXPECT_LT(watcher.health().failing_since.value(), Monotonic{} + 1s);
  EXPECT_LE(world.server.seen.size(), 8u);  // it backs off
  world.server.oracle = nullptr;
  world.loop.run_for(1min);
  expect_truth();
  EXPECT_TRUE(store.synced());
  EXPECT_FALSE(watcher.health().error);
}

TEST_P(WatcherTest, ComesThroughAnOutage) {
  start_and_sync();
  world.server.oracle = [](const net::Request&) { return FakeServer::Fate{.refused = true}; };
  world.server.break_streams();
  world.server.put(kMaps, "n", "during");
  world.loop.run_for(15min);
  ASSERT_TRUE(watcher.health().error);
  EXPECT_TRUE(store.synced());
  EXPECT_TRUE(store.find({"n", "x0"}));  // the old view stays
  world.server.oracle = nullptr;
  world.loop.run_for(1min);
  expect_truth();
}

TEST_P(WatcherTest, ReadsEventsInPiecesOfAnySize) {
  world.server.piece = 3;
  start_and_sync();
  for (int i = 0; i < 20; ++i) world.server.put(kMaps, "n", "y" + std::to_string(i));
  world.loop.run_for(1s);
  expect_truth();
}

TEST_P(WatcherTest, EndsWhenItIsTold) {
  start_and_sync();
  group.cancel();
  world.loop.run(group.join());
  EXPECT_EQ(group.size(), 0u);
  EXPECT_EQ(world.server.open_streams(), 0u);
}

TEST(Watcher, FallsBackToPagesAndStaysThere) {
  FakeWorld world;
  world.server.put(kMaps, "n", "x");
  world.server.streaming_lists = false;
  Client client(world.here, world.server);
  Store<MetaView> store(world.here);
  Watcher watcher(world.here, client, kConfigMaps, {}, store);
  rt::TaskGroup group(world.here);
  const CrashAtEnd crash_at_end{world.loop};
  group.spawn("watch", watcher.run());
  world.loop.run_for(1s);
  EXPECT_TRUE(store.synced());
  EXPECT_EQ(versions(store), world.server.versions(kMaps));
}

TEST(Watcher, TakesAnExpiredListWhole) {
  FakeWorld world;
  for (int i = 0; i < 9; ++i) world.server.put(kMaps, "n", "x" + std::to_string(i));
  world.server.oracle = [&](const net::Request& request) {
    if (request.path.find("continue=") != std::string::npos) world.server.expire_continue_tokens();
    return FakeServer::Fate();
  };
  Client client(world.here, world.server);
  Store<MetaView> store(world.here);
  WatcherOptions options;
  options.what.page_size = 2;
  options.machine.streaming = false;
  Watcher watcher(world.here, client, kConfigMaps, options, store);
  rt::TaskGroup group(world.here);
  const CrashAtEnd crash_at_end{world.loop};
  group.spawn("watch", watcher.run());
  world.loop.run_for(10s);
  EXPECT_TRUE(store.synced());
  EXPECT_EQ(versions(store), world.server.versions(kMaps));
}

// Counts what its neighbour is told, and checks the order of the vocabulary.
class Grammar : public WatchSink {
 public:
  explicit Grammar(Store<MetaView>& store) : store_(store) {}
  void on_init() override {
    initial_ = true;
    store_.on_init();
  }
  Result<void> on_init_apply(json::PaddedView object) override {
    EXPECT_TRUE(initial_);
    return store_.on_init_apply(object);
  }
  void on_init_done(const ResourceVersion& position) override {
    EXPECT_TRUE(initial_);
    initial_ = false;
    done_ = true;
    store_.on_init_done(position);
  }
  Result<void> on_apply(json::PaddedView object) override {
    EXPECT_TRUE(done_ && !initial_);
    return store_.on_apply(object);
  }
  Result<void> on_delete(json::PaddedView object) override { return store_.on_delete(object); }
  void on_position(const ResourceVersion& position) override {
    EXPECT_TRUE(done_ && !initial_);
    store_.on_position(position);
  }

 private:
  Store<MetaView>& store_;
  bool initial_ = false;
  bool done_ = false;
};

// Changes, cuts, ends, compactions, bookmarks, storage set back, refusals and delays in random
// order; when they are over, the store equals the server. On the way no object's version goes back,
// but by a list after the storage was set back.
void try_watcher(std::uint64_t seed) {
  FakeWorld world(seed);
  auto& random = *world.loop.actor("chance").random;
  Client client(world.here, world.server, {.attempts = 1 + static_cast<int>(random.below(3))});
  Store<MetaView> store(world.here);
  std::int64_t rewinds = 0;
  store.subscribe([&](const Store<MetaView>::Change& change) {
    if (!change.before || !change.after || rewinds > 0) return;
    EXPECT_TRUE(
        certainly_older(change.before->meta.resource_version, change.after->meta.resource_version));
  });
  Grammar grammar(store);
  WatcherOptions options;
  options.what.page_size = 1 + static_cast<int>(random.below(4));
  options.machine.streaming = random.below(2) == 0;
  world.server.streaming_lists = random.below(2) == 0;
  Watcher watcher(world.here, client, kConfigMaps, options, grammar);
  rt::TaskGroup group(world.here);
  const CrashAtEnd crash_at_end{world.loop};
  group.spawn("watch", watcher.run());

  const auto fate = [&](const net::Request&) {
    FakeServer::Fate out;
    switch (random.below(8)) {
      case 0:
        out.refused = true;
        break;
      case 1:
        out.answer_lost = true;
        break;
      case 2:
        out.instead = status_answer(random.below(2) ? 500 : 429, "", "not now");
        break;
      default:
        out.before = std::chrono::milliseconds(random.below(300));
    }
    return out;
  };
  for (int i = 0; i < 80; ++i) {
    const auto name = "x" + std::to_string(random.below(8));
    switch (random.below(14)) {
      case 0:
        world.server.break_streams();
        break;
      case 1:
        world.server.end_streams();
        break;
      case 2:
        world.server.compact();
        break;
      case 3:
        world.server.bookmark();
        break;
      case 4:
        world.server.oracle = random.below(2) ? FakeServer::Oracle(fate) : FakeServer::Oracle();
        break;
      case 5:
        world.server.expire_continue_tokens();
        world.server.expiry_as_event = random.below(2) == 0;
        world.server.piece = random.below(50);
        break;
      case 6:
        // Noticed only while the versions have not yet grown past the watcher's place again: a
        // server that does that at once cannot be told from one that was never set back.
        if (random.below(4) == 0) {
          ++rewinds;
          world.server.oracle = nullptr;
          world.server.rewind(std::max<std::int64_t>(100, world.server.version() - 3));
          world.loop.run_for(2min);
        }
        break;
      case 7:
      case 8:
        world.server.erase(kMaps, "n", name);
        break;
      default:
        world.server.put(kMaps, "n", name);
    }
    world.loop.run_for(std::chrono::milliseconds(random.below(3000)));
  }
  world.server.oracle = nullptr;
  world.loop.run_for(10min);
  EXPECT_EQ(versions(store), world.server.versions(kMaps));
}

TEST(WatcherProperty, TheStoreEqualsTheServerInTheEnd) { for_seeds(40, try_watcher); }

}  // namespace
}  // namespace quorate::kube
