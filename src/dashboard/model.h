#pragma once

#include <deque>

#include "cli/facts.h"
#include "dashboard/history.h"
#include "json/document.h"

// What the page is told, as JSON. Times are points in time, never ages: the page counts by itself.
// All texts are those of the commands (cli/words.h); nothing here is HTML, and the page makes none
// of it.
namespace quorate::dashboard {

// A line of the fleet.
[[nodiscard]] json::Object make_row(const op::ClusterView& cluster);

// All about one cluster.
[[nodiscard]] json::Object make_page(const cli::ClusterFacts& facts,
                                     const std::deque<Change>& history);

}  // namespace quorate::dashboard
