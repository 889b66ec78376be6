#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/text_table.h"

// Labels and annotations that people want on our objects, beside our own.
namespace quorate::api {

struct MetadataSpec {
  TextTable labels;
  TextTable annotations;
  bool empty() const { return labels.empty() && annotations.empty(); }
  friend bool operator==(const MetadataSpec&, const MetadataSpec&) = default;
};

// Both; where both have a key, the value of `special`.
[[nodiscard]] MetadataSpec join_metadata(const MetadataSpec& general, const MetadataSpec& special);

// Whether the key is ours to set: those under quorate.io, and the four labels of
// app.kubernetes.io that we give.
[[nodiscard]] bool is_our_key(std::string_view key);

// What an object says of the keys that were added to it (annotation quorate.io/added): a
// fingerprint of keys and values, and the keys, so that they can be taken away again. Empty if
// nothing was added.
[[nodiscard]] std::string added_text(const MetadataSpec& metadata);
struct AddedKeys {
  std::vector<std::string> labels;
  std::vector<std::string> annotations;
};
[[nodiscard]] AddedKeys read_added(std::string_view text);

}  // namespace quorate::api
