#include "tests/integration/crd_mutations.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "api/crd.h"
#include "tests/support/fixture_error.h"

namespace quorate::test {
namespace {

using json::Array;
using json::Object;
using json::Value;

const Value& spec_schema() {
  static const Value schema = [] {
    for (const auto& crd : api::make_crds())
      if (json::text_or(crd, "/spec/names/kind", "") == "EtcdCluster")
        return *json::find(crd, "/spec/versions/0/schema/openAPIV3Schema/properties/spec");
    throw support::FixtureError("no CRD of EtcdCluster");
  }();
  return schema;
}

std::string_view type_of(const Value& schema) {
  if (json::find(schema, "/x-kubernetes-int-or-string")) return "quantity";
  return json::text_or(schema, "/type", "");
}

std::optional<std::int64_t> number_at(const Value& schema, std::string_view field) {
  const auto found = json::integer_at(schema, "/" + std::string(field));
  return found ? std::optional(*found) : std::nullopt;
}

// Texts that fit a pattern: the last part of the path tells them apart well enough.
std::string sample_text(std::string_view path, const Value& schema, int which) {
  if (const auto* values = json::find(schema, "/enum")) {
    const auto& all = values->get_array();
    return std::string(all[static_cast<std::size_t>(which) % all.size()].get_string());
  }
  static const std::map<std::string_view, std::vector<std::string>> kSamples = {
      {"version", {"3.6.16", "3.7.3"}},
      {"repository", {"registry.example/etcd", "other/etcd"}},
      {"tag", {"v1", "v2"}},
      {"digest", {"sha256:" + std::string(64, 'a'), "sha256:" + std::string(64, 'b')}},
      {"replaceAfter", {"10m", "1h"}},
      {"progressDeadline", {"10m", "1h"}},
      {"pauseBetween", {"10m", "1h"}},
      {"start", {"22:00", "03:30"}},
      {"duration", {"2h", "10m"}},
      {"loadBalancerSourceRanges[]", {"10.0.0.0/8", "192.168.0.0/16"}},
  };
  const auto dot = path.rfind('.');
  const auto found = kSamples.find(dot == std::string_view::npos ? path : path.substr(dot + 1));
  if (found != kSamples.end()) return found->second[static_cast<std::size_t>(which)];
  if (path.starts_with("options.")) return which == 0 ? "5000" : "6000";
  return which == 0 ? "one" : "two";
}

std::string key_of_map(std::string_view path) {
  return path == "options" ? "snapshot-count" : "example.com/key";
}

Value sample(const std::string& path, const Value& schema, int which);

// What an object cannot do without.
Object required_of(const std::string& path, const Value& schema, int which) {
  Object out;
  const auto* required = json::find(schema, "/required");
  if (!required) return out;
  for (const auto& name : required->get_array()) {
    const std::string field(name.get_string());
    const auto* child = json::find(schema, "/properties/" + field);
    out[field] = sample(path + "." + field, *child, which);
  }
  return out;
}

// A good value, the first or another one.
Value sample(const std::string& path, const Value& schema, int which) {
  const auto type = type_of(schema);
  if (type == "quantity")
    return path.ends_with("cpu") ? Value(which + 1) : Value(which == 0 ? "1Gi" : "2Gi");
  if (type == "boolean") return which == 0;
  if (type == "integer") return number_at(schema, "minimum").value_or(1) + which;
  if (type == "string") return Value(sample_text(path, schema, which));
  if (type == "array") return Array{sample(path + "[]", *json::find(schema, "/items"), which)};
  if (const auto* values = json::find(schema, "/additionalProperties"))
    return Object{{key_of_map(path), sample(path + ".*", *values, which)}};
  return required_of(path, schema, which);
}

// A field of the schema, and the way to it from the top.
struct Field {
  std::string path;
  const Value* schema = nullptr;
  struct Step {
    std::string path;  // of the object that the step leads out of
    const Value* schema;
    std::string name;  // of a property; "[]" and "*" for items
  };
  std::vector<Step> way;
};

void walk(const Field& at, std::vector<Field>& out) {
  out.push_back(at);
  const auto go = [&](const std::string& name, const Value& schema) {
    Field child = at;
    child.way.push_back({at.path, at.schema, name});
    const bool item = name == "[]";
    child.path += (at.path.empty() || item ? "" : ".") + name;
    child.schema = &schema;
    walk(child, out);
  };
  if (const auto* properties = json::find(*at.schema, "/properties"))
    for (const auto& [name, schema] : properties->get_object()) go(std::string(name), schema);
  if (const auto* items = json::find(*at.schema, "/items")) go("[]", *items);
  if (const auto* values = json::find(*at.schema, "/additionalProperties"))
    if (values->is_object()) go("*", *values);
}

const std::vector<Field>& fields() {
  static const std::vector<Field> all = [] {
    std::vector<Field> out;
    walk({"", &spec_schema(), {}}, out);
    return out;
  }();
  return all;
}

// The whole spec in which the field has this value; absent: the field is not there.
Value spec_with(const Field& field, std::optional<Value> content) {
  for (auto step = field.way.rbegin(); step != field.way.rend(); ++step) {
    if (step->name == "[]") {
      Array items;
      if (content) items.push_back(std::move(*content));
      content = std::move(items);
      continue;
    }
    auto around = required_of(step->path, *step->schema, 0);
    const auto name = step->name == "*" ? key_of_map(step->path) : step->name;
    around.erase(name);
    if (content) around[name] = std::move(*content);
    content = std::move(around);
  }
  return content.value_or(Object());
}

// ---- What can be wrong ----

using Wrong = std::vector<std::pair<std::string, Value>>;

void spoil_text(const Field& field, Wrong& out) {
  for (const auto& [kind, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"empty", ""}, {"blank inside", "a b"}, {"upper case", "A!"}, {"line break", "a\nb"}})
    out.emplace_back(kind, text);
  const auto longest = number_at(*field.schema, "maxLength").value_or(5000);
  out.emplace_back("too long", Value(std::string(static_cast<std::size_t>(longest) + 1, 'a')));
  out.emplace_back("a number", 7);
  out.emplace_back("a list", Array());
}

void spoil_number(const Field& field, Wrong& out) {
  out.emplace_back("a text", "1");
  out.emplace_back("a fraction", 1.5);
  out.emplace_back("huge", std::int64_t{1} << 40);
  out.emplace_back("negative", -1);
  if (auto least = number_at(*field.schema, "minimum")) out.emplace_back("below", *least - 1);
  if (auto most = number_at(*field.schema, "maximum")) out.emplace_back("above", *most + 1);
}

void spoil_list(const Field& field, Wrong& out) {
  out.emplace_back("an object", Object());
  out.emplace_back("empty", Array());
  const auto& items = *json::find(*field.schema, "/items");
  const auto most = number_at(*field.schema, "maxItems").value_or(100);
  Array many;
  for (std::int64_t i = 0; i <= most; ++i) many.push_back(sample(field.path + "[]", items, 0));
  out.emplace_back("too many", std::move(many));
}

void spoil_map(const Field& field, Wrong& out) {
  const auto value =
      sample(field.path + ".*", *json::find(*field.schema, "/additionalProperties"), 0);
  out.emplace_back("bad key", Object{{"a b", value}});
  out.emplace_back("empty key", Object{{"", value}});
  const auto most = number_at(*field.schema, "maxProperties").value_or(100);
  Object many;
  for (std::int64_t i = 0; i <= most; ++i) many[fmt::format("key-{}", i)] = value;
  out.emplace_back("too many", std::move(many));
}

void spoil_object(const Field& field, Wrong& out) {
  auto whole = required_of(field.path, *field.schema, 0);
  out.emplace_back("empty", Object());
  auto more = whole;
  more["noSuchField"] = 1;
  out.emplace_back("unknown field", std::move(more));
  for (const auto& [name, value] : whole) {
    auto without = whole;
    without.erase(name);
    out.emplace_back("without " + std::string(name), std::move(without));
  }
}

Wrong spoil(const Field& field) {
  Wrong out;
  out.emplace_back("null", nullptr);
  const auto type = type_of(*field.schema);
  if (type == "quantity") {
    for (const char* text : {"-1", "0", "1x", "", "1e3", "1.5", "NaN", "100Ei"})
      out.emplace_back(fmt::format("\"{}\"", text), text);
    out.emplace_back("a fraction", 1.5);
    out.emplace_back("a boolean", true);
  } else if (type == "boolean") {
    out.emplace_back("a text", "true");
    out.emplace_back("a number", 1);
  } else if (type == "integer") {
    spoil_number(field, out);
  } else if (type == "string") {
    spoil_text(field, out);
  } else if (type == "array") {
    spoil_list(field, out);
  } else {
    out.emplace_back("a text", "x");
    out.emplace_back("a list", Array());
    if (json::find(*field.schema, "/additionalProperties"))
      spoil_map(field, out);
    else
      spoil_object(field, out);
  }
  return out;
}

}  // namespace

