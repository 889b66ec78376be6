#pragma once

#include <string_view>

#include "json/function_ref.h"
#include "kube/object.h"
#include "node/text_map.h"

namespace quorate::node {

// Reads `metadata` with the annotations that kube::Meta leaves out. `other` gets every other field,
// too, for what a kind has beside.
void read_metadata(json::Reader& in, kube::Meta& meta, TextMap& annotations,
                   json::FunctionRef<void(std::string_view key, json::Reader& value)> other);
void read_metadata(json::Reader& in, kube::Meta& meta, TextMap& annotations);

}  // namespace quorate::node
