#pragma once

#include <list>
#include <map>
#include <memory>

#include "etcd/identity.h"
#include "kube/client.h"
#include "operator/tls_secret.h"

namespace quorate::op {

// Who the operator is towards the members of a cluster: made from its Secret `c-operator-tls`,
// which is read when it is needed first. Keys are not held by any store; a bounded number of
// identities is kept, by the Secret's version. Clusters are looked at in turn, so that the one used
// longest ago is the one needed next: fewer places than clusters are as good as none, and each look
// would read a Secret. An identity takes about 2.5 KB.
class Identities {
 public:
  explicit Identities(kube::Client& client, std::size_t ceiling = 12'000)
      : client_(client), ceiling_(ceiling) {}

  // `version` is the Secret's, as the store shows it: another version is another identity.
  Task<Result<std::shared_ptr<const etcd::Identity>>> get(ObjectKey secret, ResourceVersion version,
                                                          rt::Deadline deadline);

  // What that version of the Secret holds.
  std::shared_ptr<const etcd::Identity> put(ObjectKey secret, ResourceVersion version,
                                            TlsPems pems);

 private:
  struct Kept {
    ObjectKey secret;
    ResourceVersion version;
    std::shared_ptr<const etcd::Identity> identity;
  };
  kube::Client& client_;
  std::size_t ceiling_;
  std::list<Kept> kept_;  // the one used longest ago first
  std::map<ObjectKey, std::list<Kept>::iterator> by_secret_;
};

}  // namespace quorate::op
