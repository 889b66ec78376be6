#include "tests/sim/invariants/linearizability.h"

#include <gtest/gtest.h>

namespace quorate::sim {
namespace {

Monotonic at(int time) { return Monotonic(std::chrono::seconds(time)); }

Operation put(std::string value, int called, int returned) {
  Operation out;
  out.kind = Operation::Kind::kPut;
  out.outcome = Operation::Outcome::kOk;
  out.value = std::move(value);
  out.called = at(called);
  out.returned = at(returned);
  return out;
}

Operation get(std::string value, int called, int returned) {
  auto out = put(std::move(value), called, returned);
  out.kind = Operation::Kind::kGet;
  return out;
}

Operation unknown(std::string value, int called, int returned) {
  auto out = put(std::move(value), called, returned);
  out.outcome = Operation::Outcome::kUnknown;
  return out;
}

TEST(Linearizability, OneAfterTheOtherIsFine) {
  EXPECT_TRUE(is_linearizable(
      {get("", 0, 1), put("a", 2, 3), get("a", 4, 5), put("b", 6, 7), get("b", 8, 9)}));
}

TEST(Linearizability, AReadOfWhatWasOverwrittenIsNot) {
  EXPECT_FALSE(is_linearizable({put("a", 0, 1), put("b", 2, 3), get("a", 4, 5)}));
}

TEST(Linearizability, AnAcknowledgedWriteThatNobodySeesIsNot) {
  EXPECT_FALSE(is_linearizable({put("a", 0, 1), get("", 2, 3)}));
}

TEST(Linearizability, OverlappingOnesMayTakeEitherOrderButOnlyOne) {
  EXPECT_TRUE(is_linearizable({put("a", 0, 5), put("b", 1, 4), get("a", 6, 7)}));
  EXPECT_TRUE(is_linearizable({put("a", 0, 5), put("b", 1, 4), get("b", 6, 7)}));
  EXPECT_FALSE(is_linearizable({put("a", 0, 5), put("b", 1, 4), get("a", 6, 7), get("b", 8, 9)}));
}

TEST(Linearizability, AReadMaySeeAWriteUnderWay) {
  EXPECT_TRUE(is_linearizable({put("a", 0, 1), put("b", 2, 9), get("b", 3, 4)}));
  EXPECT_FALSE(is_linearizable({put("a", 0, 1), put("b", 2, 9), get("b", 3, 4), get("a", 5, 6)}));
}

TEST(Linearizability, AWriteOfUnknownOutcomeMayHappenLateOrNever) {
  EXPECT_TRUE(is_linearizable({put("a", 0, 1), unknown("b", 2, 3), get("a", 4, 5)}));
  EXPECT_TRUE(
      is_linearizable({put("a", 0, 1), unknown("b", 2, 3), get("a", 4, 5), get("b", 6, 7)}));
  EXPECT_FALSE(
      is_linearizable({put("a", 0, 1), unknown("b", 2, 3), get("b", 4, 5), get("a", 6, 7)}));
}

TEST(Linearizability, AValueThatNobodyWroteIsNot) {
  EXPECT_FALSE(is_linearizable({put("a", 0, 1), get("z", 2, 3)}));
}

TEST(Linearizability, ManyThatOverlapAreSearchedInTime) {
  std::vector<Operation> operations;
  for (int i = 0; i < 400; ++i) {
    operations.push_back(put("a" + std::to_string(i), 3 * i, 3 * i + 4));
    operations.push_back(get("a" + std::to_string(i), 3 * i + 1, 3 * i + 4));
  }
  EXPECT_TRUE(is_linearizable(operations));
}

}  // namespace
}  // namespace quorate::sim
