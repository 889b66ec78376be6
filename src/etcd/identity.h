#pragma once

#include <memory>
#include <string>

#include "net/tls.h"

namespace quorate::etcd {

// Whom we trust and who we are towards one cluster. Immutable and shared: renewed certificates are
// a new Identity.
class Identity {
 public:
  explicit Identity(net::TlsIdentity tls);

  const net::TlsIdentity& tls() const { return tls_; }
  // SHA-256 over all of it, in hexadecimal: equal exactly for equal identities, and no secret.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  net::TlsIdentity tls_;
  std::string fingerprint_;
};

std::shared_ptr<const Identity> make_identity(net::TlsIdentity tls);

}  // namespace quorate::etcd
