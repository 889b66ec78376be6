#pragma once

#include <string>

#include "apiserver/refusal.h"
#include "apiserver/server.h"
#include "apiserver/verbs.h"
#include "json/document.h"

// What requests say beside their path: bodies, query parameters, media types.
namespace quorate::apiserver {

// The document of a POST or PUT, JSON or YAML by its content type.
[[nodiscard]] Outcome<json::Value> parse_body(const Request& request);

[[nodiscard]] Outcome<PatchType> parse_patch_type(const Kind& kind, const Request& request);
[[nodiscard]] Outcome<json::Value> parse_patch(PatchType type, const Request& request);

// fieldManager, dryRun, fieldValidation, force.
[[nodiscard]] Outcome<WriteOptions> parse_write_options(const Request& request);

// From the body if there is one, else from the query.
[[nodiscard]] Outcome<DeleteOptions> parse_delete_options(const Request& request);
// The DeleteOptions of a policy/v1 Eviction of the Pod of this name.
[[nodiscard]] Outcome<DeleteOptions> parse_eviction(const json::Value& eviction,
                                                    const std::string& pod);

}  // namespace quorate::apiserver
