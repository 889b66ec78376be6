#pragma once

#include <string_view>

#include "base/result.h"
#include "json/document.h"

namespace quorate::apiserver {

// An object that was sent as application/vnd.kubernetes.protobuf, which is how kubectl sends what
// it makes itself (`create namespace`, `run`): an envelope that names apiVersion and kind, and the
// fields by the numbers of the table of types. An object whose type is not in the table comes out
// as apiVersion and kind alone.
//
// kCorrupt for what is no such message.
[[nodiscard]] Result<json::Value> parse_protobuf(std::string_view body);

}  // namespace quorate::apiserver
