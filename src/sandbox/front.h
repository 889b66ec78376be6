#pragma once

#include <vector>

#include "apiserver/server.h"
#include "base/secret.h"
#include "net/server.h"
#include "sandbox/annex.h"

namespace quorate::sandbox {

// Serves the Kubernetes API in memory over HTTP, to whoever brings the token. Nobody else learns
// more than that a token is wanted.
class Front : public net::Handler {
 public:
  // The first annex that serves a request gets it, otherwise the API.
  Front(apiserver::Server& server, Secret token, std::vector<Annex*> annexes = {})
      : server_(server), token_(std::move(token)), annexes_(std::move(annexes)) {}

  Task<void> handle(net::ServerRequest request, net::Responder& responder) override;

 private:
  [[nodiscard]] bool is_known(const net::ServerRequest& request) const;
  [[nodiscard]] Annex* find_annex(const net::ServerRequest& request) const;

  apiserver::Server& server_;
  Secret token_;
  std::vector<Annex*> annexes_;
};

}  // namespace quorate::sandbox
