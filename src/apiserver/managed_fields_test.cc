#include "apiserver/managed_fields.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "apiserver/builtin_types.h"
#include "apiserver/managed_fields_typed.h"

namespace quorate::apiserver {
namespace {

const Schema& pod_schema() {
  static const SchemaRef kSchema = find_builtin_type("Pod");
  return *kSchema;
}

Writer writer(std::string manager, int second = 0) {
  return {std::move(manager), "v1", "", WallTime(std::chrono::seconds(second))};
}

json::Value containers(json::Array list) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", "p"}}},
          {"spec", {{"containers", std::move(list)}}}};
}

std::string order_of(const json::Value& pod) {
  std::string out;
  for (const auto& container : *json::array_at(pod, "/spec/containers").value())
    out += std::string(json::text_or(container, "/name", "")) + " ";
  return out;
}

TEST(FieldSet, ReadsWhatItWrites) {
  const auto text = json::parse(
      R"({"f:a":{},"f:b":{".":{},"f:c":{}},"f:l":{"k:{\"name\":\"x\"}":{".":{},"f:v":{}},"v:1":{}}})");
  const auto set = FieldSet::parse(*text).value();
  EXPECT_EQ(json::render_sorted(set.render()), json::render_sorted(*text));
  EXPECT_EQ(set.texts(), (std::vector<std::string>{".a", ".b", ".b.c", R"(.l[name="x"])", ".l[=1]",
                                                   R"(.l[name="x"].v)"}));
}

TEST(FieldSet, RefusesWhatIsNoSet) {
  for (const char* bad : {R"({"a":{}})", R"({"f:a":1})", R"({"k:x":{}})", "[]", R"({".":{}})"})
    EXPECT_FALSE(FieldSet::parse(*json::parse(bad))) << bad;
}

TEST(FieldSet, DifferencesTellFieldsFromWhatLiesBelow) {
  const auto set = FieldSet::of_fields({"a", "a.b", "a.c", "d"});
  EXPECT_EQ(set.difference(FieldSet::of_fields({"a", "a.b"})), FieldSet::of_fields({"a.c", "d"}));
  EXPECT_EQ(set.without_below(FieldSet::of_fields({"a"})), FieldSet::of_fields({"d"}));
}

TEST(MergeTyped, ElementsOfBothStandInTheOrderOfTheLatter) {
  const auto element = [](const char* name) { return json::Value{{"name", name}}; };
  const auto under = containers({element("a"), element("b"), element("c")});
  const auto over = containers({element("c"), element("x"), element("a")});
  EXPECT_EQ(order_of(merge_typed(under, over, pod_schema())), "b c x a ");
}

TEST(FindMisfit, NamesTheFirstThingThatDoesNotFit) {
  EXPECT_EQ(find_misfit({{"spec", {{"nope", 1}}}}, pod_schema()),
            ".spec.nope: field not declared in schema");
  EXPECT_EQ(find_misfit(containers({{{"name", "a"}}, {{"name", "a"}}}), pod_schema()),
            R"(.spec.containers: duplicate entries for key [name="a"])");
  EXPECT_EQ(find_misfit(containers({{{"name", "a"}, {"image", "i"}}}), pod_schema()), std::nullopt);
}

TEST(TrackUpdate, TheOldestOfMoreThanTenUpdatersBecomeOne) {
  json::Value live;
  const auto schema = find_builtin_type("ConfigMap");
  json::Value object{{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"metadata", {{"name", "c"}}},
                     {"data", {{"k0", "v"}}}};
  track_update(object, nullptr, *schema, writer("m0", 0), {});
  live = object;
  for (int i = 1; i <= 12; ++i) {
    object = live;
    (void)json::put(object, "/data/k" + std::to_string(i), "v");
    track_update(object, live, *schema, writer("m" + std::to_string(i), i), {});
    live = object;
  }
  const auto& entries = *json::array_at(live, "/metadata/managedFields").value();
  ASSERT_EQ(entries.size(), 10U);
  EXPECT_EQ(json::text_or(entries[0], "/manager", ""), "ancient-changes");
}

