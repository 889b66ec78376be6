#pragma once

#include <optional>

#include "apiserver/server.h"

namespace quorate::sandbox {

inline constexpr const char* kOperatorNamespace = "quorate-system";
inline constexpr const char* kOperatorLease = "quorate-operator";

// Our own kinds. To be called before what was kept is read: it has objects of these kinds.
[[nodiscard]] Result<void> install_kinds(apiserver::Server& api);

// What every cluster with the operator has: its namespace. And the lease of an operator that was
// killed is free at once, as if it had been released: it ran in the process that held the folder's
// lock before us, so that none of its calls can be under way.
[[nodiscard]] Result<void> furnish(apiserver::Server& api);

// How many nodes are to run: as many as is said, otherwise as many as there were, at first three.
// Objects of nodes beyond that are deleted, as when machines are taken away for good: what was on
// them is gone, and whoever watches nodes deals with their Pods and members.
[[nodiscard]] Result<int> settle_nodes(apiserver::Server& api, std::optional<int> said);

}  // namespace quorate::sandbox
