#include "operator/process_figures.h"

#include <gtest/gtest.h>

#include <memory>

namespace quorate::op {
namespace {

// Code, constants, vtables, variables and the heap are as they were.
TEST(ProgramPages, GivesBackMemoryAndNothingElse) {
  static int written = 0;
  written = 7;
  const auto kept = std::make_unique<int>(8);
  const auto before = read_process_figures();
  give_back_program_pages();
  const auto after = read_process_figures();
  ASSERT_TRUE(before.resident_bytes && after.resident_bytes);
  EXPECT_LT(*after.resident_bytes, *before.resident_bytes);
  EXPECT_EQ(written, 7);
  EXPECT_EQ(*kept, 8);
}

}  // namespace
}  // namespace quorate::op
