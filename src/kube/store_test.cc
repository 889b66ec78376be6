#include "kube/store.h"

#include <gtest/gtest.h>

#include "json/stream.h"
#include "kube/fake_server.h"
#include "rt/virtual_loop.h"

namespace quorate::kube {
namespace {

using namespace std::chrono_literals;

struct Thing {
  Meta meta;
  std::int64_t size = 0;
};

void read(json::Reader& in, Thing& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata")
      read(value, out.meta);
    else if (key == "size")
      out.size = value.integer();
  });
}

// The same at rest, with what it needs of labels.
struct Sleeper {
  Head meta;
  std::string cluster;
  std::int64_t size = 0;
};

void read(json::Reader& in, Sleeper& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata")
      read(value, out.meta,
           {[&](std::string_view name, std::string_view label) {
              if (name == "cluster") out.cluster = label;
            },
            [](const OwnerReference&) {}, [](std::string_view, std::string_view) {}});
    else if (key == "size")
      out.size = value.integer();
  });
}
template <class Visit>
void each_field(Visit& visit, Sleeper& sleeper) {
  auto& [meta, cluster, size] = sleeper;
  visit(meta, cluster, size);
}
std::optional<std::string_view> find_label(const Sleeper& sleeper, std::string_view) {
  return sleeper.cluster.empty() ? std::nullopt : std::optional<std::string_view>(sleeper.cluster);
}
static_assert(Packable<Sleeper> && !Packable<Thing>);

// Texts for the store, padded as the watcher's are.
struct Text {
  Text(const std::string& name, int version, std::string rest = "") {
    buffer.append(fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"n","uid":"u-{}","resourceVersion":"{}"{}}},)"
        R"("size":{}}})",
        name, name, version, rest, version));
  }
  explicit Text(const std::string& text) { buffer.append(text); }
  operator json::PaddedView() const { return buffer.view(); }
  json::PaddedBuffer buffer;
};

ObjectKey key(const std::string& name) { return {"n", name}; }
ResourceVersion rv(int version) { return ResourceVersion(std::to_string(version)); }
std::string owner(const std::string& uid) {
  return fmt::format(
      R"(,"ownerReferences":[{{"kind":"EtcdCluster","name":"c","uid":"{}","controller":true}}])",
      uid);
}
std::string label(const std::string& name, const std::string& value) {
  return fmt::format(R"(,"labels":{{"{}":"{}"}})", name, value);
}

struct StoreTest : ::testing::Test {
  StoreTest() {
    store.subscribe([this](const Store<Thing>::Change& change) {
      changes.push_back(fmt::format("{}:{}>{}", change.key.name,
                                    change.before ? change.before->size : 0,
                                    change.after ? change.after->size : 0));
    });
  }
  void list(std::initializer_list<std::pair<const char*, int>> items, int position) {
    store.on_init();
    for (const auto& [name, version] : items) EXPECT_TRUE(store.on_init_apply(Text(name, version)));
    store.on_init_done(rv(position));
  }
  std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const auto& thing : store.all()) out.push_back(thing->meta.key.name);
    return out;
  }
  std::vector<std::string> take_changes() { return std::exchange(changes, {}); }

  using Strings = std::vector<std::string>;
  rt::VirtualLoop loop{1};
  rt::Runtime here = loop.actor("main");
  Store<Thing> store{here, {.indexed_labels = {"cluster"}}};
  Strings changes;
};

TEST_F(StoreTest, FillsFromAListAndFollowsEvents) {
  EXPECT_FALSE(store.synced());
  list({{"b", 2}, {"a", 1}}, 5);
  EXPECT_TRUE(store.synced());
  EXPECT_EQ(names(), (Strings{"a", "b"}));
  EXPECT_EQ(take_changes(), (Strings{"a:0>1", "b:0>2"}));
  EXPECT_TRUE(store.on_apply(Text("a", 6)));
  EXPECT_TRUE(store.on_delete(Text("b", 7)));
  EXPECT_TRUE(store.on_apply(Text("c", 8)));
  EXPECT_EQ(names(), (Strings{"a", "c"}));
  EXPECT_EQ(store.find(key("a"))->size, 6);
  EXPECT_EQ(store.find(key("b")), nullptr);
  EXPECT_EQ(take_changes(), (Strings{"a:1>6", "b:2>0", "c:0>8"}));
}

