#pragma once

#include <string_view>
#include <vector>

#include "apiserver/schema_kind.h"

namespace quorate::apiserver {

// The rules of a kind that is built into Kubernetes: `v1` and `Pod`, `batch/v1` and `Job`. nullptr
// for kinds that are not held. Rules live as long as the program.
[[nodiscard]] const KindRules* find_builtin_rules(std::string_view api_version,
                                                  std::string_view kind);

}  // namespace quorate::apiserver
