#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "pki/certificate.h"
#include "pki/key.h"

namespace quorate::pki {

// From when to when a certificate holds, to the second. Always the caller's: this library reads no
// clock. A start some minutes in the past forgives clocks that run behind.
struct Validity {
  WallTime not_before;
  WallTime not_after;
};

enum class Purpose {
  kServer,
  kClient,
  kBoth,  // etcd peers are both to each other; so is etcd's server to its own gateway
};

// What a leaf shall say. Empty names are left out.
struct LeafRequest {
  std::string common_name;
  std::vector<std::string> organizations;
  Names names;
  Purpose purpose = Purpose::kBoth;
  Validity validity;
};

// A certificate with its key.
struct Identity {
  std::vector<Certificate> chain;  // the leaf first, then intermediates; the root is left out
  PrivateKey key;

  const Certificate& leaf() const { return chain.front(); }
  [[nodiscard]] std::string certificate_pem() const { return render_pem(chain); }
  // kInvalid if the key is not the leaf's.
  [[nodiscard]] static Result<Identity> parse(std::string_view certificate_pem,
                                              const Secret& key_pem);
};

// A CA that issues leaves: P-256, path length 0, self-signed.
class Authority {
 public:
  // kInvalid if the validity is empty or not representable.
  [[nodiscard]] static Result<Authority> make(KeySource& keys, std::string_view common_name,
                                              const Validity& validity);
  // From a Secret's data. kInvalid if the certificate is no CA, the key is not its own, or not
  // P-256.
  [[nodiscard]] static Result<Authority> parse(std::string_view certificate_pem,
                                               const Secret& key_pem);

  // A leaf with a key of its own. Its validity is cut to the CA's: a leaf never outlives its root.
  // kInvalid for names that are none (`a..b`, `1.2.3`), no names at all for a server, and an empty
  // validity.
  [[nodiscard]] Result<Identity> issue(KeySource& keys, const LeafRequest& request) const;

  const Certificate& certificate() const { return certificate_; }
  const PrivateKey& key() const { return key_; }

 private:
  Authority(Certificate certificate, PrivateKey key)
      : certificate_(std::move(certificate)), key_(std::move(key)) {}
  Certificate certificate_;
  PrivateKey key_;
};

// Is this chain (leaf first) good for this purpose, under one of these roots, at this time, and, if
// a name is given, for this host name or address? kInvalid with the reason: `certificate CN=c-0
// expired at 2026-01-02T15:04:05Z`, `... is signed by an authority that is not trusted (CN=x)`,
// `... is not valid for a.b (valid for c, d)`, `... may not be used by servers`. Purpose kBoth asks
// for both. Names are taken from the SANs alone, never from the common name.
Result<void> verify(const std::vector<Certificate>& chain, const std::vector<Certificate>& roots,
                    Purpose purpose, const std::optional<std::string>& name, WallTime now);

// When to issue anew: after two thirds of the lifetime.
[[nodiscard]] WallTime renewal_due(const Certificate& certificate);

}  // namespace quorate::pki
