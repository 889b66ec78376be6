#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"

// Reads and writes of metadata that the verbs share. Objects are documents whose root is an object.
namespace quorate::apiserver {

// The object's metadata, made if there is none.
[[nodiscard]] json::Object& metadata_of(json::Value& object);

[[nodiscard]] std::string_view name_of(const json::Value& object);
[[nodiscard]] std::string_view namespace_of(const json::Value& object);
[[nodiscard]] std::string_view uid_of(const json::Value& object);
// The text of metadata.resourceVersion; "" and "0" both mean none.
[[nodiscard]] std::string_view version_of(const json::Value& object);
[[nodiscard]] bool is_deleting(const json::Value& object);
[[nodiscard]] std::vector<std::string> finalizers_of(const json::Value& object);
void set_finalizers(json::Value& object, const std::vector<std::string>& finalizers);
[[nodiscard]] std::optional<std::int64_t> grace_of(const json::Value& object);
// Counts the generation up, where there is one.
void raise_generation(json::Value& object);
// Copies a member of metadata, or removes it where `from` has none.
void copy_metadata(json::Value& to, const json::Value& from, std::string_view member);

}  // namespace quorate::apiserver
