#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace quorate::support {

// A certificate and its key, as PEM files.
struct KeyPair {
  std::filesystem::path certificate;
  std::filesystem::path key;
};

// What a leaf certificate says. It is good for servers and for clients.
struct Leaf {
  std::string common_name;
  std::string organization = {};                             // a group, where Kubernetes reads it
  std::vector<std::string> names = {};                       // DNS names
  std::vector<std::string> addresses = {};                   // IP addresses
  std::chrono::seconds valid_from = -std::chrono::hours(1);  // both from now
  std::chrono::seconds valid_until = std::chrono::hours(24);
};

// A certificate authority made by the `openssl` command: it shares no code with src/pki, so what
// the one signs can judge the other. P-256 keys. Throws FixtureError.
class CertificateAuthority {
 public:
  // Files go to a new folder `folder`.
  CertificateAuthority(const std::filesystem::path& folder, const std::string& common_name);

  [[nodiscard]] const std::filesystem::path& certificate() const { return self_.certificate; }
  [[nodiscard]] const std::filesystem::path& key() const { return self_.key; }

  // Signs a leaf with a fresh key. Files are named after `file`; an earlier pair of that name is
  // replaced, as when certificates are rotated.
  KeyPair issue(const std::string& file, const Leaf& leaf);

 private:
  std::filesystem::path folder_;
  KeyPair self_;
};

// Keys without a certificate: `key` is private, `certificate` holds the bare public key. Kubernetes
// signs ServiceAccount tokens with such a pair.
KeyPair make_bare_keys(const std::filesystem::path& folder, const std::string& file);

}  // namespace quorate::support
