// The OpenAPI documents held to those of the real server: the types of every kind that we hold,
// field by field, and what can be asked of it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "conform_kube_judge.h"
#include "conform_kube_known.h"
#include "conform_kube_servers.h"
#include "tests/support/wait.h"

namespace quorate::conform {
namespace {

using namespace std::chrono_literals;

json::Value get(rt::Loop& loop, kube::Api& api, const std::string& path) {
  const Step step{.method = "GET", .path = path, .body = nullptr, .from = {}};
  auto reply = loop.run(ask(loop.runtime(), api, step, {})).value();
  return reply.at("body");
}

// A schema without what our tables do not hold: prose, defaults and the values of enumerations. A
// reference may stand inside of an allOf, which lets a description stand beside it.
json::Value reduced(const json::Value& schema) {
  if (!schema.is_object()) return schema;
  json::Object out;
  for (const auto& [key, value] : schema.get_object()) {
    if (key == "description" || key == "default" || key == "enum") continue;
    if (key == "properties") {
      json::Object properties;
      for (const auto& [name, property] : value.get_object()) properties[name] = reduced(property);
      out[key] = std::move(properties);
    } else if (key == "allOf" && value.get_array().size() == 1) {
      const auto inner = reduced(value.get_array()[0]);
      for (const auto& [name, member] : inner.get_object()) out[name] = member;
    } else if (key == "required") {
      std::set<std::string> sorted;
      for (const auto& name : value.get_array()) sorted.emplace(name.get_string());
      out[key] = json::Array(sorted.begin(), sorted.end());
    } else {
      out[key] = key == "items" || key == "additionalProperties" ? reduced(value) : value;
    }
  }
  return out;
}

// An empty list where there is nothing.
json::Value member_of(const json::Value& object, std::string_view name) {
  const auto* found = object.get_object().if_contains(name);
  return found ? *found : json::Array();
}

// Those of the operation, and those of all operations of its path.
std::set<std::string> parameters_of(const json::Value& item, const json::Value& operation) {
  std::set<std::string> names;
  for (const auto& owner : {item, operation}) {
    const auto parameters = member_of(owner, "parameters");
    for (const auto& one : parameters.get_array()) names.emplace(json::text_or(one, "/name", ""));
  }
  return names;
}

// Of the document: the schemas and the operations that stand in `ours`, too.
json::Value comparable(const json::Value& document, const json::Value& ours) {
  json::Object schemas, operations;
  for (const auto& [name, schema] : ours.at_pointer("/components/schemas").get_object()) {
    const auto* found = document.at_pointer("/components/schemas").get_object().if_contains(name);
    if (found) schemas[name] = reduced(*found);
  }
  for (const auto& [path, item] : ours.at("paths").get_object())
    for (const auto& [method, operation] : item.get_object()) {
      if (method == "parameters") continue;
      const auto* found = document.at("paths").get_object().if_contains(path);
      found = found ? found->get_object().if_contains(method) : nullptr;
      if (!found) continue;
      const auto parameters = parameters_of(item, operation);
      json::Array shared;
      for (const auto& name : parameters_of(document.at("paths").at(path), *found))
        if (parameters.contains(name)) shared.emplace_back(name);
      operations[fmt::format("{} {}", std::string_view(method), std::string_view(path))] =
          json::Object{{"of", member_of(*found, "x-kubernetes-group-version-kind")},
                       {"action", member_of(*found, "x-kubernetes-action")},
                       {"parameters", std::move(shared)}};
    }
  return json::Object{{"schemas", std::move(schemas)}, {"operations", std::move(operations)}};
}

TEST(KubeConformance, OpenapiSaysOfOurKindsWhatTheRealServerSays) {
  rt::Loop loop;
  RealKube real(loop);
  OurKube ours(loop);
  auto known = known_differences(kOfOpenapi);
  const auto index = get(loop, ours.api(), "/openapi/v3");
  support::eventually(60s, "both of our kinds are described", [&] {
    const auto document = get(loop, real.api(), "/openapi/v3/apis/quorate.io/v1alpha1");
    const auto* schemas = json::find(document, "/components/schemas");
    return support::Look(schemas &&
                             schemas->get_object().contains("io.quorate.v1alpha1.EtcdCluster") &&
                             schemas->get_object().contains("io.quorate.v1alpha1.EtcdMember"),
                         json::render(document).substr(0, 200));
  });
  EXPECT_EQ(index.at("paths").get_object().size(), 8u) << json::render(index);
  for (const auto& [place, entry] : index.at("paths").get_object()) {
    // Without the hash that an index of a moment ago may have named.
    const auto path = fmt::format("/openapi/v3/{}", std::string_view(place));
    EXPECT_EQ(json::text_or(entry, "/serverRelativeURL", ""), path);
    const auto own = get(loop, ours.api(), path), other = get(loop, real.api(), path);
    const auto left = comparable(other, own), right = comparable(own, own);
    EXPECT_NE(compare_replies("GET " + path, left, right, known), Agreement::kDifferent)
        << std::string_view(place) << '\n'
        << describe_difference(left, right);
  }
  for (const auto& difference : known)
    EXPECT_GT(difference.used, 0) << difference.id << " is listed but was not seen: is it so?";
}

}  // namespace
}  // namespace quorate::conform
