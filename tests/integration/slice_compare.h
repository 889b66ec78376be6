#pragma once

#include <map>
#include <string>

#include "json/document.h"
#include "tests/integration/slice_world.h"

// Telling whether two clusters were made alike, and objects as they were described.
namespace quorate::slice {

// The first field of `wanted` that `live` has not, or has otherwise, with both values; empty if
// there is none. The server may have added fields, not elements of lists.
std::string find_difference(const json::Value& wanted, const json::Value& live,
                            const std::string& path = "");

// What is the same in every namespace and every run: objects by name, as text, without the server's
// own fields, times, choices of other controllers, and statuses (the cluster's is kept); UIDs and
// etcd's IDs are replaced by the names of those who have them, the namespace by `<ns>`, keys and
// certificates by what they say and who signed them.
std::map<std::string, std::string> essence(const Snapshot& all);

// The first object in which the two differ, and how; empty if there is none.
std::string find_difference(const std::map<std::string, std::string>& wanted,
                            const std::map<std::string, std::string>& found);

// Whether the leaf in this Secret is signed by the authority in the other, fits its key, and names
// that authority as the one to trust; why not otherwise.
std::string check_leaf(const json::Value& leaf, const json::Value& authority, WallTime now);

// A value of a Secret's data, decoded.
std::string secret_text(const json::Value& secret, std::string_view key);

}  // namespace quorate::slice
