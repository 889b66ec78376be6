#include "plan/hashes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "plan/world_test.h"

// Members of one cluster whose data differ.
namespace quorate::plan {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MemberHash hash_of(int ordinal, std::uint32_t hash, std::int64_t compacted = 0) {
  return {
      Ordinal(ordinal), World::member_id(Ordinal(ordinal)), {3, 6, 16}, Revision(compacted), hash};
}

// As the observer does it: the last two are kept.
void ask(World& world, std::vector<MemberHash> hashes) {
  auto& rounds = world.seen.hash_rounds;
  if (rounds.size() > 1) rounds.erase(rounds.begin());
  rounds.push_back({world.seen.now.monotonic, Revision(120), std::move(hashes)});
}

World with_rounds(std::vector<MemberHash> first, std::vector<MemberHash> second) {
  auto world = formed(3);
  ask(world, std::move(first));
  world.advance(seconds(10));
  ask(world, std::move(second));
  world.answer();
  return world;
}

const std::vector<MemberHash> kSame = {hash_of(0, 7), hash_of(1, 7), hash_of(2, 7)};
const std::vector<MemberHash> kOther = {hash_of(0, 7), hash_of(1, 7), hash_of(2, 9)};

std::vector<std::string> doubts(World& world) { return codes_of(world.decide(), "doubt"); }

TEST(Hashes, FreezeTheClusterIfTwoMembersDifferTwice) {
  auto world = with_rounds(kOther, kOther);
  scale(world, 1);
  const auto decision = world.decide();
  EXPECT_THAT(codes_of(decision, "doubt"), ElementsAre("HashesDiffer"));
  EXPECT_EQ(disruptive_step(decision), nullptr);
  EXPECT_EQ(condition(*decision.status, "Frozen"), "True");
  EXPECT_THAT(message_of(decision, "HashesDiffer"), HasSubstr("c-2 00000009"));
}

TEST(Hashes, ThatDifferedOnceFreezeNothingAndAreAskedForAgain) {
  auto world = formed(3);
  ask(world, kOther);
  world.answer();
  EXPECT_THAT(doubts(world), IsEmpty());
  EXPECT_FALSE(world.decide().ask_hashes) << "a moment later";
  EXPECT_LE(world.decide().look_again_in, kHashAgain);
  world.advance(seconds(10));
  world.answer();
  EXPECT_TRUE(world.decide().ask_hashes);
  ask(world, kSame);
  EXPECT_THAT(doubts(world), IsEmpty());
  EXPECT_FALSE(world.decide().ask_hashes);
}

TEST(Hashes, OfDifferentPairsAreNoProof) {
  auto world = with_rounds({hash_of(0, 7), hash_of(1, 8)}, {hash_of(1, 7), hash_of(2, 9)});
  EXPECT_THAT(doubts(world), IsEmpty());
}

TEST(Hashes, AreComparedOverTheSameCompactionAlone) {
  const std::vector<MemberHash> compacted = {hash_of(0, 7, 50), hash_of(1, 9, 60)};
  auto world = with_rounds(compacted, compacted);
  EXPECT_THAT(doubts(world), IsEmpty());
}

TEST(Hashes, AreComparedWithinOneMinorVersionAlone) {
  auto other = kOther;
  other[2].version = {3, 5, 35};
  auto world = with_rounds(other, other);
  EXPECT_THAT(doubts(world), IsEmpty());
  other[2].version = {3, 6, 15};
  world = with_rounds(other, other);
  EXPECT_THAT(doubts(world), ElementsAre("HashesDiffer"));
}

// ---- When members are asked ----

TEST(Hashes, AreAskedForHourly) {
  auto world = formed(3);
  ask(world, kSame);
  world.advance(seconds(3599));
  world.answer();
  EXPECT_FALSE(world.decide().ask_hashes);
  world.advance(seconds(1));
  world.answer();
  EXPECT_TRUE(world.decide().ask_hashes);
}

TEST(Hashes, AreFirstAskedForWithinAnHourEachClusterAtItsTime) {
  auto world = formed(3);
  world.seen.known_since = world.seen.now.monotonic;
  const auto turn = std::chrono::ceil<seconds>(hash_turn(world.seen.cluster.uid, hours(1)));
  ASSERT_GT(turn, seconds(0));
  ASSERT_LT(turn, hours(1));
  world.advance(turn - seconds(1));
  world.answer();
  EXPECT_FALSE(world.decide().ask_hashes);
  world.advance(seconds(1));
  world.answer();
  EXPECT_TRUE(world.decide().ask_hashes);
  std::set<Duration> turns;
  for (int i = 0; i < 100; ++i) turns.insert(hash_turn(Uid("uid-" + std::to_string(i)), hours(1)));
  EXPECT_GT(turns.size(), 90u);
}

TEST(Hashes, AreAskedForWhenSomebodyHasJoined) {
  auto world = formed(3);
  ask(world, {hash_of(0, 7), hash_of(1, 7)});
  world.advance(seconds(10));
  world.answer();
  EXPECT_TRUE(world.decide().ask_hashes);
}

TEST(Hashes, OfOneMemberAreNotAskedFor) {
  auto world = formed(1);
  world.advance(hours(2));
  world.answer();
  EXPECT_FALSE(world.decide().ask_hashes);
}

// ---- A doubt stands ----

TEST(Hashes, KeepTheDoubtWhenTheOperatorForgets) {
  auto world = with_rounds(kOther, kOther);
  world.pass();
  ASSERT_EQ(condition(world.status(), "Frozen"), "True");
  world.seen.hash_rounds.clear();
  EXPECT_THAT(doubts(world), ElementsAre("HashesDiffer"));
  EXPECT_TRUE(world.decide().ask_hashes) << "at once, whatever its turn";
  ask(world, kOther);
  EXPECT_THAT(doubts(world), ElementsAre("HashesDiffer")) << "nothing speaks against it";
  ask(world, {kSame[0], kSame[1]});
  EXPECT_THAT(doubts(world), ElementsAre("HashesDiffer")) << "the third may have gone to sleep";
  ask(world, kSame);
  EXPECT_THAT(doubts(world), IsEmpty()) << "somebody has mended it";
  world.settle();
  EXPECT_EQ(condition(world.status(), "Frozen"), "False");
}

// The way out: whoever is wrong is removed from etcd by hand. Then all who vote agree, and it is
// replaced.
TEST(Hashes, AgreeOnceTheMemberThatDiffersWasRemovedByHand) {
  auto world = with_rounds(kOther, kOther);
  world.pass();
  ASSERT_EQ(condition(world.status(), "Frozen"), "True");
  std::erase_if(world.list(),
                [](const auto& one) { return one.id == World::member_id(Ordinal(2)); });
  world.end_container("c-2", 1, "");
  world.answer();
  EXPECT_THAT(doubts(world), ElementsAre("HashesDiffer")) << "not compared yet";
  ask(world, {kSame[0], kSame[1]});
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-1", "c-3"));
}

}  // namespace
}  // namespace quorate::plan
