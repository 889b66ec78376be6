#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/registry.h"
#include "json/document.h"

namespace quorate::apiserver {

// What is served, in the words of OpenAPI v3: kubectl explains kinds by it, finds out what may be
// asked for, and merges lists. Made from the tables that requests are judged by, which hold no
// descriptions of the built-in kinds.
//
// `parts` is a path below /openapi/v3: none of it gives the index of documents, api/v1 and
// apis/GROUP/VERSION a document. Nothing if there is no such document.
[[nodiscard]] std::optional<json::Value> find_openapi(const Registry& registry,
                                                      const std::vector<std::string>& parts);

}  // namespace quorate::apiserver
