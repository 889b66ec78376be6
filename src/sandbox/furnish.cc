#include "sandbox/furnish.h"

#include <fmt/format.h>

#include "api/crd.h"
#include "apiserver/storage.h"
#include "apiserver/verbs.h"
#include "json/document.h"
#include "kube/lease.h"

namespace quorate::sandbox {
namespace {

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

}  // namespace

Result<void> install_kinds(apiserver::Server& api) {
  for (const auto& crd : api::make_crds()) TRY(api.install_crd(json::render(crd)));
  return {};
}

Result<void> furnish(apiserver::Server& api) {
  TRY(make_namespace(api, kOperatorNamespace));
  return free_lease(api);
}

int count_nodes(apiserver::Server& api) {
  return static_cast<int>(api.storage().objects(*api.registry().built_in().nodes).size());
}

}  // namespace quorate::sandbox
