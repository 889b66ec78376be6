#pragma once

#include <span>
#include <string>

namespace quorate::op {

// The domain of Services' names, by the search list of a Pod (net::ResolverConfig): the rest of
// "svc.cluster.local". cluster.local if nothing there says so.
[[nodiscard]] std::string cluster_domain_in(std::span<const std::string> search);

}  // namespace quorate::op
