#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "tests/sim/faults/audit.h"

namespace quorate::sim {

// What a request to the API speaks of, from its path:
// /api/v1/namespaces/n/pods/c-0/status.
struct Spoken {
  std::string plural;
  ObjectKey key;  // the name is empty for a collection
  std::string subresource;
};
[[nodiscard]] std::optional<Spoken> parse_path(std::string_view path);

[[nodiscard]] inline bool succeeded(const Audit::Entry& entry) { return entry.status / 100 == 2; }
[[nodiscard]] inline bool reads(const Audit::Entry& entry) { return entry.method == "GET"; }

}  // namespace quorate::sim
