#include <gtest/gtest.h>

#include "tests/sim/invariants/invariant.h"

namespace quorate::sim {
namespace {

// What L3 finds wrong with these counts, held against those of a run without faults.
std::string complaint(const Counts& counts, const Counts& reference) {
  World world({});
  Truth truth(world);
  Findings findings(world);
  Ending ending;
  ending.counts = counts;
  ending.reference = std::make_shared<Counts>(reference);
  l3_same_counts().end(ending, truth, findings);
  return findings.violations().empty() ? "" : findings.violations().front().text;
}

const Counts kShrunk{{"POST pods c-0", 1},
                     {"POST pods c-1", 1},
                     {"POST pods c-2", 1},
                     {"DELETE pods c-2", 1},
                     {"LEFT pods", 2}};

TEST(SameCounts, WhatWasNotWantedAnyMoreWhenItWasSeenNeedNotBeMade) {
  EXPECT_EQ(complaint(kShrunk, kShrunk), "");
  EXPECT_EQ(complaint({{"POST pods c-0", 1}, {"POST pods c-1", 1}, {"LEFT pods", 2}}, kShrunk), "");
}

TEST(SameCounts, WhichMemberGoesMayDiffer) {
  auto other = kShrunk;
  other.erase("DELETE pods c-2");
  other["DELETE pods c-0"] = 1;
  EXPECT_EQ(complaint(other, kShrunk), "");
}

TEST(SameCounts, NothingIsMadeOrDeletedMoreOften) {
  auto other = kShrunk;
  other["POST pods c-1"] = 2;
  EXPECT_EQ(complaint(other, kShrunk), "POST pods c-1: 2 times, 1 without faults");
  other = kShrunk;
  other["DELETE pods c-1"] = 1;
  EXPECT_EQ(complaint(other, kShrunk), "DELETE pods: 2 times, 1 without faults");
}

TEST(SameCounts, AsManyAreLeft) {
  for (const int left : {1, 3}) {
    auto other = kShrunk;
    other["LEFT pods"] = left;
    EXPECT_NE(complaint(other, kShrunk), "") << left;
  }
}

}  // namespace
}  // namespace quorate::sim
