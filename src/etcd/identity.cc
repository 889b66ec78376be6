#include "etcd/identity.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "pki/digest.h"

namespace quorate::etcd {
namespace {

std::string fingerprint_of(const net::TlsIdentity& tls) {
  pki::Sha256Stream digest;
  for (const std::string* part : {&tls.roots, &tls.certificate, &tls.key.reveal()}) {
    digest.update(fmt::format("{}:", part->size()));  // so that no two divisions look the same
    digest.update(*part);
  }
  return encode_hex(digest.finish());
}

}  // namespace

Identity::Identity(net::TlsIdentity tls)
    : tls_(std::move(tls)), fingerprint_(fingerprint_of(tls_)) {}

std::shared_ptr<const Identity> make_identity(net::TlsIdentity tls) {
  return std::make_shared<const Identity>(std::move(tls));
}

}  // namespace quorate::etcd
