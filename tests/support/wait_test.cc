#include "tests/support/wait.h"

#include <gtest/gtest.h>

#include "tests/support/fixture_error.h"

namespace quorate::support {
namespace {

using namespace std::chrono_literals;

TEST(Eventually, ReturnsWhenTheConditionHolds) {
  int looks = 0;
  eventually(10s, "the third look", [&] { return ++looks == 3; });
  EXPECT_EQ(looks, 3);
}

TEST(Eventually, SaysWhereWhatAndWhatWasSeenLast) {
  try {
    eventually(20ms, "three voters", [] { return Look(false, "two voters"); });
    FAIL() << "it held";
  } catch (const FixtureError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("wait_test.cc:"), std::string::npos) << text;
    EXPECT_NE(text.find("three voters"), std::string::npos) << text;
    EXPECT_NE(text.find("last seen: two voters"), std::string::npos) << text;
  }
}

TEST(Eventually, LooksOnceMoreAfterTheDeadline) {
  int looks = 0;
  eventually(0ms, "the first look", [&] { return ++looks == 1; });
  EXPECT_EQ(looks, 1);
}

TEST(Eventually, LetsOtherFailuresPass) {
  EXPECT_THROW(eventually(10s, "x", []() -> Look { throw std::logic_error("other"); }),
               std::logic_error);
}

}  // namespace
}  // namespace quorate::support
