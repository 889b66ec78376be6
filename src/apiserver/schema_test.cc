#include "apiserver/schema.h"

#include <gtest/gtest.h>

#include "apiserver/schema_names.h"
#include "apiserver/schema_pattern.h"
#include "apiserver/schema_rules.h"

namespace quorate::apiserver {
namespace {

bool matches(std::string_view expression, std::string_view text) {
  auto pattern = Pattern::parse(expression);
  EXPECT_TRUE(pattern) << expression;
  return pattern && (*pattern)->matches(text);
}

TEST(Pattern, FindsAnywhereUnlessAnchored) {
  EXPECT_TRUE(matches("b+", "abbc"));
  EXPECT_FALSE(matches("^b+$", "abbc"));
  EXPECT_TRUE(matches("^a(b|c)*d?$", "abcbcb"));
  EXPECT_TRUE(matches("", ""));
}

TEST(Pattern, KnowsClassesCountsAndEscapes) {
  EXPECT_TRUE(matches("^[a-z]([-a-z0-9]*[a-z0-9])?$", "a-b-1"));
  EXPECT_FALSE(matches("^[a-z]([-a-z0-9]*[a-z0-9])?$", "a-"));
  EXPECT_TRUE(matches("^[^/]{2,3}$", "abc"));
  EXPECT_FALSE(matches("^[^/]{2,3}$", "abcd"));
  EXPECT_TRUE(matches(R"(^\d{3}\.\w+$)", "123.x_1"));
  EXPECT_TRUE(matches("^a{2}$", "aa"));
  EXPECT_FALSE(matches("^a{2,}$", "a"));
  EXPECT_TRUE(matches("^x{y$", "x{y"));
}

TEST(Pattern, TakesLinearTimeForWhatBacktrackingCannot) {
  const std::string text(5000, 'a');
  EXPECT_FALSE(matches("^(a*)*(a*)*b$", text));
}

TEST(Pattern, RefusesWhatItDoesNotUnderstand) {
  for (const char* bad : {"(", "[a", "a**b)", "*a", "(?i)a", "\\p{L}", "[z-a]", "a{1001}", "a\\"})
    EXPECT_FALSE(Pattern::parse(bad)) << bad;
}

Result<bool> holds(std::string_view rule, const json::Value& self,
                   const json::Value* old = nullptr) {
  TRY(auto parsed, CelRule::parse(rule, "message"));
  return parsed->holds(self, old);
}

TEST(CelRule, ComparesAndSelects) {
  const json::Value self{{"a", 1}, {"b", {{"c", "x"}}}, {"list", json::Array{1, 2}}};
  EXPECT_TRUE(holds("self.a == 1 && self.b.c == 'x'", self).value());
  EXPECT_TRUE(holds("has(self.b.c) && !has(self.z)", self).value());
  EXPECT_TRUE(holds("self.a in [1, 2] || self.nope == 3", self).value());
  EXPECT_TRUE(holds("self.list.size() >= 2", self).value());
  EXPECT_TRUE(holds("self.b.c.startsWith('x') && self.b.c.matches('^x$')", self).value());
  EXPECT_TRUE(holds("quantity(string(self.a)).compareTo(quantity('500m')) > 0", self).value());
  EXPECT_FALSE(holds("self.a != 1", self).value());
}

TEST(CelRule, AnErrorMattersOnlyIfItDecides) {
  const json::Value self{{"a", 1}};
  EXPECT_FALSE(holds("self.nope == 1", self));
  EXPECT_FALSE(holds("self.nope == 1 || self.a == 2", self));
  EXPECT_TRUE(holds("self.nope == 1 || self.a == 1", self).value());
  EXPECT_FALSE(holds("self.nope == 1 && self.a == 2", self).value());
}

TEST(CelRule, TransitionsHoldWhereThereWasNothing) {
  const json::Value now(2), before(1);
  EXPECT_TRUE(holds("self <= oldSelf", now).value());
  EXPECT_FALSE(holds("self <= oldSelf", now, &before).value());
}

TEST(CelRule, RefusesWhatItDoesNotUnderstand) {
  for (const char* bad :
       {"self.map(x, x > 1)", "self +", "foo(1)", "self ? 1 : 2", "has(self)", ""})
    EXPECT_FALSE(CelRule::parse(bad, "")) << bad;
}

TEST(Schema, RefusesKeywordsThatItWouldNotHold) {
  for (const auto& bad : {json::Value{{"oneOf", json::Array{}}}, json::Value{{"format", "email"}},
                          json::Value{{"anyOf", json::Array{}}},
                          json::Value{{"type", "object"}, {"properties", {{"a", {{"not", 1}}}}}}})
    EXPECT_FALSE(parse_schema(bad)) << json::render(bad);
}

TEST(Schema, WhatStoodBeforeIsNotHeldAgainstAnUpdate) {
  const auto schema =
      parse_schema(
          {{"type", "object"},
           {"properties",
            {{"a", {{"type", "string"}, {"maxLength", 1}}}, {"b", {{"type", "integer"}}}}}})
          .value();
  const json::Value old{{"a", "long"}, {"b", 1}}, now{{"a", "long"}, {"b", 2}};
  EXPECT_EQ(validate_schema(now, *schema).size(), 1U);
  EXPECT_TRUE(validate_schema(now, *schema, &old).empty());
  const json::Value worse{{"a", "longer"}, {"b", 1}};
  EXPECT_EQ(validate_schema(worse, *schema, &old).size(), 1U);
}

TEST(FieldErrors, AreSaidOnceInTheMessageAndAllInTheCauses) {
  const FieldErrors errors = {required_value("spec.a"), required_value("spec.a"),
                              invalid_value("spec.b", "x\"y", "bad")};
  EXPECT_EQ(invalid_message("Pod", "p", errors),
            "Pod \"p\" is invalid: [spec.a: Required value, "
            "spec.b: Invalid value: \"x\\\"y\": bad]");
  EXPECT_EQ(make_causes(errors).size(), 3U);
}

}  // namespace
}  // namespace quorate::apiserver
