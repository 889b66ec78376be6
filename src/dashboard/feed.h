#pragma once

#include <optional>

#include "dashboard/live.h"
#include "net/server.h"

namespace quorate::dashboard {

// Writes server-sent events until whoever reads them has gone. Each is a JSON object:
//
//   {"now", "synced", "trouble": [text], ...}    and of the fleet
//     "whole": true for the first, "rows": [make_row], "gone": [{"namespace", "name"}]
//   or of one cluster
//     "cluster": make_page, or null if there is none
//
// A comment line every few seconds tells a silent feed from a dead one. A reader that takes nothing
// for half a minute is left.
[[nodiscard]] Task<Result<void>> feed(Live& live, std::optional<ObjectKey> cluster,
                                      net::Responder& responder);

}  // namespace quorate::dashboard
