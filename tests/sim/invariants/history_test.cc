#include "tests/sim/invariants/history.h"

#include <gtest/gtest.h>

namespace quorate::sim {
namespace {

void add(History& history, int called, int returned, std::int64_t revision,
         Operation::Outcome outcome = Operation::Outcome::kOk) {
  Operation operation;
  operation.cluster = "c";
  operation.called = Monotonic(std::chrono::seconds(called));
  operation.returned = Monotonic(std::chrono::seconds(returned));
  operation.revision = revision;
  operation.outcome = outcome;
  history.answered.push_back(history.operations.size());
  history.operations.push_back(operation);
}

TEST(RevisionGoingBack, IsFoundWhereALaterOneWasShownBeforeTheCall) {
  History history;
  add(history, 1, 2, 10);
  add(history, 3, 4, 9);
  EXPECT_TRUE(find_revision_going_back(history));
}

TEST(RevisionGoingBack, IsNoneWhereCallsOverlap) {
  History history;
  add(history, 1, 3, 10);
  add(history, 2, 4, 9);
  EXPECT_FALSE(find_revision_going_back(history));
}

TEST(RevisionGoingBack, IsNoneForWhatFailed) {
  History history;
  add(history, 1, 2, 10);
  add(history, 3, 4, 0, Operation::Outcome::kUnknown);
  add(history, 5, 6, 10);
  EXPECT_FALSE(find_revision_going_back(history));
}

}  // namespace
}  // namespace quorate::sim
