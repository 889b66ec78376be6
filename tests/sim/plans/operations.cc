#include "tests/sim/plans/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/crd.h"
#include "api/names.h"
#include "base/check.h"
#include "base/strings.h"
#include "json/document.h"
#include "tests/sim/plans/dice.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

std::string pointer_of(std::string_view property) {
  std::string out;
  for (const auto part : split(property, '.')) out += "/" + std::string(part);
  return out;
}

// ---- The schema ----

const json::Value& spec_schema() {
  static const json::Value kSchema = [] {
    for (const auto& crd : api::make_crds()) {
      if (json::text_or(crd, "/spec/names/kind", "") != api::kClusterKind.kind) continue;
      const auto* spec = json::find(crd, "/spec/versions/0/schema/openAPIV3Schema/properties/spec");
      CHECK(spec, "the EtcdCluster's definition has no spec");
      return *spec;
    }
    CHECK(false, "there is no definition of the EtcdCluster");
    return json::Value();
  }();
  return kSchema;
}

void walk(const json::Value& schema, const std::string& path, std::vector<std::string>& out) {
  const auto* properties = json::find(schema, "/properties");
  if (!properties || !properties->is_object()) {
    out.push_back(path);
    return;
  }
  for (const auto& [name, below] : properties->as_object())
    walk(below, path.empty() ? std::string(name) : path + "." + std::string(name), out);
}

const json::Value& schema_of(std::string_view property) {
  const auto* schema = &spec_schema();
  for (const auto part : split(property, '.')) {
    schema = json::find(*schema, "/properties/" + std::string(part));
    CHECK(schema, "no property {}", property);
  }
  return *schema;
}

// ---- Values ----

json::Value draw_text(Dice& dice, std::string_view property) {
  static const std::map<std::string_view, std::vector<const char*>> kTexts{
      {"version", {"3.4.23", "3.5.35", "3.6.15", "3.6.16", "3.7.3", "3.6.99", "3.5.1", "latest"}},
      {"image.repository", {"registry.example/etcd", "gcr.io/etcd-development/etcd", "UPPER"}},
      {"image.tag", {"v3.6.16", "v0.0.0", "no such/tag"}},
      {"image.digest",
       {"sha256:0000000000000000000000000000000000000000000000000000000000000000", "sha256:short"}},
      {"storage.claim.storageClassName", {"standard", "absent", "No_Class"}}};
  auto known = kTexts.find(property);
  if (known == kTexts.end()) return dice.below(3) == 0 ? "x y" : "some-name";
  return json::Value(dice.pick(known->second));
}

json::Value draw_quantity(Dice& dice) {
  constexpr const char* kQuantities[] = {"100m", "250m", "1", "64Mi", "1Gi",
                                         "2Gi",  "16Gi", "0", "-1",   "much"};
  return json::Value(dice.pick(kQuantities));
}

json::Value draw_value(Dice& dice, const json::Value& schema, std::string_view property) {
  if (const auto* choices = json::find(schema, "/enum"); choices && choices->is_array()) {
    const auto which = dice.below(choices->as_array().size() + 1);
    return which < choices->as_array().size() ? choices->as_array()[which] : json::Value("Other");
  }
  if (json::flag_at(schema, "/x-kubernetes-int-or-string").value_or(false))
    return draw_quantity(dice);
  const auto type = json::text_or(schema, "/type", "");
  if (type == "boolean") return dice.below(2) == 0;
  if (type == "integer") {
    const auto least = json::integer_at(schema, "/minimum").value_or(0);
    const auto most = json::integer_at(schema, "/maximum").value_or(100);
    const auto span = static_cast<std::uint64_t>(most - least + 3);
    return least - 1 + static_cast<std::int64_t>(dice.below(span));
  }
  if (type == "array") {
    const auto* items = json::find(schema, "/items");
    json::Array list;
    for (auto count = dice.below(3); count > 0 && items; --count)
      list.push_back(draw_value(dice, *items, property));
    return list;
  }
  if (type == "object") return json::Object();
  return draw_text(dice, property);
}

// Where the objects around it are not there yet they are made.
void put(json::Value& spec, std::string_view property, json::Value value) {
  auto* at = &spec;
  const auto parts = split(property, '.');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    auto& below = at->as_object()[std::string(parts[i])];
    if (!below.is_object()) below = json::Object();
    at = &below;
  }
  at->as_object()[std::string(parts.back())] = std::move(value);
}

Duration draw_time(Dice& dice, const Scenario& scenario) {
  // Half of all edits fall into the first seconds, in which clusters form.
  const Duration whole = dice.below(2) == 0 ? Duration(12s) : scenario.length * 8 / 10;
  return 100ms + std::chrono::milliseconds(dice.below(static_cast<std::uint64_t>(whole / 1ms)));
}

}  // namespace

const std::vector<std::string>& spec_properties() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> out;
    walk(spec_schema(), "", out);
    return out;
  }();
  return kAll;
}

std::vector<Edit> draw_edits(const Scenario& scenario, std::uint64_t seed) {
  std::vector<Edit> out;
  if (!scenario.base) return out;
  Dice dice(seed ^ 0x5eedf00dULL);
  std::vector<Duration> times;
  for (auto count = 20 + dice.below(20); count > 0; --count)
    times.push_back(draw_time(dice, scenario));
  std::sort(times.begin(), times.end());
  auto spec = *scenario.base;
  for (const auto at : times) {
    if (spec != *scenario.base && dice.below(2) == 0) {
      spec = *scenario.base;
      out.push_back({at, {}, "rolled back", spec});
      continue;
    }
    const auto& property = dice.pick(spec_properties());
    const bool stands = json::find(spec, pointer_of(property)) != nullptr;
    if (stands && dice.below(3) == 0) {
      json::remove(spec, pointer_of(property));
      out.push_back({at, property, "unset", spec});
      continue;
    }
    put(spec, property, draw_value(dice, schema_of(property), property));
    out.push_back({at, property, stands ? "changed" : "set", spec});
  }
  return out;
}

void declare_base(World& world, const std::string& cluster, const json::Value& base) {
  if (world.declare(cluster, base)) return;
  const auto there = world.cluster(cluster);
  const auto* spec = there ? json::find(*there, "/spec") : nullptr;
  if (!spec) return;
  auto accepted = *spec;
  for (const auto& property : spec_properties()) {
    auto next = accepted;
    if (const auto* wanted = json::find(base, pointer_of(property)))
      put(next, property, *wanted);
    else
      json::remove(next, pointer_of(property));
    if (next != accepted && world.declare(cluster, next)) accepted = std::move(next);
  }
}

json::Value encode(const std::vector<Edit>& edits) {
  json::Array out;
  for (const auto& edit : edits)
    out.push_back(json::Object{{"atMs", edit.at / 1ms},
                               {"property", edit.property},
                               {"how", edit.how},
                               {"spec", edit.spec}});
  return out;
}

Result<std::vector<Edit>> decode_edits(const json::Value& value) {
  std::vector<Edit> out;
  if (!value.is_array()) return fail(Code::kInvalid, "edits are a list");
  for (const auto& one : value.as_array()) {
    const auto* spec = json::find(one, "/spec");
    if (!spec) return fail(Code::kInvalid, "an edit without a spec");
    out.push_back({std::chrono::milliseconds(json::integer_at(one, "/atMs").value_or(0)),
                   std::string(json::text_or(one, "/property", "")),
                   std::string(json::text_or(one, "/how", "")), *spec});
  }
  return out;
}

}  // namespace quorate::sim
