#include "cli/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/facts_test.h"

namespace quorate::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kNodeGone = R"({"waiting": [{"rule": "heal", "verdict": "waiting",
    "reason": "NodeGone", "message": "its node may still return",
    "since": "2026-05-01T11:59:00Z", "deadline": "2026-05-01T12:04:00Z"}]})";

TEST(Changes, AreAllOfItAtFirst) {
  const auto lines = changes({}, state_cluster(make_facts()));
  EXPECT_THAT(lines, Contains("n/c: Ready, 3/3 ready, etcd 3.6.16"));
  EXPECT_THAT(lines,
              Contains("member c-1: leader, ready, 3.6.16, on node-2, Pod Running, volume 1Gi"));
  EXPECT_THAT(lines, Contains("certificates: valid until 2026-08-01"));
}

TEST(Changes, AreNoneWhereOnlyMeasuresMove) {
  const auto before = make_facts();
  auto after = before;
  after.records[0].status.db_size = "21Mi";
  after.records[0].status.raft_lag = 7;
  EXPECT_THAT(changes(state_cluster(before), state_cluster(after)), IsEmpty());
}

TEST(Changes, TellWhoChangedAndNothingElse) {
  const auto before = make_facts();
  auto after = before;
  after.pods[2].phase = plan::PodPhase::kFailed;
  EXPECT_THAT(changes(state_cluster(before), state_cluster(after)),
              ElementsAre(AllOf(HasSubstr("member c-2: learner"), HasSubstr("Pod Failed"))));
  after = before;
  after.records.pop_back();
  EXPECT_THAT(changes(state_cluster(before), state_cluster(after)),
              ElementsAre("member c-2: gone"));
}

TEST(Changes, TellThatAWaitBeganAndThatItIsOver) {
  const auto content = state_cluster(make_facts());
  const auto waits = state_cluster(make_facts("{}", kNodeGone));
  EXPECT_THAT(changes(content, waits),
              ElementsAre("heal: waits: NodeGone: its node may still return"));
  EXPECT_THAT(changes(waits, content), ElementsAre("heal: content"));
}

TEST(Changes, TellAnEventAgainWhenItHappensAgain) {
  auto before = make_facts();
  EventView event;
  event.kind = "Pod";
  event.name = "c-0";
  event.reason = "BackOff";
  event.message = "restarting";
  before.events = {event};
  auto after = before;
  after.events[0].count = 2;
  EXPECT_THAT(changes(state_cluster(before), state_cluster(after)),
              ElementsAre("event: BackOff Pod c-0: restarting (2 times)"));
  after.events.clear();
  EXPECT_THAT(changes(state_cluster(before), state_cluster(after)), IsEmpty()) << "forgotten";
}

TEST(Changes, OfAFleetAreALineForEachCluster) {
  const std::vector<ListedCluster> before{{"", make_cluster()}};
  const std::vector<ListedCluster> after{{"", make_cluster("{}", R"({"ready": "2/3"})")}};
  EXPECT_THAT(changes(state_fleet(before), state_fleet(after)),
              ElementsAre("n/c: Ready, 2/3 ready, etcd 3.6.16"));
  EXPECT_THAT(changes(state_fleet(before), {}), ElementsAre("n/c: gone"));
}

TEST(Changes, OfAnExplanationHoldTheAdvice) {
  EXPECT_THAT(
      changes(state_why(make_cluster()), state_why(make_cluster("{}", kNodeGone))),
      Contains(AllOf(HasSubstr("heal: waits: NodeGone"), HasSubstr("you can: bring the node"))));
}

}  // namespace
}  // namespace quorate::cli
