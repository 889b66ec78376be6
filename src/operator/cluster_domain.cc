#include "operator/cluster_domain.h"

#include <string_view>

namespace quorate::op {

std::string cluster_domain_in(std::span<const std::string> search) {
  constexpr std::string_view kServices = "svc.";
  for (const auto& domain : search)
    if (domain.starts_with(kServices) && domain.size() > kServices.size())
      return domain.substr(kServices.size());
  return "cluster.local";
}

}  // namespace quorate::op
