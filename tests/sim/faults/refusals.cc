#include "tests/sim/faults/refusals.h"

#include <algorithm>
#include <string_view>

#include "tests/sim/invariants/requests.h"

namespace quorate::sim {
namespace {

// Kinds that quotas speak of.
constexpr std::string_view kQuotas[] = {
    "pods", "persistentvolumeclaims", "services", "secrets", "etcdmembers", "poddisruptionbudgets"};

// What policies refuse, and how.
struct Policy {
  std::string_view method;
  std::string_view what;  // a plural, and a subresource
  int status;
};
constexpr Policy kPolicies[] = {
    {"PATCH", "pods", 403},
    {"DELETE", "pods", 403},
    {"PUT", "etcdclusters/status", 403},
    {"PATCH", "etcdmembers", 422},
    {"DELETE", "persistentvolumeclaims", 403},
    {"PATCH", "persistentvolumeclaims", 422},
    {"DELETE", "etcdmembers", 403},
    {"POST", "pods", 422},
};

bool refuses(const Policy& policy, const apiserver::Request& request) {
  if (request.method != policy.method) return false;
  const auto spoken = parse_path(request.path);
  return spoken && policy.what == spoken->plural + (spoken->subresource.empty() ? "" : "/") +
                                      spoken->subresource;
}

bool creates(const apiserver::Request& request, std::string_view plural) {
  return request.method == "POST" && request.path.ends_with("/" + std::string(plural));
}

}  // namespace

std::function<void()> Refusals::begin(const Fault& fault) {
  const auto which = static_cast<std::size_t>(std::max(fault.target, 0));
  auto& count = fault.kind == FaultKind::kForbidCreates ? quotas_[which % std::size(kQuotas)]
                                                        : policies_[which % std::size(kPolicies)];
  ++count;
  return [&count] { --count; };
}

int Refusals::status_for(const apiserver::Request& request) const {
  int status = 0;
  for (const auto& [which, count] : quotas_)
    if (count > 0 && creates(request, kQuotas[which])) status = 403;
  for (const auto& [which, count] : policies_)
    if (count > 0 && refuses(kPolicies[which], request)) status = kPolicies[which].status;
  return status;
}

}  // namespace quorate::sim
