#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/world_test.h"

// A member on an older copy of its data, from when the cluster was smaller: alone it is a quorum of
// the membership that it knows, and says so (E15).
namespace quorate::plan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Three voters that had applied a thousand entries. c-0 answers as the only one, with fewer; the
// others are down.
World rolled_back(std::uint64_t applied) {
  auto world = formed(3);
  world.seen.applied.clear();
  for (auto& record : world.seen.records)
    record.spec.identity.raft_floor = api::RaftFloor{1000, world.seen.now.wall, 3};
  for (auto& pod : world.seen.pods) pod.etcd.running = pod.name == "c-0";
  world.answer();
  MemberAnswer answer;
  answer.ordinal = Ordinal(0);
  answer.pod = world.pod("c-0")->uid;
  answer.asked_at = world.seen.now.monotonic;
  answer.answered = true;
  answer.cluster_id = World::kClusterId;
  answer.member_id = World::member_id(Ordinal(0));
  answer.leader = answer.member_id;
  answer.version = "3.6.16";
  answer.applied = RaftIndex(applied);
  answer.members = {world.list().front()};
  world.seen.answers = {std::move(answer)};
  return world;
}

TEST(OlderData, DoesNotSayWhoIsAMember) {
  const auto world = rolled_back(40);
  const auto decision = world.decide();
  EXPECT_THAT(message_of(decision, "OlderData"), HasSubstr("c-0"));
  EXPECT_EQ(disruptive_step(decision), nullptr);
  for (const auto& note : steps_of<NoteOnRecord>(decision)) EXPECT_FALSE(note.identity.removed);
  for (const auto& note : steps_of<NoteOnClaim>(decision)) EXPECT_FALSE(note.identity.removed);
}

TEST(OlderData, IsKeptFromClients) {
  auto world = rolled_back(40);
  const auto labels = steps_of<SetServing>(world.decide());
  ASSERT_THAT(labels, Not(IsEmpty()));
  EXPECT_EQ(labels[0].pod, "c-0");
  EXPECT_FALSE(labels[0].serving);
  world.pod("c-0")->serving = false;
  EXPECT_THAT(steps_of<SetServing>(world.decide()), IsEmpty()) << "and it stays so";
  for (const auto& update : steps_of<UpdatePodState>(world.decide())) EXPECT_FALSE(update.serves);
}

// The others were removed one after the other, as everybody else may do by hand.
TEST(OlderData, IsNotWhatWhoHasAppliedEverythingHas) {
  const auto world = rolled_back(1000);
  EXPECT_THAT(codes_of(world.decide(), "doubt"), IsEmpty());
  int removed = 0;
  for (const auto& note : steps_of<NoteOnRecord>(world.decide())) removed += note.identity.removed;
  EXPECT_EQ(removed, 2);
}

}  // namespace
}  // namespace quorate::plan
