#include "api/crd.h"

#include <fmt/format.h>

#include <array>

#include "api/schema.h"
#include "json/yaml.h"

namespace quorate::api {

// ---- Schemas of values ----

json::Object make_text_schema(const TextRule* rule) {
  json::Object schema{{"type", "string"}};
  if (rule) {
    schema["pattern"] = rule->pattern;
    schema["maxLength"] = rule->max_length;
  }
  return schema;
}

void put_rules(json::Object& schema, std::span<const CelRule> rules) {
  auto& list = schema["x-kubernetes-validations"];
  if (!list.is_array()) list = json::Array();
  for (const auto& rule : rules)
    list.get_array().push_back(json::Object{{"rule", rule.rule}, {"message", rule.message}});
}

namespace {

// As it is written between quotes.
std::string escape_cel(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\') out += '\\';
    out += c;
  }
  return out;
}

void put_key_rule(json::Object& schema, const TextRule& keys) {
  auto rule = fmt::format("self.all(key, size(key) <= {} && key.matches('{}'))", keys.max_length,
                          escape_cel(keys.pattern));
  auto message = fmt::format("every key must be {}", keys.words);
  CelRule one{rule, message};
  put_rules(schema, {&one, 1});
}

void put_quantity_rules(json::Object& schema, const About& about) {
  auto put = [&](const std::string& rule, const std::string& message) {
    CelRule one{rule, message};
    put_rules(schema, {&one, 1});
  };
  if (about.positive)
    put("quantity(string(self)).isGreaterThan(quantity('0'))", "must be more than 0");
  if (about.at_least) {
    auto least = Quantity::of(*about.at_least).text();
    put(fmt::format("quantity(string(self)).compareTo(quantity('{}')) >= 0", least),
        fmt::format("must be at least {}", least));
  }
}

void put_span_rules(json::Object& schema, const About& about) {
  auto put = [&](std::string_view sign, std::string_view words, Span limit) {
    auto rule = fmt::format("duration(self) {} duration('{}')", sign, render_span(limit));
    auto message = fmt::format("must be at {} {}", words, render_span(limit));
    CelRule one{rule, message};
    put_rules(schema, {&one, 1});
  };
  if (about.shortest) put(">=", "least", *about.shortest);
  if (about.longest) put("<=", "most", *about.longest);
}

}  // namespace

void put_about(json::Object& schema, const About& about) {
  schema["description"] = about.text;
  if (about.minimum) schema["minimum"] = *about.minimum;
  if (about.maximum) schema["maximum"] = *about.maximum;
  // Elements of a list, values of a table.
  json::Object* inside = nullptr;
  if (about.max_items) {
    const bool is_list = schema.contains("items");
    schema[is_list ? "maxItems" : "maxProperties"] = about.max_items;
    inside = &schema[is_list ? "items" : "additionalProperties"].as_object();
  }
  if (!about.list_key.empty()) {
    schema["x-kubernetes-list-type"] = "map";
    schema["x-kubernetes-list-map-keys"] = json::Array{json::Value(about.list_key)};
  }
  if (about.rule) {
    auto& text = inside ? *inside : schema;
    text["pattern"] = about.rule->pattern;
    text["maxLength"] = about.rule->max_length;
  }
  if (about.key_rule) put_key_rule(schema, *about.key_rule);
  put_quantity_rules(schema, about);
  put_span_rules(schema, about);
}

