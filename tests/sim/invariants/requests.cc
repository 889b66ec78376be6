#include "tests/sim/invariants/requests.h"

#include "base/strings.h"

namespace quorate::sim {

std::optional<Spoken> parse_path(std::string_view path) {
  auto parts = split(path, '/');
  if (!parts.empty() && parts.front().empty()) parts.erase(parts.begin());
  const std::size_t head = !parts.empty() && parts[0] == "api" ? 2 : 3;  // api/v1, apis/group/v1
  if (parts.size() <= head) return std::nullopt;
  Spoken out;
  std::size_t at = head;
  if (parts[at] == "namespaces" && parts.size() > at + 2) {
    out.key.ns = parts[at + 1];
    at += 2;
  }
  out.plural = parts[at];
  if (parts.size() > at + 1) out.key.name = parts[at + 1];
  if (parts.size() > at + 2) out.subresource = parts[at + 2];
  return out;
}

}  // namespace quorate::sim
