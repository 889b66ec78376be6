#pragma once

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

// How many nodes there have been so far.
[[nodiscard]] int count_nodes(apiserver::Server& api);

}  // namespace quorate::sandbox
