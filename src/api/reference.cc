#include <fmt/format.h>

#include <string>
#include <vector>

#include "api/crd.h"
#include "json/document.h"

// docs/reference.md, rendered from the schemas: what kubectl explain shows, on one page.
namespace quorate::api {
namespace {

std::string text_of(const json::Object& schema, std::string_view key) {
  const auto* value = schema.if_contains(key);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

const json::Object* object_of(const json::Object& schema, std::string_view key) {
  const auto* value = schema.if_contains(key);
  return value ? value->if_object() : nullptr;
}

std::string type_name(const json::Object& schema) {
  if (schema.if_contains("x-kubernetes-int-or-string")) return "quantity";
  if (const auto* names = schema.if_contains("enum")) {
    std::string out;
    for (const auto& name : names->as_array())
      out += (out.empty() ? "`" : ", `") + std::string(name.as_string()) + "`";
    return out;
  }
  auto type = text_of(schema, "type");
  if (type == "array") return "list of " + type_name(*object_of(schema, "items"));
  if (const auto* values = object_of(schema, "additionalProperties"))
    return "table of " + type_name(*values);
  auto format = text_of(schema, "format");
  return format == "date-time" ? "time" : type;
}

bool is_required(const json::Object& parent, std::string_view field) {
  const auto* required = parent.if_contains("required");
  if (!required) return false;
  for (const auto& name : required->as_array())
    if (name.as_string() == field) return true;
  return false;
}

std::string limits_of(const json::Object& schema) {
  std::string out;
  const auto* least = schema.if_contains("minimum");
  const auto* most = schema.if_contains("maximum");
  if (least && most)
    out = fmt::format(" {} to {}.", json::render(*least), json::render(*most));
  else if (least)
    out = fmt::format(" At least {}.", json::render(*least));
  return out;
}

void render_rules(const json::Object& schema, std::string& out) {
  const auto* rules = schema.if_contains("x-kubernetes-validations");
  if (!rules) return;
  for (const auto& rule : rules->as_array())
    out += fmt::format("- {}\n", json::text_or(rule, "/message", ""));
  out += "\n";
}

void render_object(const std::string& path, const json::Object& schema, std::string& out);

void render_fields(const json::Object& schema, std::string& out) {
  out += "| field | type | meaning |\n|---|---|---|\n";
  for (const auto& member : *object_of(schema, "properties")) {
    const auto& field = member.value().as_object();
    auto meaning = text_of(field, "description") + limits_of(field);
    if (is_required(schema, member.key())) meaning += " Required.";
    if (const auto* fallback = field.if_contains("default"))
      meaning += fmt::format(" Default: `{}`.", json::render(*fallback));
    out += fmt::format("| `{}` | {} | {} |\n", std::string_view(member.key()), type_name(field),
                       meaning);
  }
  out += "\n";
}

void render_object(const std::string& path, const json::Object& schema, std::string& out) {
  out += fmt::format("### {}\n\n{}\n\n", path, text_of(schema, "description"));
  render_fields(schema, out);
  render_rules(schema, out);
  for (const auto& member : *object_of(schema, "properties")) {
    const json::Object* inner = &member.value().as_object();
    auto name = path + "." + std::string(member.key());
    if (text_of(*inner, "type") == "array") {
      inner = object_of(*inner, "items");
      name += "[]";
    }
    // The target repeats the spec.
    if (object_of(*inner, "properties") && member.key() != "target")
      render_object(name, *inner, out);
  }
}

}  // namespace

GeneratedFile render_reference() {
  std::string out =
      "# Reference\n\n"
      "Every field of every kind. Generated from `src/api`; do not edit. Unknown fields are "
      "refused; quantities are strings or integers.\n\n";
  for (const auto& crd : make_crds()) {
    const auto& version = json::find(crd, "/spec/versions/0")->as_object();
    const auto& schema = *object_of(*object_of(version, "schema"), "openAPIV3Schema");
    auto kind = json::text_or(crd, "/spec/names/kind", "");
    out += fmt::format("## {}\n\n{} Short name: `{}`.\n\n", kind, text_of(schema, "description"),
                       json::text_or(crd, "/spec/names/shortNames/0", ""));
    render_rules(schema, out);
    for (const char* part : {"spec", "status"})
      render_object(part, object_of(schema, "properties")->at(part).as_object(), out);
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return {"docs/reference.md", out};
}

}  // namespace quorate::api
