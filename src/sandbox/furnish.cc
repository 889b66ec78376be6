#include "sandbox/furnish.h"

#include <fmt/format.h>

#include <map>

#include "api/crd.h"
#include "apiserver/storage.h"
#include "apiserver/verbs.h"
#include "base/strings.h"
#include "json/document.h"
#include "kube/lease.h"
#include "node/nodes.h"

namespace quorate::sandbox {
namespace {

constexpr int kNodes = 3;

Result<void> make_namespace(apiserver::Server& api, const char* name) {
  const auto& kind = *api.registry().built_in().namespaces;
  if (api.storage().find(kind, {"", name})) return {};
  const auto made = api.verbs().create(kind, "", {{"metadata", {{"name", name}}}});
  if (!made)
    return fail(Code::kInternal, fmt::format("namespace {}: {}", name, made.error().message));
  return {};
}

Result<void> free_lease(apiserver::Server& api) {
  const auto& kind = *api.registry().built_in().leases;
  const ObjectKey key{kOperatorNamespace, kOperatorLease};
  const auto record = api.storage().find(kind, key);
  if (!record) return {};
  auto lease = record->value();
  if (json::text_or(lease, "/spec/holderIdentity", "").empty()) return {};
  const auto epoch = json::integer_at(lease, "/spec/leaseTransitions").value_or(0);
  TRY(json::put(lease, "/spec/holderIdentity", ""));
  TRY(json::put(lease, "/metadata/annotations/" + json::escape_pointer(kube::kReleasedEpoch),
                json::Value(fmt::to_string(epoch))));
  const auto written = api.verbs().update(kind, key, std::move(lease));
  if (!written)
    return fail(Code::kInternal, fmt::format("lease {}: {}", key.text(), written.error().message));
  return {};
}

// Of a node of ours.
std::optional<int> number_of_node(std::string_view name) {
  const std::string_view prefix = node::kNodePrefix;
  const auto number =
      name.starts_with(prefix) ? parse_integer(name.substr(prefix.size())) : std::nullopt;
  if (!number || *number < 1 || *number > node::layout::kMaxNodes) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

Result<void> install_kinds(apiserver::Server& api) {
  for (const auto& crd : api::make_crds()) TRY(api.install_crd(json::render(crd)));
  return {};
}

Result<void> furnish(apiserver::Server& api) {
  TRY(make_namespace(api, kOperatorNamespace));
  return free_lease(api);
}

Result<int> settle_nodes(apiserver::Server& api, std::optional<int> said) {
  const auto& kind = *api.registry().built_in().nodes;
  std::map<int, ObjectKey> there;
  for (const auto& [key, record] : api.storage().objects(kind))
    if (const auto number = number_of_node(key.name)) there.emplace(*number, key);
  const int count = said ? *said : there.empty() ? kNodes : there.rbegin()->first;
  for (auto surplus = there.upper_bound(count); surplus != there.end(); ++surplus) {
    const auto& key = surplus->second;
    if (const auto removed = api.verbs().remove(kind, key); !removed)
      return fail(Code::kInternal, fmt::format("node {}: {}", key.name, removed.error().message));
  }
  return count;
}

}  // namespace quorate::sandbox