// Whoever writes what they own already only changes a time: that is done without reading the sets.
// Owners that are sent as something else than they are make it take the long way.
TEST(TrackUpdate, TheShortWayEndsWhereTheLongOneDoes) {
  const auto schema = find_builtin_type("ConfigMap");
  std::mt19937 chance(7);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(chance() % n); };
  json::Value live{{"apiVersion", "v1"},
                   {"kind", "ConfigMap"},
                   {"metadata", {{"name", "c"}}},
                   {"data", {{"k0", "v"}}}};
  track_update(live, nullptr, *schema, writer("m0"), {});
  int short_ones = 0;
  for (int i = 1; i <= 2000; ++i) {
    auto object = live;
    json::remove(object, "/metadata/managedFields");
    for (unsigned edits = below(3); edits > 0; --edits) {
      const auto field = fmt::format("/data/k{}", below(5));
      if (below(4) == 0)
        json::remove(object, field);
      else
        ASSERT_TRUE(json::put(object, field, json::Value(fmt::format("v{}", below(3)))));
    }
    const auto who = writer(fmt::format("m{}", below(3)), i / 3);
    auto long_way = object;
    auto sent = *json::find(live, "/metadata/managedFields");
    for (auto& item : sent.as_array()) item.as_object()["unknown"] = true;
    ASSERT_TRUE(json::put(long_way, "/metadata/managedFields", std::move(sent)));
    track_update(object, live, *schema, who, {});
    track_update(long_way, live, *schema, who, {});
    ASSERT_EQ(json::render(object), json::render(long_way)) << "step " << i;
    auto changed = object, before = live;
    json::remove(changed, "/data");
    json::remove(before, "/data");
    const bool kept = same_but_for_managed_times(changed, before);
    if (kept && !json::equal(*json::find(object, "/data"), *json::find(live, "/data")))
      ++short_ones;
    live = std::move(object);
    if (!json::find(live, "/metadata/managedFields")) break;
  }
  EXPECT_GT(short_ones, 50) << "what was to be shown was not reached";
}

TEST(FieldSet, IsFoundInWhatIsStored) {
  const auto stored = json::parse(R"({"f:a":{},"f:b":{"f:c":{}},"f:d":{".":{},"f:e":{}}})");
  const auto meets = [&](std::vector<std::string> paths) {
    return FieldSet::of_fields(paths).meets(stored->get_object());
  };
  const auto lies = [&](std::vector<std::string> paths) {
    return FieldSet::of_fields(paths).lies_in(stored->get_object());
  };
  EXPECT_TRUE(meets({"a", "x"}));
  EXPECT_TRUE(meets({"b.c"}));
  EXPECT_TRUE(meets({"d"}));
  EXPECT_FALSE(meets({"b"})) << "only what is below it";
  EXPECT_FALSE(meets({"x", "a.x", "b.x"}));
  EXPECT_FALSE(meets({}));
  EXPECT_TRUE(lies({"a", "b.c", "d", "d.e"}));
  EXPECT_FALSE(lies({"a", "x"}));
  EXPECT_FALSE(lies({"b"}));
  EXPECT_TRUE(lies({}));
}

TEST(Apply, AnObjectWithoutOwnersIsOwnedBeforeTheFirstApply) {
  const json::Value live{{"apiVersion", "v1"},
                         {"kind", "ConfigMap"},
                         {"metadata", {{"name", "c"}, {"uid", "1"}}},
                         {"data", {{"a", "1"}}}};
  const json::Value config{{"apiVersion", "v1"},
                           {"kind", "ConfigMap"},
                           {"metadata", {{"name", "c"}}},
                           {"data", {{"a", "2"}}}};
  const auto schema = find_builtin_type("ConfigMap");
  const auto refused = apply_configuration(live, config, *schema, writer("m"), false, {});
  ASSERT_EQ(refused.failure.conflicts.size(), 1U);
  EXPECT_EQ(conflict_message(refused.failure.conflicts),
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.a");
  const auto forced = apply_configuration(live, config, *schema, writer("m"), true, {});
  ASSERT_TRUE(forced.object);
  EXPECT_EQ(json::text_or(*forced.object, "/data/a", ""), "2");
}

TEST(Apply, KubectlTakesOverWhatItAppliedBefore) {
  json::Value live{{"apiVersion", "v1"},
                   {"kind", "ConfigMap"},
                   {"metadata", {{"name", "c"}}},
                   {"data", {{"a", "1"}}}};
  const auto last = json::render(live) + "\n";
  (void)json::put(live, "/metadata/annotations",
                  json::Object{{"kubectl.kubernetes.io/last-applied-configuration", last}});
  const auto schema = find_builtin_type("ConfigMap");
  track_update(live, nullptr, *schema, writer("kubectl-client-side-apply"), {});
  json::Value config{{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"metadata", {{"name", "c"}}},
                     {"data", {{"a", "2"}}}};
  EXPECT_FALSE(apply_configuration(live, config, *schema, writer("other"), false, {}).object);
  const auto taken = apply_configuration(live, config, *schema, writer("kubectl"), false, {});
  ASSERT_TRUE(taken.object);
  EXPECT_EQ(json::text_or(*taken.object, "/data/a", ""), "2");
}

TEST(Types, ZeroValuesAreThoseOfGo) {
  const auto event = make_zero(*find_builtin_type("Event"));
  EXPECT_EQ(json::render_sorted(event),
            R"({"eventTime":null,"firstTimestamp":null,"involvedObject":{},"lastTimestamp":null,)"
            R"("metadata":{},"reportingComponent":"","reportingInstance":"","source":{}})");
}

}  // namespace
}  // namespace quorate::apiserver
