#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/cluster.h"
#include "base/ids.h"

// All validation of what people declare. The CRD's schema and CEL rules say the same where they
// can; this runs in the operator, so that a cluster without admission is protected as well.
namespace quorate::api {

// One thing that is wrong: `spec.version: "3.5" is not a version: write three numbers, as in
// 3.5.35`. Every message names the field, the value, the rule and what would be right.
struct Problem {
  std::string field;    // spec.storage.claim.size
  std::string message;  // without the field
  std::string text() const { return field + ": " + message; }
  friend bool operator==(const Problem&, const Problem&) = default;
};
using Problems = std::vector<Problem>;
std::string text(const Problems& problems);  // joined by "; "

// What is wrong with a declaration by itself.
[[nodiscard]] Problems validate(const ClusterSpec& spec);

// The name of a cluster, from which others are derived.
[[nodiscard]] Problems validate_name(std::string_view cluster);

// What is wrong with going from one valid declaration to another. `formed`: the cluster holds data,
// or may hold some.
[[nodiscard]] Problems validate_change(const ClusterSpec& before, const ClusterSpec& after,
                                       bool formed);

// Allowed, and worth a word: even sizes, versions out of support, plain clients.
[[nodiscard]] Problems warnings(const ClusterSpec& spec);

}  // namespace quorate::api
