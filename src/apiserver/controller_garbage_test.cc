#include "apiserver/controllers_test.h"

namespace quorate::apiserver {
namespace {

class GarbageTest : public ControllersTest {
 protected:
  const Kind& maps() const { return *kinds().config_maps; }
};

TEST_F(GarbageTest, DependentsGoWithTheirOwner) {
  const auto owner = create(maps(), "default", map("owner"));
  const auto child = create(maps(), "default", owned(map("child"), owner));
  create(maps(), "default", owned(map("grandchild"), child));
  remove(maps(), "default", "owner");
  settle();
  EXPECT_TRUE(names(maps(), "default").empty());
}

TEST_F(GarbageTest, AnotherObjectOfTheSameNameIsNotTheOwner) {
  auto stranger = create(maps(), "default", map("owner"));
  (void)json::put(stranger, "/metadata/uid", "00000000-0000-4000-8000-000000000000");
  create(maps(), "default", owned(map("child"), stranger));
  settle();
  EXPECT_EQ(names(maps(), "default"), std::vector<std::string>{"owner"});
}

TEST_F(GarbageTest, AnOwnerThatIsGoneIsStruckFromOneThatHasOthers) {
  const auto one = create(maps(), "default", map("one"));
  const auto two = create(maps(), "default", map("two"));
  create(maps(), "default", owned(owned(map("child"), one), two));
  remove(maps(), "default", "one");
  settle();
  const auto child = get(maps(), "default", "child");
  ASSERT_EQ(json::array_at(child, "/metadata/ownerReferences").value()->size(), 1U);
  EXPECT_EQ(json::text_or(child, "/metadata/ownerReferences/0/name", ""), "two");
}

TEST_F(GarbageTest, AnOwnerInTheForegroundWaitsForThoseThatBlockIt) {
  const auto owner = create(maps(), "default", map("owner"));
  auto child = owned(map("child"), owner, true);
  (void)json::put(child, "/metadata/finalizers", json::Array{"example.com/keep"});
  create(maps(), "default", child);
  remove(maps(), "default", "owner", Propagation::kForeground);
  settle();
  EXPECT_TRUE(there(maps(), "default", "owner"));
  EXPECT_TRUE(is_deleting(get(maps(), "default", "child")));
  merge(maps(), "default", "child", {{"metadata", {{"finalizers", nullptr}}}});
  settle();
  EXPECT_TRUE(names(maps(), "default").empty());
}

TEST_F(GarbageTest, AnOwnerInTheForegroundDoesNotWaitForOthers) {
  const auto owner = create(maps(), "default", map("owner"));
  auto child = owned(map("child"), owner, false);
  (void)json::put(child, "/metadata/finalizers", json::Array{"example.com/keep"});
  create(maps(), "default", child);
  remove(maps(), "default", "owner", Propagation::kForeground);
  settle();
  EXPECT_FALSE(there(maps(), "default", "owner"));
}

TEST_F(GarbageTest, OrphansStay) {
  const auto owner = create(maps(), "default", map("owner"));
  create(maps(), "default", owned(map("child"), owner));
  remove(maps(), "default", "owner", Propagation::kOrphan);
  settle();
  EXPECT_EQ(names(maps(), "default"), std::vector<std::string>{"child"});
  const auto child = get(maps(), "default", "child");
  EXPECT_FALSE(json::find(child, "/metadata/ownerReferences"));
}

TEST_F(GarbageTest, OwnersOfUnknownKindsAreLeftAlone) {
  auto child = map("child");
  (void)json::put(
      child, "/metadata/ownerReferences",
      json::Array{
          {{"apiVersion", "example.com/v1"}, {"kind", "Thing"}, {"name", "x"}, {"uid", "1"}}});
  create(maps(), "default", child);
  settle();
  EXPECT_TRUE(there(maps(), "default", "child"));
}

}  // namespace
}  // namespace quorate::apiserver
