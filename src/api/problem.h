#pragma once

#include <string>
#include <vector>

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

}  // namespace quorate::api
