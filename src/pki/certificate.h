#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "pki/key.h"

namespace quorate::pki {

// Subject alternative names: what a certificate may be called by.
struct Names {
  std::vector<std::string> dns;   // "*.c-peer.n.svc": a wildcard stands for one label, the first
  std::vector<std::string> ips;   // "127.0.0.1", "::1", in their shortest text
  std::vector<std::string> uris;  // "spiffe://..."
  friend bool operator==(const Names&, const Names&) = default;
};

// A parsed X.509 certificate. Immutable; copies share.
class Certificate {
 public:
  // The first certificate of a PEM text, and all of them in order. kInvalid if there is none or one
  // of them cannot be read: `certificate 2: ...`. Other PEM blocks and text around are ignored.
  [[nodiscard]] static Result<Certificate> parse(std::string_view pem);
  [[nodiscard]] static Result<std::vector<Certificate>> parse_all(std::string_view pem);

  [[nodiscard]] std::string pem() const;
  [[nodiscard]] std::string der() const;

  [[nodiscard]] std::string subject() const;  // RFC 2253: "CN=c-0,O=quorate"
  [[nodiscard]] std::string issuer() const;
  [[nodiscard]] std::string common_name() const;  // empty if it has none
  [[nodiscard]] Serial serial() const;
  [[nodiscard]] const Names& names() const;
  [[nodiscard]] WallTime not_before() const;
  [[nodiscard]] WallTime not_after() const;
  [[nodiscard]] bool is_ca() const;
  [[nodiscard]] bool for_servers() const;  // extended key usage allows it
  [[nodiscard]] bool for_clients() const;
  [[nodiscard]] std::string fingerprint() const;  // SHA-256 of the DER, 64 hexadecimal digits

  // Key identifiers in hexadecimal, empty if it has none: a leaf's authority_key_id() is the
  // subject_key_id() of the CA that signed it.
  [[nodiscard]] std::string subject_key_id() const;
  [[nodiscard]] std::string authority_key_id() const;

  // True if this certificate speaks of this key.
  [[nodiscard]] bool matches(const PrivateKey& key) const;
  // True if a server of this name or address may show it: wildcards as in RFC 6125.
  [[nodiscard]] bool covers(std::string_view name_or_ip) const;

  friend bool operator==(const Certificate& a, const Certificate& b) { return a.der() == b.der(); }

  struct Rep;  // OpenSSL's certificate; known to this library alone
  explicit Certificate(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}
  const Rep& rep() const { return *rep_; }

 private:
  std::shared_ptr<const Rep> rep_;
};

// PEM texts one after the other: a chain (leaf first) or a bundle of CAs.
[[nodiscard]] std::string render_pem(const std::vector<Certificate>& certificates);

// The CAs of several texts as one bundle, each once, in order: both the old and the new CA are
// trusted while one takes the other's place.
[[nodiscard]] Result<std::string> make_bundle(const std::vector<std::string>& pems);

}  // namespace quorate::pki
