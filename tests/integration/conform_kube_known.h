#pragma once

#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "conform_kube_run.h"

namespace quorate::conform {

// A part of a reply that is not compared: what stands at a JSON pointer (`*` for any one name), or
// only what follows a text in it.
struct Exempt {
  std::string pointer;
  std::string up_to;  // compared to the end of the first such text; empty: not at all
};

// A difference that is known and stands in docs/apiserver.md with its reason.
struct KnownDifference {
  std::string id;
  std::regex request;  // of "METHOD path"
  std::regex answer;   // of the real server's reply as text, masked
  std::vector<Exempt> exempt;
  int used = 0;
};

// How the ids begin that are for one test alone: what controllers do, where `request` is of the
// script's name; forms; documents of OpenAPI; and kubectl, where it is of the command.
inline constexpr std::string_view kOfControllers = "controllers-";
inline constexpr std::string_view kOfForms = "forms-";
inline constexpr std::string_view kOfOpenapi = "openapi-";
inline constexpr std::string_view kOfKubectl = "kubectl-";

// Reads the table of the document: rows `| id | request | answer | exempt | reason |` after the
// line `<!-- known differences -->`; what is exempt is one or more of `/pointer` and
// `/pointer up to TEXT`. Throws if there is no table, or if a row has no reason.
[[nodiscard]] std::vector<KnownDifference> read_known_differences(std::string_view document);

// Those of docs/apiserver.md that are for the tests of this prefix; for those of none if it is
// empty.
[[nodiscard]] std::vector<KnownDifference> known_differences(std::string_view prefix);

enum class Agreement { kEqual, kListed, kDifferent };

// Whether the replies are equal, or are once known differences are left out; counts those that
// mattered.
[[nodiscard]] Agreement compare_replies(const std::string& request, const Reply& real,
                                        const Reply& ours, std::vector<KnownDifference>& known);

// Both replies without what is known to differ.
[[nodiscard]] std::pair<Reply, Reply> without_known(const std::string& request, const Reply& real,
                                                    const Reply& ours,
                                                    const std::vector<KnownDifference>& known);

// Where two values differ first, as JSON pointers; at most `most`.
[[nodiscard]] std::vector<std::string> differences(const json::Value& a, const json::Value& b,
                                                   std::size_t most);

}  // namespace quorate::conform
