#pragma once

#include "apiserver/server.h"
#include "base/secret.h"
#include "net/server.h"

namespace quorate::sandbox {

// Serves the Kubernetes API in memory over HTTP, to whoever brings the token. Nobody else learns
// more than that a token is wanted.
class Front : public net::Handler {
 public:
  Front(apiserver::Server& server, Secret token) : server_(server), token_(std::move(token)) {}

  Task<void> handle(net::ServerRequest request, net::Responder& responder) override;

 private:
  [[nodiscard]] bool is_known(const net::ServerRequest& request) const;

  apiserver::Server& server_;
  Secret token_;
};

}  // namespace quorate::sandbox
