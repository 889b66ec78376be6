#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret.h"

namespace quorate::net {

// Whom we trust and who we are, as PEM. Small (about 2 KB): kept per cluster, while contexts are
// built lazily and shared.
struct TlsIdentity {
  std::string roots;  // trusted authorities; required for clients: the system's store is never used
  std::string certificate;  // our own chain, leaf first; empty = none
  Secret key;
};

enum class PeerCheck {
  kRequired,  // a server that insists on client certificates; a client always checks its server
  kNone,      // a server that does not ask
};

// An OpenSSL context (about 25 KB, 1.1 ms to build): TLS 1.2 or newer, verification always on,
// session tickets kept for resumption.
class TlsContext {
 public:
  static Result<std::shared_ptr<TlsContext>> for_client(const TlsIdentity& identity,
                                                        std::vector<std::string> alpn);
  static Result<std::shared_ptr<TlsContext>> for_server(const TlsIdentity& identity,
                                                        PeerCheck check,
                                                        std::vector<std::string> alpn);
  ~TlsContext();
  // Handshakes of this client that a ticket made short.
  std::uint64_t resumed_sessions() const;
  struct Native;
  Native& native() { return *native_; }

 private:
  explicit TlsContext(std::unique_ptr<Native> native);
  std::unique_ptr<Native> native_;
};

}  // namespace quorate::net
