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

}  // namespace
}  // namespace quorate::apiserver