TEST_F(StoreTest, SwapsARelistAtOnce) {
  list({{"a", 1}, {"b", 2}, {"c", 3}}, 5);
  take_changes();
  const auto unchanged = store.find(key("a"));
  store.on_init();
  EXPECT_TRUE(store.on_init_apply(Text("a", 1)));
  EXPECT_TRUE(store.on_init_apply(Text("b", 9)));
  EXPECT_TRUE(store.on_init_apply(Text("d", 8)));
  EXPECT_EQ(names(), (Strings{"a", "b", "c"}));  // not yet
  EXPECT_EQ(store.find(key("b"))->size, 2);
  EXPECT_TRUE(changes.empty());
  store.on_init_done(rv(10));
  EXPECT_EQ(names(), (Strings{"a", "b", "d"}));
  EXPECT_EQ(take_changes(), (Strings{"b:2>9", "c:3>0", "d:0>8"}));
  EXPECT_EQ(store.find(key("a")), unchanged);
}

TEST_F(StoreTest, DropsAListThatCameToNothing) {
  list({{"a", 1}}, 5);
  take_changes();
  store.on_init();
  EXPECT_TRUE(store.on_init_apply(Text("x", 6)));
  list({{"a", 1}}, 7);
  EXPECT_EQ(names(), (Strings{"a"}));
  EXPECT_TRUE(changes.empty());
}

TEST_F(StoreTest, TakesWhatHappensDuringAList) {
  store.on_init();
  EXPECT_TRUE(store.on_init_apply(Text("a", 1)));
  EXPECT_TRUE(store.on_init_apply(Text("b", 2)));
  EXPECT_TRUE(store.on_init_apply(Text("a", 3)));
  EXPECT_TRUE(store.on_delete(Text("b", 4)));
  store.on_init_done(rv(5));
  EXPECT_EQ(names(), (Strings{"a"}));
  EXPECT_EQ(store.find(key("a"))->size, 3);
}

TEST_F(StoreTest, TellsAnObjectOfTheSameNameFromItsPredecessor) {
  list({{"a", 1}}, 5);
  store.on_init();
  EXPECT_TRUE(store.on_init_apply(
      Text(R"({"metadata":{"name":"a","namespace":"n","uid":"new","resourceVersion":"1"}})")));
  store.on_init_done(rv(6));
  EXPECT_EQ(store.find(key("a"))->meta.uid, Uid("new"));
}

TEST_F(StoreTest, FindsByOwnerAndByLabel) {
  store.on_init();
  EXPECT_TRUE(store.on_init_apply(Text("b", 1, owner("o1"))));
  EXPECT_TRUE(store.on_init_apply(Text("a", 2, owner("o1"))));
  EXPECT_TRUE(store.on_init_apply(Text("c", 3, owner("o2") + label("cluster", "x"))));
  EXPECT_TRUE(store.on_init_apply(Text("d", 4, label("cluster", "x"))));
  store.on_init_done(rv(5));
  const auto found = [](const std::vector<Handle<Thing>>& things) {
    std::string out;
    for (const auto& thing : things) out += thing->meta.key.name;
    return out;
  };
  EXPECT_EQ(found(store.owned_by(Uid("o1"))), "ab");
  EXPECT_EQ(found(store.labelled("cluster", "x")), "cd");
  EXPECT_EQ(found(store.in_namespace("n")), "abcd");
  EXPECT_EQ(found(store.in_namespace("m")), "");
  EXPECT_TRUE(store.on_apply(Text("a", 6, owner("o2"))));
  EXPECT_TRUE(store.on_delete(Text("d", 7)));
  EXPECT_TRUE(store.on_apply(Text("c", 8, label("cluster", "y"))));
  EXPECT_EQ(found(store.owned_by(Uid("o1"))), "b");
  EXPECT_EQ(found(store.owned_by(Uid("o2"))), "a");
  EXPECT_EQ(found(store.labelled("cluster", "x")), "");
  EXPECT_EQ(found(store.labelled("cluster", "y")), "c");
  EXPECT_THROW((void)store.labelled("other", "x"), BrokenInvariant);
}

TEST_F(StoreTest, KeepsEqualLabelsAndOwnersOnce) {
  store.on_init();
  EXPECT_TRUE(store.on_init_apply(Text("a", 1, owner("o") + label("cluster", "x"))));
  EXPECT_TRUE(store.on_init_apply(Text("b", 2, owner("o") + label("cluster", "x"))));
  store.on_init_done(rv(5));
  EXPECT_EQ(store.find(key("a"))->meta.label_set, store.find(key("b"))->meta.label_set);
  EXPECT_EQ(store.find(key("a"))->meta.owner_set, store.find(key("b"))->meta.owner_set);
}

