#include "apiserver/schema_rules.h"

#include <gtest/gtest.h>

namespace quorate::apiserver {
namespace {

// true, false, an error or, if the rule is not understood, nothing of these.
std::string outcome(const char* rule, const char* self) {
  auto parsed = CelRule::parse(rule, "");
  if (!parsed) return "not understood";
  auto holds = (*parsed)->holds(*json::parse(self), nullptr);
  if (!holds) return "error: " + holds.error().message();
  return *holds ? "true" : "false";
}

TEST(CelRule, AsksEveryElementOfAListAndEveryKeyOfAMap) {
  const char* rule = "self.all(key, size(key) <= 2 && key.matches('^[a-z]+$'))";
  EXPECT_EQ(outcome(rule, R"({"a":"1","bc":"2"})"), "true");
  EXPECT_EQ(outcome(rule, R"({"a":"1","B":"2"})"), "false");
  EXPECT_EQ(outcome(rule, R"({})"), "true");
  EXPECT_EQ(outcome("self.all(one, one in ['a', 'b'])", R"(["a","c"])"), "false");
}

TEST(CelRule, LooksValuesUpByKey) {
  const char* rule = "self.all(key, !(key in ['a']) || self[key] in ['true', 'false'])";
  EXPECT_EQ(outcome(rule, R"({"a":"true","b":"x"})"), "true");
  EXPECT_EQ(outcome(rule, R"({"a":"x"})"), "false");
}

TEST(CelRule, ComparesElementsWithEachOther) {
  const char* rule = "self.all(a, self.exists_one(b, b.key == a.key && b.way == a.way))";
  EXPECT_EQ(outcome(rule, R"([{"key":"x","way":1},{"key":"x","way":2}])"), "true");
  EXPECT_EQ(outcome(rule, R"([{"key":"x","way":1},{"key":"x","way":1}])"), "false");
}

TEST(CelRule, AnErrorCountsUnlessAnElementDecides) {
  EXPECT_EQ(outcome("self.all(one, one.a == 1)", R"([{"b":1}])"), "error: no such key: a");
  EXPECT_EQ(outcome("self.all(one, one.a == 1)", R"([{"b":1},{"a":2}])"), "false");
}

TEST(CelRule, ComparesSpansOfTime) {
  EXPECT_EQ(outcome("duration(self) <= duration('24h')", R"("1440m")"), "true");
  EXPECT_EQ(outcome("duration(self) <= duration('24h')", R"("24h1s")"), "false");
  EXPECT_EQ(outcome("duration(self) == duration('0s')", R"("0m")"), "true");
  EXPECT_EQ(outcome("duration(self) == duration('0s')", R"("soon")"),
            "error: error parsing duration");
  EXPECT_EQ(outcome("duration(self) == duration('0s')", "0"), "error: no such overload");
}

TEST(CelRule, KnowsNoVariableOutsideOfItsMacro) {
  EXPECT_EQ(outcome("self.all(one, true) && one == 1", "[]"), "not understood");
}

}  // namespace
}  // namespace quorate::apiserver
