#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/registry.h"
#include "json/document.h"

namespace quorate::apiserver {

// What is served, for clients that ask: the documents of /version, /api, /apis and below them.
// Nothing if no group or version of that name is served.
[[nodiscard]] std::optional<json::Value> discover(const Registry& registry,
                                                  const std::vector<std::string>& parts);

}  // namespace quorate::apiserver
