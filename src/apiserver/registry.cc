#include "apiserver/registry.h"

#include <fmt/format.h>

#include <utility>

#include "apiserver/schema_crd.h"

namespace quorate::apiserver {

std::string Kind::api_version() const {
  return group.empty() ? version : fmt::format("{}/{}", group, version);
}

Registry::Registry() {
  add_core();
  add_groups();
}

const Kind* Registry::add(Kind kind) {
  kind.id = kinds_.size();
  kinds_.push_back(std::make_unique<Kind>(std::move(kind)));
  return kinds_.back().get();
}

const Kind* Registry::find(std::string_view group, std::string_view version,
                           std::string_view plural) const {
  for (const auto& kind : kinds_)
    if (kind->group == group && kind->version == version && kind->plural == plural)
      return kind.get();
  return nullptr;
}

const Kind* Registry::find_kind(std::string_view api_version, std::string_view name) const {
  for (const auto& kind : kinds_)
    if (kind->kind == name && kind->api_version() == api_version) return kind.get();
  return nullptr;
}

namespace {

std::vector<std::string> texts_at(const json::Value& value, std::string_view pointer) {
  std::vector<std::string> texts;
  if (const auto list = json::array_at(value, pointer))
    for (const auto& text : **list)
      if (text.is_string()) texts.emplace_back(text.get_string());
  return texts;
}

// ".spec.replicas", as CRDs write paths, as a JSON pointer.
std::string pointer_of(std::string_view path) {
  std::string pointer(path);
  for (char& c : pointer)
    if (c == '.') c = '/';
  return pointer;
}

std::optional<ScalePaths> scale_of(const json::Value& version) {
  const json::Value* scale = json::find(version, "/subresources/scale");
  if (!scale) return std::nullopt;
  return ScalePaths{.replicas = pointer_of(json::text_or(*scale, "/specReplicasPath", "")),
                    .status_replicas = pointer_of(json::text_or(*scale, "/statusReplicasPath", "")),
                    .selector = pointer_of(json::text_or(*scale, "/labelSelectorPath", ""))};
}

}  // namespace

Result<void> Registry::add_crd(const json::Value& crd) {
  if (json::text_or(crd, "/kind", "") != "CustomResourceDefinition")
    return fail(Code::kInvalid, "expected a CustomResourceDefinition");
  TRY(const auto group, json::text_at(crd, "/spec/group"));
  TRY(const auto plural, json::text_at(crd, "/spec/names/plural"));
  TRY(const auto kind, json::text_at(crd, "/spec/names/kind"));
  TRY(const auto* versions, json::array_at(crd, "/spec/versions"));
  for (const auto& version : *versions) {
    if (!json::flag_at(version, "/served").value_or(false)) continue;
    TRY(const auto name, json::text_at(version, "/name"));
    Kind custom;
    custom.group = group;
    custom.version = name;
    custom.plural = plural;
    custom.singular = json::text_or(crd, "/spec/names/singular", "");
    custom.kind = kind;
    custom.namespaced = json::text_or(crd, "/spec/scope", "Namespaced") == "Namespaced";
    custom.short_names = texts_at(crd, "/spec/names/shortNames");
    custom.categories = texts_at(crd, "/spec/names/categories");
    custom.has_status = json::find(version, "/subresources/status") != nullptr;
    custom.scale = scale_of(version);
    custom.custom = true;
    if (const auto* schema = json::find(version, "/schema/openAPIV3Schema"))
      custom.declared = std::make_shared<const json::Value>(*schema);
    TRY(auto rules, make_crd_rules(crd, name));
    custom.rules = rules.get();
    custom_rules_.push_back(std::move(rules));
    TRY(auto printer, make_custom_printer(version));
    custom_printers_.push_back(std::make_unique<const Printer>(std::move(printer)));
    custom.printer = custom_printers_.back().get();
    if (find(group, name, plural))
      return fail(Code::kConflict, fmt::format("{}.{}/{} is served already", plural, group, name));
    add(std::move(custom));
  }
  return {};
}

}  // namespace quorate::apiserver
