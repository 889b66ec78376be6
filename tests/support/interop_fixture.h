#pragma once

#include <filesystem>
#include <optional>

#include "tests/support/certs.h"
#include "tests/support/ports.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"

namespace quorate::support {

enum class InteropSecurity { kPlain, kTls };

// The gRPC project's own interoperability test server (Go), listening when the constructor returns.
// Throws FixtureError.
class InteropServer {
 public:
  explicit InteropServer(InteropSecurity security = InteropSecurity::kPlain);

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  // Only with kTls: what signed the server's certificate, which is good for `localhost` and for the
  // address of endpoint().
  [[nodiscard]] const std::filesystem::path& ca() const { return authority_.value().certificate(); }
  ServerProcess& process() { return process_; }

 private:
  TempDir folder_;
  ServerProcess process_;
  std::optional<CertificateAuthority> authority_;
  Endpoint endpoint_;
};

}  // namespace quorate::support
