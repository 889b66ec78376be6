#pragma once

#include "base/secret.h"
#include "dashboard/live.h"
#include "net/server.h"

namespace quorate::dashboard {

// Serves the page and what it shows; nothing can be changed through it.
//
//   GET /             the page, with its style sheet, scripts and icon: without a secret, for
//   anybody GET /live         server-sent events: the fleet, then what changes in it GET
//   /live?namespace=N&name=C   one cluster, again whenever something of it changes
//
// Who may look   /live wants the token as a Bearer in the Authorization header. The page takes it
// from the fragment of its address, which a browser sends to nobody, and keeps it out of the
// address from then on. Neither cookies (other ports of this machine would get them) nor answers
// for other origins are given; a Host other than loopback is refused, so a name that somebody
// points to this machine leads nowhere.
class Pages : public net::Handler {
 public:
  Pages(Live& live, Secret token) : live_(live), token_(std::move(token)) {}

  Task<void> handle(net::ServerRequest request, net::Responder& responder) override;

 private:
  [[nodiscard]] net::Response answer(const net::ServerRequest& request) const;
  [[nodiscard]] bool brings_token(const net::ServerRequest& request) const;

  Live& live_;
  Secret token_;
};

// 256 bits, as hexadecimal digits.
[[nodiscard]] Secret make_token(rt::Random& random);

}  // namespace quorate::dashboard
