#pragma once

#include <optional>
#include <string>

#include "apiserver/managed_fields_set.h"
#include "apiserver/schema.h"
#include "json/document.h"

namespace quorate::apiserver {

// Values seen through their schema, for managed_fields.cc: what a value sets, how two values
// differ, how one is laid over another, and what is left without some fields. Maps are merged
// field by field and lists by their topology; what is atomic counts as one field.

// Every field that the value sets: leaves, entries of maps and elements of lists; named fields that
// only hold others are not in it.
[[nodiscard]] FieldSet fields_of(const json::Value& value, const Schema& schema);

// The set, with every declared field on the way to its members as a member.
[[nodiscard]] FieldSet with_named_fields(const FieldSet& set, const Schema& schema);

struct Comparison {
  FieldSet removed, modified, added;
};
[[nodiscard]] Comparison compare(const json::Value& from, const json::Value& to,
                                 const Schema& schema);

// `over` laid over `under`.
[[nodiscard]] json::Value merge_typed(const json::Value& under, const json::Value& over,
                                      const Schema& schema);

[[nodiscard]] json::Value without_fields(const json::Value& value, const FieldSet& fields,
                                         const Schema& schema);

// The first thing for which the value does not fit its schema: `.spec.x: field not declared in
// schema`. Elements that stand twice in a set or map do not fit.
[[nodiscard]] std::optional<std::string> find_misfit(const json::Value& value,
                                                     const Schema& schema);

}  // namespace quorate::apiserver