TEST_F(StoreTest, SetsApartWhatItCannotRead) {
  list({{"a", 1}, {"b", 2}}, 5);
  take_changes();
  const std::string broken =
      R"({"metadata":{"name":"a","namespace":"n","uid":"u-a","resourceVersion":"6"},"size":"x"})";
  EXPECT_TRUE(store.on_apply(Text(broken)));
  EXPECT_EQ(store.find(key("a")), nullptr);
  EXPECT_EQ(names(), (Strings{"b"}));
  ASSERT_TRUE(store.unreadable().contains(key("a")));
  EXPECT_EQ(store.unreadable().at(key("a")).code(), Code::kInvalid);
  EXPECT_EQ(take_changes(), (Strings{"a:1>0"}));
  EXPECT_TRUE(store.on_apply(Text("a", 7)));
  EXPECT_TRUE(store.unreadable().empty());
  EXPECT_EQ(take_changes(), (Strings{"a:0>7"}));
  store.on_init();
  EXPECT_TRUE(store.on_init_apply(Text(broken)));
  store.on_init_done(rv(8));
  EXPECT_TRUE(store.unreadable().contains(key("a")));
  EXPECT_TRUE(store.on_delete(Text(broken)));
  EXPECT_TRUE(store.unreadable().empty());
}

TEST_F(StoreTest, RefusesWhatIsNoObject) {
  EXPECT_FALSE(store.on_apply(Text(R"({"metadata":{}})")));
  EXPECT_FALSE(store.on_apply(Text("[1]")));
  EXPECT_FALSE(store.on_delete(Text("{")));
}

// --- our own writes

Meta written(const std::string& name, int version) {
  Meta meta;
  meta.key = key(name);
  meta.uid = Uid("u-" + name);
  meta.resource_version = rv(version);
  return meta;
}

TEST_F(StoreTest, IsCaughtUpWhenItHasSeenOurWrite) {
  list({{"a", 1}}, 5);
  EXPECT_TRUE(store.caught_up(key("a")));
  store.note_written(written("a", 7));
  EXPECT_FALSE(store.caught_up(key("a")));
  EXPECT_TRUE(store.on_apply(Text("a", 6)));  // somebody else's, from before
  EXPECT_FALSE(store.caught_up(key("a")));
  EXPECT_TRUE(store.on_apply(Text("a", 7)));
  EXPECT_TRUE(store.caught_up(key("a")));
}

TEST_F(StoreTest, IsCaughtUpWhenTheWatchHasPassedOurWrite) {
  list({}, 5);
  store.note_written(written("a", 7));
  EXPECT_TRUE(store.on_apply(Text("b", 6)));
  EXPECT_FALSE(store.caught_up(key("a")));
  store.on_position(rv(9));  // created and deleted elsewhere; only the position tells
  EXPECT_TRUE(store.caught_up(key("a")));
  store.note_written(written("a", 8));  // the event came before our answer
  EXPECT_TRUE(store.caught_up(key("a")));
}

TEST_F(StoreTest, IsCaughtUpAfterAListThatBeganAfterTheWrite) {
  list({{"a", 1}}, 5);
  store.on_init();
  Meta odd = written("a", 0);
  odd.resource_version = ResourceVersion("no-number");
  store.note_written(odd);
  store.on_init_done(rv(50));  // began before
  EXPECT_FALSE(store.caught_up(key("a")));
  store.on_position(rv(99));  // says nothing about versions that are no numbers
  EXPECT_FALSE(store.caught_up(key("a")));
  list({{"a", 1}}, 60);
  EXPECT_TRUE(store.caught_up(key("a")));
}

TEST_F(StoreTest, IsCaughtUpWhenWhatWeRemovedIsGone) {
  list({{"a", 1}}, 5);
  store.note_removed(key("a"), Uid("u-a"));
  EXPECT_TRUE(store.on_apply(Text("a", 6)));  // deletionTimestamp set
  EXPECT_FALSE(store.caught_up(key("a")));
  EXPECT_TRUE(store.on_delete(Text("a", 7)));
  EXPECT_TRUE(store.caught_up(key("a")));
  // Written and removed before the store has seen either.
  store.note_written(written("b", 8));
  store.note_removed(key("b"), Uid("u-b"));
  EXPECT_FALSE(store.caught_up(key("b")));
}

Task<Result<void>> apply_later(rt::Runtime here, Store<Thing>& store, int version) {
  CO_TRY(co_await here.clock->sleep_until(here.clock->now() + 3s));
  auto applied = store.on_apply(Text("a", version));
  CO_TRY(std::move(applied));
  co_return Result<void>();
}