namespace {

// ---- Rules on the whole EtcdCluster ----

// What a formed cluster cannot have changed: only the object as a whole sees that it has formed.
constexpr std::string_view kFormed = "has(oldSelf.status) && has(oldSelf.status.clusterID)";

std::string same_or_both_absent(std::string_view field) {
  return fmt::format(
      "has(self.spec.{0}) == has(oldSelf.spec.{0}) && "
      "(!has(self.spec.{0}) || self.spec.{0} == oldSelf.spec.{0})",
      field);
}

json::Object make_rule(const std::string& rule, std::string_view message) {
  return {{"rule", rule}, {"message", message}};
}

// By the table of releases: the minors that we run, and no patch below a floor.
std::string supported_version() {
  std::string minors;
  std::string defective;
  for (const auto& release : etcd_releases()) {
    minors += fmt::format("{}self.spec.version.startsWith('3.{}.')", minors.empty() ? "" : " || ",
                          release.minor);
    for (int patch = 0; patch < release.floor; ++patch)
      defective += fmt::format("{}'3.{}.{}'", defective.empty() ? "" : ", ", release.minor, patch);
  }
  return fmt::format("!has(self.spec.version) || (({}) && !(self.spec.version in [{}]))", minors,
                     defective);
}

// A limit is not below its request, which is always there: given, or by default.
std::string limit_holds(std::string_view field) {
  return fmt::format(
      "!has(self.spec.resources.limits) || !has(self.spec.resources.limits.{0}) || "
      "quantity(string(self.spec.resources.limits.{0})).compareTo("
      "quantity(string(self.spec.resources.requests.{0}))) >= 0",
      field);
}

void put_spec_rules(json::Array& rules) {
  rules.push_back(
      make_rule(fmt::format("self.metadata.name.size() <= {} && self.metadata.name.matches('{}')",
                            kMaxClusterName, kClusterNamePattern),
                fmt::format("metadata.name must be at most {} characters: {}", kMaxClusterName,
                            kClusterNameRule.words)));
  rules.push_back(
      make_rule(supported_version(),
                fmt::format("spec.version must be 3.{} to 3.{}, as in {}; 3.5.0 to 3.5.2 "
                            "can corrupt data",
                            etcd_releases().front().minor, etcd_releases().back().minor,
                            kDefaultEtcdVersion)));
  rules.push_back(make_rule("self.spec.replicas > 0 || !has(self.spec.storage.emptyDir)",
                            "spec.replicas must be at least 1: data in an emptyDir goes with its "
                            "Pod"));
  for (const char* field : {"cpu", "memory"})
    rules.push_back(
        make_rule(limit_holds(field),
                  fmt::format("spec.resources.limits.{} must be at least the request", field)));
}

// A version that is not declared is the one that was pinned when the cluster was made.
void put_change_rules(json::Array& rules) {
  std::string same_minor = "has(oldSelf.status.target) && has(oldSelf.status.target.version)";
  for (const auto& release : etcd_releases())
    same_minor += fmt::format(
        " && self.spec.version.matches('{0}') == oldSelf.status.target.version.matches('{0}')",
        fmt::format("^3[.]{}[.]", release.minor));
  rules.push_back(
      make_rule(fmt::format("!({}) || !has(self.spec.version) || ({}) || ({})", kFormed,
                            same_or_both_absent("version"), same_minor),
                "spec.version of a formed cluster can be changed to another patch version of the "
                "same minor release alone, for now"));
}

json::Array make_cluster_rules() {
  json::Array rules;
  put_spec_rules(rules);
  put_change_rules(rules);
  return rules;
}

// ---- Definitions ----

struct Column {
  std::string_view name;
  std::string_view type;
  std::string_view path;
};

constexpr std::array kClusterColumns{
    Column{"Ready", "string", ".status.ready"},
    Column{"Status", "string", ".status.phase"},
    Column{"Version", "string", ".status.version.current"},
    Column{"Leader", "string", ".status.leader"},
    Column{"DB", "string", ".status.storage.dbSize"},
    Column{"Age", "date", ".metadata.creationTimestamp"},
};
constexpr std::array kMemberColumns{
    Column{"Cluster", "string", ".spec.clusterName"},
    Column{"ID", "string", ".spec.memberID"},
    Column{"Role", "string", ".spec.role"},
    Column{"Ready", "boolean", ".status.ready"},
    Column{"Version", "string", ".status.version"},
    Column{"DB Size", "string", ".status.dbSize"},
    Column{"DB In Use", "string", ".status.dbInUse"},
    Column{"Lag", "integer", ".status.raftLag"},
    Column{"Age", "date", ".metadata.creationTimestamp"},
};

json::Array make_columns(std::span<const Column> columns) {
  json::Array out;
  for (const auto& column : columns)
    out.push_back(
        json::Object{{"name", column.name}, {"type", column.type}, {"jsonPath", column.path}});
  return out;
}

// The target is a spec that was checked before it was taken up: it is not described once more.
json::Object make_cluster_status_schema() {
  auto schema = SchemaOf<ClusterStatus>::make();
  auto& target = schema["properties"].as_object()["target"].as_object();
  target = json::Object{{"type", "object"},
                        {"description", target["description"]},
                        {"x-kubernetes-preserve-unknown-fields", true},
                        {"properties", json::Object{{"version", SchemaOf<EtcdVersion>::make()}}}};
  return schema;
}

json::Object make_object_schema(std::string_view text, json::Object spec, json::Object status,
                                json::Array rules) {
  json::Object schema{
      {"type", "object"},
      {"description", text},
      {"required", json::Array{"spec"}},
      {"properties",
       json::Object{
           {"apiVersion", json::Object{{"type", "string"}}},
           {"kind", json::Object{{"type", "string"}}},
           {"metadata", json::Object{{"type", "object"}}},
           {"spec", std::move(spec)},
           {"status", std::move(status)},
       }},
  };
  if (!rules.empty()) schema["x-kubernetes-validations"] = std::move(rules);
  return schema;
}

json::Value make_crd(const KindNames& names, json::Object schema, json::Object subresources,
                     std::span<const Column> columns) {
  return json::Object{
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata", json::Object{{"name", fmt::format("{}.{}", names.plural, kGroup)}}},
      {"spec",
       json::Object{
           {"group", kGroup},
           {"names", json::Object{{"kind", names.kind},
                                  {"listKind", fmt::format("{}List", names.kind)},
                                  {"plural", names.plural},
                                  {"singular", names.singular},
                                  {"shortNames", json::Array{json::Value(names.short_name)}},
                                  {"categories", json::Array{"quorate"}}}},
           {"scope", "Namespaced"},
           {"versions", json::Array{json::Object{
                            {"name", kVersion},
                            {"served", true},
                            {"storage", true},
                            {"additionalPrinterColumns", make_columns(columns)},
                            {"subresources", std::move(subresources)},
                            {"schema", json::Object{{"openAPIV3Schema", std::move(schema)}}},
                        }}},
       }},
  };
}

}  // namespace

std::vector<json::Value> make_crds() {
  json::Object scale{{"specReplicasPath", ".spec.replicas"},
                     {"statusReplicasPath", ".status.replicas"},
                     {"labelSelectorPath", ".status.selector"}};
  return {
      make_crd(kClusterKind,
               make_object_schema("An etcd cluster.", SchemaOf<ClusterSpec>::make(),
                                  make_cluster_status_schema(), make_cluster_rules()),
               {{"status", json::Object()}, {"scale", std::move(scale)}}, kClusterColumns),
      make_crd(
          kMemberKind,
          make_object_schema("The record of one member of an EtcdCluster. The operator writes it.",
                             SchemaOf<MemberSpec>::make(), SchemaOf<MemberStatus>::make(), {}),
          {{"status", json::Object()}}, kMemberColumns),
  };
}

std::vector<GeneratedFile> render_crds() {
  std::vector<GeneratedFile> files;
  for (const auto& crd : make_crds())
    files.push_back(
        {fmt::format("deploy/crds/{}.yaml", json::text_or(crd, "/spec/names/plural", "")),
         "# Generated from src/api; do not edit.\n" + json::render_yaml(crd)});
  return files;
}

}  // namespace quorate::api
