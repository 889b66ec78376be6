#include "apiserver/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/selection.h"
#include "rt/virtual_loop.h"

namespace quorate::apiserver {
namespace {

using ::testing::ElementsAre;

json::Value object(const std::string& name, json::Object labels = {}) {
  return json::Object{{"kind", "ConfigMap"},
                      {"apiVersion", "v1"},
                      {"metadata", {{"name", name}, {"labels", std::move(labels)}}}};
}

struct StorageTest : ::testing::Test {
  RecordPtr create(const ObjectKey& key) { return storage.create(kind, key, object(key.name)); }

  rt::VirtualLoop loop{1};
  Registry registry;
  const Kind& kind = *registry.built_in().config_maps;
  const Kind& other = *registry.built_in().secrets;
  Storage storage{loop.actor("main"), 4};
};

TEST_F(StorageTest, CountsOneVersionForAllKinds) {
  const auto first = create({"n", "a"});
  const auto second = storage.create(other, {"n", "a"}, object("a"));
  const auto third = storage.update(kind, {"n", "a"}, object("a", {{"x", "y"}}));
  EXPECT_EQ(second->version, first->version + 1);
  EXPECT_EQ(third->version, second->version + 1);
  EXPECT_EQ(storage.version(), third->version);
  EXPECT_EQ(json::text_or(third->value(), "/metadata/resourceVersion", ""),
            std::to_string(third->version));
}

TEST_F(StorageTest, TellsADeletionWithTheLastStateUnderItsOwnVersion) {
  create({"n", "a"});
  const auto before = storage.update(kind, {"n", "a"}, object("a", {{"x", "y"}}));
  const auto gone = storage.remove(kind, {"n", "a"});
  EXPECT_EQ(storage.find(kind, {"n", "a"}), nullptr);
  EXPECT_GT(gone->version, before->version);
  EXPECT_EQ(json::text_or(gone->value(), "/metadata/labels/x", ""), "y");
}

TEST_F(StorageTest, OrdersAsEtcdDoes) {
  for (const ObjectKey& key : {ObjectKey{"a", "x"}, {"a-b", "x"}, {"a0", "x"}, {"a", "b"}})
    create(key);
  std::vector<std::string> keys;
  for (const auto& [key, record] : storage.objects(kind)) keys.push_back(key.text());
  EXPECT_THAT(keys, ElementsAre("a-b/x", "a/b", "a/x", "a0/x"));
}

TEST_F(StorageTest, ShowsThePastAsLongAsItIsRemembered) {
  create({"n", "a"});
  const auto then = storage.version();
  create({"n", "b"});
  storage.update(kind, {"n", "a"}, object("a", {{"x", "y"}}));
  storage.remove(kind, {"n", "a"});
  const auto past = storage.objects_at(kind, then);
  ASSERT_TRUE(past);
  ASSERT_EQ(past->size(), 1u);
  EXPECT_EQ(past->at({"n", "a"})->version, then);

  create({"n", "c"});
  create({"n", "d"});
  EXPECT_FALSE(storage.objects_at(kind, then)) << "four changes are kept";
}

TEST_F(StorageTest, ForgetsTheOldestChangesOfAllKinds) {
  create({"n", "a"});
  const auto first = storage.version();
  for (int i = 0; i < 4; ++i) storage.create(other, {"n", std::to_string(i)}, object("o"));
  EXPECT_EQ(storage.oldest(), first);
  EXPECT_EQ(storage.next_event(kind, first), nullptr);
  storage.create(other, {"n", "5"}, object("o"));
  EXPECT_GT(storage.oldest(), first);
}

TEST_F(StorageTest, CompactionForgetsUpToTheVersionAndNoFurther) {
  create({"n", "a"});
  create({"n", "b"});
  create({"n", "c"});
  storage.compact(storage.version() - 1);
  EXPECT_EQ(storage.oldest(), storage.version() - 1);
  const auto* event = storage.next_event(kind, storage.oldest());
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->key.name, "c");
}

TEST_F(StorageTest, ListenersAreToldInsideOfTheWriteUntilTheyGo) {
  std::vector<std::string> told;
  auto listener = storage.listen([&](const Event& event) { told.push_back(event.key.name); });
  create({"n", "a"});
  EXPECT_THAT(told, ElementsAre("a"));
  listener.reset();
  create({"n", "b"});
  EXPECT_THAT(told, ElementsAre("a"));
}

TEST_F(StorageTest, SelectsByLabelsAndFields) {
  const auto record = storage.create(kind, {"n", "a"}, object("a", {{"app", "x"}, {"tier", "y"}}));
  const auto matches = [&](const char* labels, const char* fields, const char* ns = "") {
    Selection selection{ns, json::LabelSelector::parse(labels).value(),
                        json::FieldSelector::parse(fields).value()};
    return selection.matches(kind, {"n", "a"}, *record);
  };
  EXPECT_TRUE(matches("app=x,tier", "metadata.name=a", "n"));
  EXPECT_FALSE(matches("app!=x", ""));
  EXPECT_FALSE(matches("", "metadata.name!=a"));
  EXPECT_FALSE(matches("", "", "elsewhere"));
  EXPECT_TRUE(matches("!absent", ""));
}

TEST_F(StorageTest, SelectsPodsByWhatTheyRunOn) {
  const Kind& pods = *registry.built_in().pods;
  auto pod = object("p");
  ASSERT_TRUE(json::put(pod, "/spec/nodeName", "n1"));
  const auto record = storage.create(pods, {"n", "p"}, std::move(pod));
  Selection selection;
  selection.fields = json::FieldSelector::parse("spec.nodeName=n1,spec.hostNetwork=false").value();
  EXPECT_TRUE(selection.matches(pods, {"n", "p"}, *record));
  selection.fields = json::FieldSelector::parse("spec.nodeName=").value();
  EXPECT_FALSE(selection.matches(pods, {"n", "p"}, *record));
}

// Sees the storage as it is when a change is written down.
struct Witness : Journal {
  explicit Witness(Storage& watched) : storage(watched) {}
  void commit(const Event& event) override {
    EXPECT_EQ(storage.version() + 1, event.version());
    EXPECT_EQ(storage.find(*event.kind, event.key), event.before) << "nobody sees it yet";
    versions.push_back(event.version());
    if (refuses) throw std::runtime_error("the disk is full");
  }
  Storage& storage;
  std::vector<std::int64_t> versions;
  bool refuses = false;
};

TEST_F(StorageTest, WritesAChangeDownBeforeAnybodySeesIt) {
  Witness witness(storage);
  storage.keep_in(&witness);
  std::vector<std::int64_t> told;
  const auto listener = storage.listen([&](const Event& event) {
    EXPECT_EQ(witness.versions.back(), event.version());
    told.push_back(event.version());
  });
  create({"n", "a"});
  storage.update(kind, {"n", "a"}, object("a", {{"x", "y"}}));
  storage.remove(kind, {"n", "a"});
  EXPECT_EQ(told, witness.versions);
  EXPECT_EQ(told.size(), 3u);
}

TEST_F(StorageTest, ChangesNothingThatCannotBeWrittenDown) {
  create({"n", "a"});
  const auto before = storage.find(kind, {"n", "a"});
  const auto version = storage.version();
  Witness witness(storage);
  witness.refuses = true;
  storage.keep_in(&witness);
  EXPECT_ANY_THROW(create({"n", "b"}));
  EXPECT_ANY_THROW(storage.update(kind, {"n", "a"}, object("a", {{"x", "y"}})));
  EXPECT_ANY_THROW(storage.remove(kind, {"n", "a"}));
  EXPECT_EQ(storage.find(kind, {"n", "a"}), before);
  EXPECT_EQ(storage.find(kind, {"n", "b"}), nullptr);
  EXPECT_EQ(storage.version(), version);
  EXPECT_EQ(storage.next_event(kind, version), nullptr);
}

TEST_F(StorageTest, TakesUpWhatWasKept) {
  create({"n", "gone"});
  std::vector<std::string> told;
  const auto listener =
      storage.listen([&](const Event& event) { told.push_back(event.key.text()); });
  storage.restore({{&kind, {"n", "a"}, 40, object("a", {{"x", "y"}})}}, 42);
  EXPECT_THAT(told, ElementsAre("n/a"));
  EXPECT_EQ(storage.find(kind, {"n", "gone"}), nullptr);
  const auto kept = storage.find(kind, {"n", "a"});
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->version, 40);
  EXPECT_EQ(json::text_or(kept->value(), "/metadata/resourceVersion", ""), "40");
  EXPECT_EQ(storage.version(), 42);
  EXPECT_EQ(storage.oldest(), 42);
  EXPECT_EQ(storage.objects_at(kind, 41), std::nullopt);
  EXPECT_EQ(create({"n", "b"})->version, 43);
}

}  // namespace
}  // namespace quorate::apiserver
