#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "apiserver/registry.h"
#include "apiserver/schema.h"
#include "json/document.h"

// The parts of an OpenAPI document. Inside openapi*.cc.
namespace quorate::apiserver {

// The schemas of a document: the types that its kinds are made of, each once, by name.
class Components {
 public:
  explicit Components(std::string group) : group_(std::move(group)) {}

  // A reference to the kind's own schema, or to that of its lists.
  json::Value of_kind(const Kind& kind);
  json::Value of_list(const Kind& kind);
  // A reference to a type of the table, such as `Scale`, or of our own making, such as `Patch`.
  // `names`: the group, version and kind of a type whose objects are whole.
  json::Value of_type(std::string_view name, const json::Object* names = nullptr);

  json::Object take() { return std::move(schemas_); }

 private:
  [[nodiscard]] std::string name_of(std::string_view type) const;
  [[nodiscard]] std::string name_of(const Kind& kind) const;
  json::Value refer(const std::string& name, json::Object (Components::*make)(const Kind&),
                    const Kind& kind);
  json::Object make_custom(const Kind& kind);
  json::Object make_list(const Kind& kind);
  json::Object make_struct(const Schema& schema);
  json::Value describe(const Schema& schema);
  json::Value describe_bare(const Schema& schema);
  json::Value of_struct(const Schema& schema);

  std::string group_;
  json::Object schemas_;
};

// Group, version and kind, as clients look for them.
[[nodiscard]] json::Object group_version_kind(const Kind& kind);

// What can be asked of a kind.
void add_paths(json::Object& paths, const Kind& kind, Components& components);

}  // namespace quorate::apiserver
