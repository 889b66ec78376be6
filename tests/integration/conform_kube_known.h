#pragma once

#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "conform_kube_run.h"

namespace quorate::conform {

// A difference that is known and stands in docs/apiserver.md with its reason.
struct KnownDifference {
  std::string id;
  std::regex request;               // of "METHOD path"
  std::regex answer;                // of the real server's reply as text, masked
  std::vector<std::string> fields;  // JSON pointers into the reply; `*` for any one name
  int used = 0;
};

// Reads the table of the document: rows `| id | request | answer | fields | reason |` after the
// line `<!-- known differences -->`. Throws if there is none, or if a row has no reason.
[[nodiscard]] std::vector<KnownDifference> read_known_differences(std::string_view document);

// Whether the replies are equal once the known differences are left out; counts those that
// mattered.
[[nodiscard]] bool agree(const std::string& request, const Reply& real, const Reply& ours,
                         std::vector<KnownDifference>& known);

}  // namespace quorate::conform
