#include "base/strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>

namespace quorate {
namespace {

using ::testing::ElementsAre;

TEST(Trim, TakesWhiteSpaceFromBothSidesOnly) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

RC_GTEST_PROP(Split, IsUndoneByJoin, (const std::string& text)) {
  const auto parts = split(text, ',');
  RC_ASSERT(join(std::span<const std::string_view>(parts), ",") == text);
}

TEST(CutText, SplitsAtTheFirstSeparator) {
  const auto halves = cut("a=b=c", "=");
  ASSERT_TRUE(halves);
  EXPECT_EQ(halves->before, "a");
  EXPECT_EQ(halves->after, "b=c");
  EXPECT_FALSE(cut("abc", "="));
}

TEST(ContainsIgnoringCase, FindsAnySpelling) {
  EXPECT_TRUE(contains_ignoring_case("rootPassWord", "password"));
  EXPECT_FALSE(contains_ignoring_case("rootPass", "password"));
  EXPECT_TRUE(contains_ignoring_case("", ""));
}

TEST(ParseInteger, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  for (auto text : {"", "1 ", " 1", "+1", "1x", "9223372036854775808", "0x1"})
    EXPECT_FALSE(parse_integer(text)) << text;
}

TEST(EditDistance, CountsASwapAsOne) {
  EXPECT_EQ(edit_distance("replicas", "replcias"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

RC_GTEST_PROP(EditDistance, IsSymmetricAndZeroOnlyForEquals,
              (const std::string& a, const std::string& b)) {
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
  RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
  RC_ASSERT(edit_distance(a, b) <= std::max(a.size(), b.size()));
}

TEST(NearestName, FindsWhatWasMeantAndNothingFarOff) {
  constexpr std::array<std::string_view, 3> kFields = {"replicas", "version", "storage"};
  EXPECT_EQ(nearest_name("replcias", kFields), "replicas");
  EXPECT_EQ(nearest_name("Storage", kFields), "storage");
  EXPECT_EQ(nearest_name("verison", kFields), "version");
  EXPECT_FALSE(nearest_name("affinity", kFields));
  EXPECT_FALSE(nearest_name("", kFields));
}

}  // namespace
}  // namespace quorate
