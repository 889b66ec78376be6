#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry.h"
#include "json/document.h"

namespace quorate::apiserver {

// The server that this one is held to.
inline constexpr std::string_view kKubernetesVersion = "v1.34.4";

// What is served, for clients that ask: the documents of /version, /api, /apis,
// /openapi/v3 and below them.
// Nothing if no group or version of that name is served.
[[nodiscard]] std::optional<json::Value> discover(const Registry& registry,
                                                  const std::vector<std::string>& parts);

}  // namespace quorate::apiserver
