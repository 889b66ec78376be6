#include "base/result.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/ids.h"

namespace quorate {
namespace {

Result<int> half(int n) {
  if (n % 2) return fail(Code::kInvalid, "odd");
  return n / 2;
}
Result<void> need_even(int n) {
  TRY(half(n));
  return {};
}
Result<int> quarter(int n) {
  TRY(auto h, half(n));
  TRY(auto q, in("second half", half(h)));
  return q;
}

TEST(Try, BindsTheValueOrReturnsTheError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().text(), "second half: odd");
  EXPECT_EQ(quarter(3).error().text(), "odd");
  EXPECT_TRUE(need_even(2));
  EXPECT_EQ(need_even(1).error().code(), Code::kInvalid);
}

TEST(Error, RendersOperationsFromTheOutsideInThenTheCause) {
  auto error =
      Error(Code::kUnavailable, "no leader").in("etcd").in("remove member 8e9e05c52164694d");
  EXPECT_EQ(error.text(), "remove member 8e9e05c52164694d: etcd: no leader");
  auto outer = Error(Code::kInternal, "gave up").caused_by(error);
  EXPECT_EQ(outer.text(), "gave up: remove member 8e9e05c52164694d: etcd: no leader");
}

TEST(Error, AnOperationAddedToACopyLeavesTheOriginalAlone) {
  const Error original(Code::kConflict, "x");
  EXPECT_EQ(original.in("outer").text(), "outer: x");
  EXPECT_EQ(original.text(), "x");
}

TEST(Check, ThrowsWithConditionAndDetail) {
  try {
    CHECK(1 == 2, "n is {}", 7);
    FAIL() << "CHECK let a broken invariant pass";
  } catch (const BrokenInvariant& broken) {
    EXPECT_NE(std::string(broken.what()).find("1 == 2: n is 7"), std::string::npos);
  }
}

TEST(HexId, ReadsWhatEtcdctlShows) {
  EXPECT_EQ(MemberId(0x8e9e05c52164694dULL).text(), "8e9e05c52164694d");
  EXPECT_EQ(MemberId::parse("8e9e05c52164694d")->value(), 0x8e9e05c52164694dULL);
  EXPECT_FALSE(MemberId::parse("8e9g"));
  EXPECT_FALSE(MemberId::parse(""));
}

}  // namespace
}  // namespace quorate
