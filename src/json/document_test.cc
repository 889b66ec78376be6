#include "json/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "json/testing_values.h"

namespace quorate::json {
namespace {

using ::testing::HasSubstr;

TEST(Parse, KeepsIntegersExact) {
  EXPECT_EQ(render(*parse("[9223372036854775807,-9223372036854775808,18446744073709551615]")),
            "[9223372036854775807,-9223372036854775808,18446744073709551615]");
}

TEST(Parse, KeepsDoublesDoublesAndExact) {
  EXPECT_EQ(
      render(*parse("[1.0,0.1,1e2,5e-324,1.7976931348623157e308,0.30000000000000004,1e-400]")),
      "[1.0,0.1,100.0,5e-324,1.7976931348623157e+308,0.30000000000000004,0.0]");
  EXPECT_TRUE(parse("1e2")->is_double());
}

TEST(Parse, RefusesMalformedTextWithTheByte) {
  for (std::string_view text :
       {"",       " ",   "{",   "[1,]",     "{\"a\":1,}", "{a:1}",       "'a'",
        "01",     "1 2", "nul", "\"\x01\"", "\"\xff\"",   "\"\\ud800\"", "[1]x",
        "/*c*/1", "NaN", "+1",  ".5",       "1.",         "\"a",         "{\"a\"}"}) {
    const auto value = parse(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code(), Code::kCorrupt) << text;
  }
  EXPECT_THAT(parse("{\"a\": tru}").error().text(), HasSubstr("at byte 6"));
}

TEST(Parse, RefusesAKeyGivenTwice) {
  EXPECT_THAT(parse(R"({"a":{"b":1,"c":2,"b":3}})").error().text(),
              HasSubstr("key \"b\" is given twice"));
  EXPECT_FALSE(parse("{\"a\":1,\"\\u0061\":2}"));
  EXPECT_TRUE(parse(R"({"a":{"b":1},"b":{"a":1}})"));
  EXPECT_TRUE(parse(R"([{"a":1},{"a":1}])"));
}

TEST(Parse, RefusesNumbersBeyondADouble) {
  for (std::string_view text : {"1e400", "-1e400", "1e99999999999"})
    EXPECT_EQ(parse(text).error().code(), Code::kCorrupt) << text;
}

TEST(Parse, HoldsToItsLimits) {
  const std::string deep = std::string(50, '[') + std::string(50, ']');
  EXPECT_TRUE(parse(deep, {.bytes = 1000, .depth = 50}));
  EXPECT_EQ(parse(deep, {.bytes = 1000, .depth = 49}).error().code(), Code::kInvalid);
  EXPECT_EQ(parse(deep, {.bytes = 99, .depth = 50}).error().code(), Code::kInvalid);
  EXPECT_FALSE(parse(std::string(1 << 20, '[')));
}

RC_GTEST_PROP(Render, IsReadBackAsTheSame, ()) {
  const auto value = *testing_values::value();
  const auto again = parse(render(value));
  RC_ASSERT(again);
  RC_ASSERT(*again == value);
  RC_ASSERT(render(*again) == render(value));
}

RC_GTEST_PROP(Render, IsReadByOthersAsTheSame, ()) {
  const auto value = *testing_values::value();
  const auto other = nlohmann::json::parse(render(value), nullptr, false);
  RC_ASSERT(!other.is_discarded());
  RC_ASSERT(*parse(other.dump()) == value);
}

TEST(Render, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(render(Value("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(RenderSorted, IsTheSameForEqualDocuments) {
  EXPECT_EQ(render_sorted(*parse(R"({"b":{"d":1,"c":2},"a":[{"z":1,"y":2}]})")),
            R"({"a":[{"y":2,"z":1}],"b":{"c":2,"d":1}})");
}

constexpr std::string_view kPod = R"({
  "metadata": {"name": "c-0", "labels": {"app.kubernetes.io/name": "etcd"}, "generation": 3},
  "spec": {"containers": [{"name": "etcd"}, {"name": "b"}], "hostNetwork": false, "nodeName": null}})";

TEST(Find, WalksObjectsAndArrays) {
  const auto pod = *parse(kPod);
  EXPECT_EQ(*find(pod, "/metadata/name"), "c-0");
  EXPECT_EQ(*find(pod, "/metadata/labels/app.kubernetes.io~1name"), "etcd");
  EXPECT_EQ(*find(pod, "/spec/containers/1/name"), "b");
  EXPECT_EQ(find(pod, ""), &pod);
  for (std::string_view pointer :
       {"metadata", "/none", "/metadata/name/x", "/spec/containers/2", "/spec/containers/01",
        "/spec/containers/-", "/spec/containers/-1", "/metadata/~", "/metadata/~2", "/",
        "/spec/containers/99999999999999999999"})
    EXPECT_EQ(find(pod, pointer), nullptr) << pointer;
}

TEST(TypedGetters, NameThePathAndBothTypes) {
  const auto pod = *parse(kPod);
  EXPECT_EQ(*text_at(pod, "/metadata/name"), "c-0");
  EXPECT_EQ(*integer_at(pod, "/metadata/generation"), 3);
  EXPECT_EQ(*number_at(pod, "/metadata/generation"), 3.0);
  EXPECT_EQ(*flag_at(pod, "/spec/hostNetwork"), false);
  EXPECT_EQ((*array_at(pod, "/spec/containers"))->size(), 2U);
  EXPECT_EQ((*object_at(pod, "/metadata"))->size(), 3U);
  EXPECT_EQ(integer_at(pod, "/metadata/name").error().text(),
            "/metadata/name: expected an integer, found a string");
  EXPECT_EQ(integer_at(pod, "/metadata/name").error().code(), Code::kInvalid);
  EXPECT_EQ(text_at(pod, "/spec/nodeName").error().code(), Code::kNotFound);
  EXPECT_EQ(text_at(pod, "/none").error().text(), "/none: not set");
  EXPECT_EQ(text_or(pod, "/none", "x"), "x");
  EXPECT_FALSE(flag_at(pod, "/metadata"));
  EXPECT_FALSE(object_at(pod, "/spec/containers"));
}

TEST(Put, MakesWhatIsMissingOnTheWay) {
  Value value;
  EXPECT_TRUE(put(value, "/metadata/labels/a~1b", "x"));
  EXPECT_TRUE(put(value, "/metadata/name", "c"));
  EXPECT_TRUE(put(value, "/metadata/labels/a~1b", "y"));
  EXPECT_EQ(render(value), R"({"metadata":{"labels":{"a/b":"y"},"name":"c"}})");
  Value list = {1, 2};
  EXPECT_TRUE(put(list, "/-", 3));
  EXPECT_TRUE(put(list, "/0", 9));
  EXPECT_TRUE(put(list, "/3", Object{{"a", 1}}));
  EXPECT_TRUE(put(list, "/3/b", 2));
  EXPECT_EQ(render(list), R"([9,2,3,{"a":1,"b":2}])");
}

TEST(Put, ChangesNothingWhenItCannot) {
  auto value = *parse(R"({"a": {"b": 1}, "l": [1]})");
  const auto before = value;
  for (std::string_view pointer : {"/a/b/c", "/l/5", "/l/x/y", "a", "/new/x/~3", "/l/0/z"})
    EXPECT_EQ(put(value, pointer, 1).error().code(), Code::kInvalid) << pointer;
  EXPECT_EQ(value, before);
}

TEST(Remove, KeepsTheOrderOfTheRest) {
  auto value = *parse(R"({"a": 1, "b": 2, "c": 3, "l": [1, 2, 3]})");
  EXPECT_TRUE(remove(value, "/a"));
  EXPECT_TRUE(remove(value, "/l/0"));
  EXPECT_FALSE(remove(value, "/a"));
  EXPECT_FALSE(remove(value, "/l/7"));
  EXPECT_FALSE(remove(value, ""));
  EXPECT_EQ(render(value), R"({"b":2,"c":3,"l":[2,3]})");
}

RC_GTEST_PROP(Pointer, EscapesAnyName, (const std::string& name)) {
  Value value;
  RC_ASSERT(put(value, "/" + escape_pointer(name), 1));
  RC_ASSERT(value.get_object().contains(name));
  RC_ASSERT(find(value, "/" + escape_pointer(name)) != nullptr);
  RC_ASSERT(remove(value, "/" + escape_pointer(name)));
}

TEST(Equal, ComparesNumbersByValue) {
  EXPECT_TRUE(equal(1, 1.0));
  EXPECT_TRUE(equal(*parse(R"({"a":[1,{"b":2.0}]})"), *parse(R"({"a":[1.0,{"b":2}]})")));
  EXPECT_FALSE(equal(1, 1.5));
  EXPECT_FALSE(equal(1, "1"));
  EXPECT_FALSE(equal(*parse("[1,2]"), *parse("[1]")));
  EXPECT_FALSE(equal(*parse(R"({"a":1})"), *parse(R"({"b":1})")));
  EXPECT_TRUE(equal(std::uint64_t{5}, std::int64_t{5}));
}

}  // namespace
}  // namespace quorate::json