TEST_F(StoreTest, WaitsUntilItHasCaughtUpOrTheDeadline) {
  list({{"a", 1}}, 5);
  store.note_written(written("a", 7));
  std::vector<Task<Result<void>>> work;
  work.push_back(apply_later(here, store, 7));
  work.push_back(store.wait_until_caught_up(key("a"), here.in(10s)));
  auto results = loop.run(rt::all(here, std::move(work)));
  EXPECT_TRUE(results[1]);
  EXPECT_EQ(here.clock->now(), Monotonic{} + 3s);
  store.note_written(written("a", 9));
  auto late = loop.run(store.wait_until_caught_up(key("a"), here.in(2s)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::kTimeout);
}

TEST_F(StoreTest, WaitsForTheFirstList) {
  EXPECT_EQ(loop.run(store.wait_until_synced(here.in(1s))).error().code(), Code::kTimeout);
  list({}, 5);
  EXPECT_TRUE(loop.run(store.wait_until_synced(here.in(1s))));
}

// Whatever comes in whatever order, the store and its indexes are what a plain map would be, and
// the changes that it told lead from nothing to there.
template <class T>
void try_store(std::uint64_t seed) {
  rt::VirtualLoop loop(seed);
  const auto here = loop.actor("main");
  Store<T> store(here, {.indexed_labels = {"cluster"}});
  std::map<ObjectKey, std::int64_t> told;
  store.subscribe([&](const typename Store<T>::Change& change) {
    const auto known = told.find(change.key);
    ASSERT_EQ(known != told.end(), change.before != nullptr);
    if (change.before) EXPECT_EQ(known->second, change.before->size);
    if (change.after)
      told[change.key] = change.after->size;
    else
      told.erase(change.key);
  });

  struct Truth {
    int version;
    std::string owner;
    std::string cluster;
  };
  std::map<std::string, Truth> truth;
  int version = 0;
  auto& random = *here.random;
  const auto pick = [&](const char* prefix, std::uint64_t bound) {
    return prefix + std::to_string(random.below(bound));
  };
  const auto text = [](const std::string& name, const Truth& thing) {
    return Text(name, thing.version, owner(thing.owner) + label("cluster", thing.cluster));
  };
  const auto change_something = [&] {
    const auto name = pick("x", 6);
    if (random.below(3) == 0) {
      if (!truth.erase(name)) return std::pair(std::string(), std::string());
      ++version;
      return std::pair(std::string("D"), name);
    }
    truth[name] = {++version, pick("o", 3), pick("c", 3)};
    return std::pair(std::string("A"), name);
  };
  const auto relist = [&](bool complete) {
    store.on_init();
    for (const auto& [name, thing] : truth)
      if (complete || random.below(2)) EXPECT_TRUE(store.on_init_apply(text(name, thing)));
    if (complete) store.on_init_done(rv(version));
  };

  relist(true);
  for (int i = 0; i < 60; ++i) {
    switch (random.below(6)) {
      case 0:  // a gap: changes that are never told, then a new list, perhaps after failed ones
        for (int n = 0; n < 5; ++n) (void)change_something();
        if (random.below(2)) relist(false);
        relist(true);
        break;
      default: {
        const auto [what, name] = change_something();
        if (what == "A") EXPECT_TRUE(store.on_apply(text(name, truth.at(name))));
        if (what == "D") EXPECT_TRUE(store.on_delete(Text(name, version)));
      }
    }
    ASSERT_EQ(store.size(), truth.size());
    ASSERT_EQ(told.size(), truth.size());
    for (const auto& [name, thing] : truth) {
      const auto found = store.find(key(name));
      ASSERT_NE(found, nullptr);
      EXPECT_TRUE(store.contains(key(name)));
      EXPECT_EQ(found->meta.key, key(name));
      EXPECT_EQ(found->meta.uid, Uid("u-" + name));
      EXPECT_EQ(found->size, thing.version);
      EXPECT_EQ(told.at(key(name)), thing.version);
    }
    for (int n = 0; n < 3; ++n) {
      const auto of = [&](auto matches) {
        return static_cast<std::size_t>(std::count_if(truth.begin(), truth.end(), matches));
      };
      const auto o = "o" + std::to_string(n);
      const auto c = "c" + std::to_string(n);
      if constexpr (requires { store.owned_by(Uid(o)); })
        EXPECT_EQ(store.owned_by(Uid(o)).size(), of([&](auto& e) { return e.second.owner == o; }));
      EXPECT_EQ(store.labelled("cluster", c).size(),
                of([&](auto& e) { return e.second.cluster == c; }));
    }
  }
}

TEST(StoreProperty, EqualsAPlainMap) { for_seeds(40, try_store<Thing>); }
TEST(StoreProperty, EqualsAPlainMapWhileObjectsSleep) { for_seeds(40, try_store<Sleeper>); }

TEST(SleepingStore, AHandleStaysGoodWhenItsObjectIsGone) {
  rt::VirtualLoop loop(1);
  Store<Sleeper> store(loop.actor("main"), {.indexed_labels = {"cluster"}});
  store.on_init();
  EXPECT_TRUE(store.on_init_apply(Text("a", 1, label("cluster", "x"))));
  store.on_init_done(rv(5));
  const auto found = store.labelled("cluster", "x");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(store.on_delete(Text("a", 7)));
  EXPECT_EQ(found[0]->meta.key, key("a"));
  EXPECT_EQ(found[0]->size, 1);
  EXPECT_TRUE(store.labelled("cluster", "x").empty());
}

}  // namespace
}  // namespace quorate::kube
