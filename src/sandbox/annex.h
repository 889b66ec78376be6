#pragma once

#include "net/server.h"

namespace quorate::sandbox {

// Something that the sandbox serves beside the Kubernetes API in memory, to those who may use that.
class Annex {
 public:
  virtual ~Annex() = default;
  [[nodiscard]] virtual bool serves(const net::ServerRequest& request) const = 0;
  virtual Task<void> handle(net::ServerRequest request, net::Responder& responder) = 0;
};

// A Status object that says why not, as the Kubernetes API would.
[[nodiscard]] net::Response make_refusal(const Error& error);

}  // namespace quorate::sandbox
