#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/secret.h"

namespace quorate::pki {

// A private key. Copies share; the memory is wiped with the last. Ours are P-256; keys that users
// bring may be of any type that OpenSSL reads.
class PrivateKey {
 public:
  // PEM, PKCS#8 or SEC1 ("EC PRIVATE KEY") or PKCS#1; the first key of the text, what stands around
  // it is ignored. kInvalid for anything else, encrypted keys included; the text is never quoted.
  [[nodiscard]] static Result<PrivateKey> parse(const Secret& pem);

  [[nodiscard]] Secret pem() const;              // PKCS#8
  [[nodiscard]] std::string public_der() const;  // SubjectPublicKeyInfo: equal for key pairs
  [[nodiscard]] bool is_p256() const;

  struct Rep;  // OpenSSL's key; known to this library alone
  explicit PrivateKey(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}
  const Rep& rep() const { return *rep_; }

 private:
  std::shared_ptr<const Rep> rep_;
};

// Of a certificate: 16 bytes, positive, never all zero.
using Serial = Strong<struct SerialTag, std::string>;

// Where keys, serial numbers and signatures come from. Keys are chance, so they stand behind a
// seam, as time does.
class KeySource {
 public:
  virtual ~KeySource() = default;
  // A new P-256 key.
  [[nodiscard]] virtual PrivateKey make_key() = 0;
  [[nodiscard]] virtual Serial make_serial() = 0;
  // ECDSA with SHA-256 over the bytes, DER. `key` is P-256 (checked).
  [[nodiscard]] virtual std::string sign(const PrivateKey& key, std::string_view bytes) = 0;
};

// From the operating system's randomness, by OpenSSL. For production.
class SystemKeys final : public KeySource {
 public:
  PrivateKey make_key() override;
  Serial make_serial() override;
  std::string sign(const PrivateKey& key, std::string_view bytes) override;
};

// The same keys, serials and signatures for the same seed and order of calls, so that everything
// issued in virtual time is the same byte by byte: the n-th key is derived from SHA-256 of seed
// and n, and signatures use the nonce of RFC 6979. For the simulator: whoever knows the seed knows
// the keys. (TLS handshakes are not covered: OpenSSL 3.0 draws their nonces itself.)
class SeededKeys final : public KeySource {
 public:
  explicit SeededKeys(std::uint64_t seed) : seed_(seed) {}
  PrivateKey make_key() override;
  Serial make_serial() override;
  std::string sign(const PrivateKey& key, std::string_view bytes) override;

 private:
  std::string draw(std::string_view what);
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

}  // namespace quorate::pki