std::vector<Mutant> make_mutants() {
  std::vector<Mutant> out;
  for (const auto& field : fields()) {
    if (field.path.empty()) continue;
    const auto values = json::find(*field.schema, "/enum");
    const int good = values ? static_cast<int>(values->get_array().size()) : 2;
    for (int which = 0; which < good; ++which)
      out.push_back({field.path, fmt::format("good {}", which),
                     spec_with(field, sample(field.path, *field.schema, which))});
    for (auto& [kind, value] : spoil(field))
      out.push_back({field.path, kind, spec_with(field, std::move(value))});
  }
  return out;
}

std::vector<GeneratedEdit> make_edits() {
  std::vector<GeneratedEdit> out;
  for (const auto& field : fields()) {
    if (field.path.empty()) continue;
    const auto first = spec_with(field, sample(field.path, *field.schema, 0));
    const auto second = spec_with(field, sample(field.path, *field.schema, 1));
    out.push_back({field.path, "added", Object(), first});
    out.push_back({field.path, "removed", first, Object()});
    out.push_back({field.path, "changed", first, second});
  }
  return out;
}

std::vector<std::string> all_fields() {
  std::vector<std::string> out;
  for (const auto& field : fields()) out.push_back(field.path);
  return out;
}

}  // namespace quorate::test
