#include "operator/identities.h"

#include "api/names.h"
#include "base/bytes.h"

namespace quorate::op {

Task<Result<std::shared_ptr<const etcd::Identity>>> Identities::get(ObjectKey secret,
                                                                    ResourceVersion version,
                                                                    rt::Deadline deadline) {
  if (auto found = by_secret_.find(secret);
      found != by_secret_.end() && found->second->version == version) {
    kept_.splice(kept_.end(), kept_, found->second);
    co_return found->second->identity;
  }
  CO_TRY(auto pems, co_await read_tls_secret(client_, secret, deadline));
  co_return put(std::move(secret), std::move(version), std::move(pems));
}

std::shared_ptr<const etcd::Identity> Identities::put(ObjectKey secret, ResourceVersion version,
                                                      TlsPems pems) {
  net::TlsIdentity tls;
  tls.roots = std::move(pems.ca);
  tls.certificate = std::move(pems.certificate);
  tls.key = std::move(pems.key);
  auto identity = etcd::make_identity(std::move(tls));
  if (auto found = by_secret_.find(secret); found != by_secret_.end()) {
    kept_.erase(found->second);
    by_secret_.erase(found);
  }
  kept_.push_back({secret, std::move(version), identity});
  by_secret_[secret] = std::prev(kept_.end());
  if (kept_.size() > ceiling_) {
    by_secret_.erase(kept_.front().secret);
    kept_.pop_front();
  }
  return identity;
}

}  // namespace quorate::op
