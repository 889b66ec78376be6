#pragma once

#include "kube/client.h"

namespace quorate::kube {

// The requests that Client sends, as plain functions: what stands in method, path, query, headers
// and body is decided here alone.

[[nodiscard]] std::string_view name(Part part);  // "" for kWhole: the subresource's path segment

[[nodiscard]] net::Request make_get_request(Resource resource, const ObjectKey& key, Part part);
[[nodiscard]] net::Request make_page_request(Resource resource, const PageRequest& page);
[[nodiscard]] net::Request make_watch_request(Resource resource, const WatchRequest& watch);
[[nodiscard]] net::Request make_create_request(Resource resource, const std::string& ns,
                                               const json::Value& object,
                                               const WriteOptions& options,
                                               const std::string& field_manager);
[[nodiscard]] net::Request make_update_request(Resource resource, const ObjectKey& key,
                                               const json::Value& object,
                                               const WriteOptions& options,
                                               const std::string& field_manager);
[[nodiscard]] net::Request make_patch_request(Resource resource, const ObjectKey& key,
                                              PatchKind kind, const json::Value& patch,
                                              const WriteOptions& options,
                                              const std::string& field_manager);
[[nodiscard]] net::Request make_apply_request(Resource resource, const ObjectKey& key,
                                              const json::Value& object,
                                              const ApplyOptions& options,
                                              const std::string& field_manager);
[[nodiscard]] net::Request make_delete_request(Resource resource, const ObjectKey& key,
                                               const DeleteOptions& options);
[[nodiscard]] net::Request make_evict_request(const ObjectKey& pod, const DeleteOptions& options);

}  // namespace quorate::kube
