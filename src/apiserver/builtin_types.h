#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/schema.h"
#include "json/document.h"

namespace quorate::apiserver {

// The types of the built-in kinds, field by field, as Go declares them (k8s.io/api 0.34.4) with
// what OpenAPI adds on lists and maps. One table serves unknown fields, types, zero values, apply
// and strategic merge patches.

// nullptr if the type is not held. `name` as in Go, without its package: PodSpec.
[[nodiscard]] SchemaRef find_builtin_type(std::string_view name);

// What Go writes for a value that nobody has set.
[[nodiscard]] json::Value make_zero(const Schema& schema);

// Reads what was sent as Go would, and writes it again: fields in the order of declaration, zero
// values left out or put in, quantities and times in canonical form. `known`: something that was
// read before; parts that are the same need not be read again.
struct TypedDecoding {
  std::string error;                 // json: cannot unmarshal ...; empty if it could be read
  std::vector<std::string> unknown;  // paths, in the order of the document: spec.x
};
TypedDecoding decode_typed(json::Value& value, const Schema& schema,
                           const json::Value* known = nullptr);

}  // namespace quorate::apiserver
