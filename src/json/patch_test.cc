#include "json/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <stdexcept>

// Its own asserts become failures that can be compared with ours.
#define JSON_ASSERT(condition) \
  if (!(condition)) throw std::runtime_error("refused")
#include <nlohmann/json.hpp>

#include "json/testing_values.h"

namespace quorate::json {
namespace {

using ::testing::HasSubstr;

nlohmann::json other(const Value& value) { return nlohmann::json::parse(render(value)); }
Value ours(const nlohmann::json& value) { return *parse(value.dump()); }

// RFC 7396, appendix A.
TEST(MergePatch, MatchesThePublishedExamples) {
  const std::string_view rows[][3] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& [target, patch, result] : rows)
    EXPECT_EQ(render(apply_merge_patch(*parse(target), *parse(patch))), result) << patch;
}

RC_GTEST_PROP(MergePatch, DoesWhatAnotherLibraryDoes, ()) {
  const auto target = *testing_values::value(), patch = *testing_values::value();
  auto expected = other(target);
  expected.merge_patch(other(patch));
  RC_ASSERT(apply_merge_patch(target, patch) == ours(expected));
}

// Nulls cannot be said by a merge patch: they are taken out first.
Value without_nulls(const Value& value) {
  if (const auto* array = value.if_array()) {
    Array out;
    for (const auto& element : *array)
      out.push_back(element.is_null() ? 0 : without_nulls(element));
    return out;
  }
  const auto* object = value.if_object();
  if (!object) return value;
  Object out;
  for (const auto& member : *object)
    if (!member.value().is_null()) out[member.key()] = without_nulls(member.value());
  return out;
}

RC_GTEST_PROP(MergePatch, MadeFromTwoDocumentsLeadsFromOneToTheOther, ()) {
  const auto from = *testing_values::value(), to = without_nulls(*testing_values::value());
  const auto patch = make_merge_patch(from, to);
  const auto reached = apply_merge_patch(from, patch);
  RC_ASSERT(without_nulls(reached) == to);
  RC_ASSERT(make_merge_patch(reached, to) == (to.is_object() ? Value(Object()) : to));
}

TEST(MergePatch, IsAsSmallAsCanBe) {
  EXPECT_EQ(render(make_merge_patch(*parse(R"({"a":1,"b":{"c":2,"d":3},"l":[1,2]})"),
                                    *parse(R"({"a":1,"b":{"c":2},"l":[1]})"))),
            R"({"b":{"d":null},"l":[1]})");
}

TEST(JsonPatch, AppliesEveryOperation) {
  const auto result = apply_json_patch(*parse(R"({"a":{"b":[1,2]},"c":5})"), *parse(R"([
      {"op":"test","path":"/c","value":5.0},
      {"op":"add","path":"/a/b/1","value":9},
      {"op":"add","path":"/a/b/-","value":3},
      {"op":"remove","path":"/a/b/0"},
      {"op":"replace","path":"/c","value":{"x":null}},
      {"op":"copy","from":"/a/b","path":"/d"},
      {"op":"move","from":"/c","path":"/a/e"}])"));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(render(*result), R"({"a":{"b":[9,2,3],"e":{"x":null}},"d":[9,2,3]})");
}

TEST(JsonPatch, ReplacesTheWholeDocument) {
  EXPECT_EQ(*apply_json_patch(Object(), *parse(R"([{"op":"add","path":"","value":[1]}])")),
            Value(Array{1}));
}

TEST(JsonPatch, TellsAChangedDocumentFromAMalformedPatch) {
  const auto code = [](std::string_view patch) {
    const auto result = apply_json_patch(*parse(R"({"a":{"b":1},"l":[1]})"), *parse(patch));
    return result ? std::optional<Code>() : result.error().code();
  };
  for (std::string_view patch :
       {R"([{"op":"test","path":"/a/b","value":2}])", R"([{"op":"test","path":"/x","value":1}])",
        R"([{"op":"remove","path":"/x"}])", R"([{"op":"replace","path":"/x","value":1}])",
        R"([{"op":"add","path":"/x/y","value":1}])", R"([{"op":"add","path":"/l/7","value":1}])",
        R"([{"op":"add","path":"/a/b/c","value":1}])", R"([{"op":"move","from":"/x","path":"/y"}])",
        R"([{"op":"copy","from":"/l/-","path":"/y"}])", R"([{"op":"remove","path":"/l/-"}])"})
    EXPECT_EQ(code(patch), Code::kConflict) << patch;
  for (std::string_view patch :
       {R"({})", R"([1])", R"([{}])", R"([{"op":"add","path":"/x"}])",
        R"([{"op":"boo","path":""}])", R"([{"op":"add","value":1}])",
        R"([{"op":"add","path":"x","value":1}])", R"([{"op":"copy","path":"/x"}])",
        R"([{"op":"move","from":"/a","path":"/a/b"}])", R"([{"op":"remove","path":""}])",
        R"([{"op":"add","path":"/~2","value":1}])"})
    EXPECT_EQ(code(patch), Code::kInvalid) << patch;
}

TEST(JsonPatch, NamesTheOperationThatFailed) {
  EXPECT_EQ(apply_json_patch(*parse(R"({"a":1})"),
                             *parse(R"([{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}])"))
                .error()
                .text(),
            "operation 1 (remove /a): the path does not exist");
}

TEST(JsonPatch, CannotMakeAHugeOrDeepDocument) {
  Array doubling, deepening;
  for (int i = 0; i < 60; ++i)
    doubling.push_back(*parse(R"({"op":"copy","from":"/a","path":"/a/-"})"));
  const Limits limits{.bytes = 65'536, .depth = 64};
  EXPECT_EQ(apply_json_patch(*parse(R"({"a":["0123456789"]})"), doubling, limits).error().code(),
            Code::kInvalid);
  for (int i = 0; i < 500; ++i)
    deepening.push_back(*parse(R"([{"op":"move","from":"/a","path":"/b/a"},
                                   {"op":"move","from":"/b","path":"/a"},
                                   {"op":"add","path":"/b","value":{}}])"));
  Array flat = {*parse(R"({"op":"add","path":"/b","value":{}})")};
  for (const auto& group : deepening)
    for (const auto& operation : group.get_array()) flat.push_back(operation);
  EXPECT_EQ(apply_json_patch(*parse(R"({"a":{}})"), flat, limits).error().code(), Code::kInvalid);
}

rc::Gen<std::string> pointer() {
  return rc::gen::map(
      rc::gen::resize(3, rc::gen::container<std::vector<std::string>>(testing_values::key())),
      [](const std::vector<std::string>& names) {
        std::string out;
        for (const auto& name : names) out += "/" + escape_pointer(name);
        return out;
      });
}

rc::Gen<Value> operation() {
  return rc::gen::apply(
      [](const std::string& op, const std::string& path, const std::string& from,
         const Value& value) {
        return Value(Object{{"op", op}, {"path", path}, {"from", from}, {"value", value}});
      },
      rc::gen::element<std::string>("add", "remove", "replace", "move", "copy", "test"), pointer(),
      pointer(), testing_values::value(1));
}

// What the other library does, or nothing if it refuses.
std::optional<nlohmann::json> patched_there(const Value& target, const Value& patch) {
  try {
    return other(target).patch(other(patch));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

const Value* parent_of(const Value& document, std::string_view path) {
  return path.empty() ? nullptr : find(document, path.substr(0, path.rfind('/')));
}

// Where the other library differs by design: the whole document may be removed there, a value moved
// into itself; null becomes an object when something is put into it, and what is taken out of a
// scalar is passed over in silence.
bool differs_there(const Value& document, const Value& step) {
  const auto op = text_or(step, "/op", ""), path = text_or(step, "/path", "");
  const auto from = text_or(step, "/from", "");
  if (op == "move" && path.size() >= from.size()) return true;
  const auto* into = parent_of(document, path);
  if (into && into->is_null()) return true;
  if (op != "remove" && op != "move") return false;
  const auto taken = op == "remove" ? path : from;
  const auto* out_of = parent_of(document, taken);
  return taken.empty() || (out_of && !out_of->is_object() && !out_of->is_array());
}

RC_GTEST_PROP(JsonPatch, DoesWhatAnotherLibraryDoes, ()) {
  const auto target = *testing_values::value();
  const auto operations = *rc::gen::resize(5, rc::gen::container<std::vector<Value>>(operation()));
  Value document = target;
  for (const auto& step : operations) {
    RC_PRE(!differs_there(document, step));
    auto next = apply_json_patch(document, Array{step});
    if (!next) break;
    document = std::move(*next);
  }
  const Value patch(Array(operations.begin(), operations.end()));
  const auto expected = patched_there(target, patch);
  const auto result = apply_json_patch(target, patch);
  RC_CLASSIFY(expected.has_value(), "applied");
  RC_ASSERT(result.has_value() == expected.has_value());
  if (result) RC_ASSERT(equal(*result, ours(*expected)));
}

}  // namespace
}  // namespace quorate::json
