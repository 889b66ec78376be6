#include "tests/sim/plans/figures.h"

#include <gtest/gtest.h>

namespace quorate::sim {
namespace {

Killed killed_by_so_many(std::size_t faults) {
  Killed out;
  out.by = "S1";
  out.faults = faults;
  return out;
}

TEST(Figures, AreCompleteIfEveryMutantDiedOfFewFaults) {
  Figures figures;
  figures.add_mutant("one", killed_by_so_many(Killed::kFewFaults));
  EXPECT_TRUE(figures.complete());
}

TEST(Figures, AreNotCompleteWhereNobodyCanReadWhatKilledAMutant) {
  Figures figures;
  figures.add_mutant("one", killed_by_so_many(Killed::kFewFaults + 1));
  EXPECT_FALSE(figures.complete());
}

TEST(Figures, AreNotCompleteWhileAMutantLives) {
  Figures figures;
  figures.add_mutant("one", Killed());
  EXPECT_FALSE(figures.complete());
}

TEST(Figures, AreNotCompleteIfAPlanWasNotExecuted) {
  Figures figures;
  figures.add_plans(Figures::Plans::kCrash, 2, 1);
  EXPECT_FALSE(figures.complete());
}

}  // namespace
}  // namespace quorate::sim
