#pragma once

#include <string>

#include "cli/status_page.h"

namespace quorate::cli {

// What every rule that is not content says, in words: what is done or waited for, since when, until
// when, and what a person could do. From the cluster's status alone.
[[nodiscard]] std::string render_why(const op::ClusterView& cluster, const PageOptions& options);

}  // namespace quorate::cli
