#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/world_test.h"

// What the records say of the size and the pace of members.
namespace quorate::plan {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

void set_figures(World& world, std::int64_t size, std::int64_t in_use) {
  world.answer();
  for (auto& answer : world.seen.answers) {
    answer.db_size = Bytes(size);
    answer.db_in_use = Bytes(in_use);
    answer.applied = RaftIndex(1'000'000);
  }
}

World with_figures(std::int64_t size = 200 << 20, std::int64_t in_use = 100 << 20) {
  auto world = formed(3);
  set_figures(world, size, in_use);
  world.pass();
  return world;
}

const api::MemberStatus& status_of(World& world, const std::string& name) {
  return world.record(name)->status;
}

TEST(Figures, AreToldInFewDigits) {
  auto world = with_figures();
  EXPECT_EQ(status_of(world, "c-0").db_size, "200Mi");
  EXPECT_EQ(status_of(world, "c-0").db_in_use, "100Mi");
  EXPECT_EQ(status_of(world, "c-0").raft_lag, 0);
  auto small = with_figures(954'368, 20'480);
  small.pod("c-0")->ready = false;
  small.pass();
  EXPECT_EQ(status_of(small, "c-0").db_size, "932Ki");
  EXPECT_EQ(status_of(small, "c-0").db_in_use, "20Ki");
}

TEST(Figures, AreNotWorthAWriteUnlessTheyHaveDoubledOrHalved) {
  auto world = with_figures();
  set_figures(world, 399 << 20, 60 << 20);
  EXPECT_THAT(world.decide().member_statuses, IsEmpty());
  set_figures(world, 400 << 20, 100 << 20);
  EXPECT_THAT(world.decide().member_statuses, SizeIs(3));
  set_figures(world, 200 << 20, 50 << 20);
  EXPECT_THAT(world.decide().member_statuses, SizeIs(3));
}

// A few writes double a small database.
TEST(Figures, OfSmallDatabasesAreNotWorthAWrite) {
  auto world = with_figures(20 << 10, 20 << 10);
  set_figures(world, 31 << 20, 10 << 20);
  EXPECT_THAT(world.decide().member_statuses, IsEmpty());
  set_figures(world, 32 << 20, 10 << 20);
  EXPECT_THAT(world.decide().member_statuses, SizeIs(3));
}

TEST(Figures, AreWrittenWithWhateverElseIsWritten) {
  auto world = with_figures();
  set_figures(world, 250 << 20, 100 << 20);
  world.pod("c-1")->ready = false;
  world.pass();
  EXPECT_EQ(status_of(world, "c-1").db_size, "250Mi");
  EXPECT_EQ(status_of(world, "c-0").db_size, "200Mi");
}

TEST(Figures, TellHowFarAMemberIsBehindByItsOrderOfMagnitude) {
  auto world = with_figures();
  const auto lag = [&](std::uint64_t applied) {
    set_figures(world, 20 << 20, 10 << 20);
    for (auto& answer : world.seen.answers)
      if (answer.ordinal == Ordinal(1)) answer.applied = RaftIndex(applied);
    world.pass();
    return status_of(world, "c-1").raft_lag;
  };
  EXPECT_EQ(lag(999'000), 0);
  EXPECT_EQ(lag(995'001), 0);
  EXPECT_EQ(lag(995'000), 5'000);
  EXPECT_EQ(lag(951'000), 5'000);
  EXPECT_EQ(lag(950'000), 50'000);
  EXPECT_EQ(lag(100'000), 500'000);
  EXPECT_EQ(lag(1'000'000), 0);
}

// ---- Of the cluster ----

TEST(ClusterFigures, TellTheLargestDatabase) {
  auto world = with_figures();
  EXPECT_EQ(world.status().storage.db_size, "200Mi");
  set_figures(world, 20 << 20, 10 << 20);
  world.seen.answers[1].db_size = Bytes(1300 << 20);
  world.pass();
  EXPECT_EQ(world.status().storage.db_size, "1300Mi");
}

TEST(ClusterFigures, AreNotWorthAWriteUnlessTheyHaveDoubledOrHalved) {
  auto world = with_figures();
  for (const std::int64_t size : {399, 101, 250}) {
    set_figures(world, size << 20, 60 << 20);
    EXPECT_EQ(world.decide().status, world.seen.cluster.status) << size;
  }
  set_figures(world, 400 << 20, 100 << 20);
  EXPECT_EQ(world.decide().status->storage.db_size, "400Mi");
  set_figures(world, 100 << 20, 50 << 20);
  EXPECT_EQ(world.decide().status->storage.db_size, "100Mi");
}

TEST(ClusterFigures, AreToldWithWhateverElseIsTold) {
  auto world = with_figures();
  set_figures(world, 250 << 20, 100 << 20);
  world.pod("c-1")->ready = false;
  world.pass();
  EXPECT_EQ(world.status().storage.db_size, "250Mi");
  EXPECT_EQ(world.decide().status, world.seen.cluster.status) << "and that is all";
}

// A newer operator does not write to every cluster that it takes over.
TEST(ClusterFigures, OfASmallDatabaseAreNotWorthAFirstWrite) {
  auto world = with_figures(20 << 10, 20 << 10);
  world.seen.cluster.status->storage = {};
  EXPECT_EQ(world.decide().status, world.seen.cluster.status);
  set_figures(world, 32 << 20, 10 << 20);
  EXPECT_EQ(world.decide().status->storage.db_size, "32Mi");
}

TEST(ClusterFigures, StayWhileNobodyAnswers) {
  auto world = with_figures();
  world.silence();
  world.pass();
  EXPECT_EQ(world.status().storage.db_size, "200Mi");
}

// Who was away still names whom it followed before.
TEST(Leader, IsWhomMostFollow) {
  auto world = formed(3);
  world.answer();
  for (std::size_t i = 0; i < 3; ++i)
    world.seen.answers[i].leader = World::member_id(Ordinal(i == 0 ? 1 : 2));
  EXPECT_EQ(world.decide().status->leader, "c-2");
  world.silence();
  EXPECT_EQ(world.decide().status->leader, std::nullopt);
}

}  // namespace
}  // namespace quorate::plan
