#pragma once

#include <functional>
#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "net/socket.h"
#include "node/dns.h"
#include "node/services.h"
#include "rt/fd.h"
#include "rt/group.h"

namespace quorate::node {

// Answers DNS questions by UDP and TCP. `zone` is asked for every question, so that what changes is
// told at once.
class DnsServer {
 public:
  using Zone = std::function<const DnsZone&()>;

  // kConflict if the address is taken.
  [[nodiscard]] static Result<std::unique_ptr<DnsServer>> open(rt::Runtime runtime,
                                                               SocketAddress where, Zone zone);
  Task<void> run();  // until cancelled
  [[nodiscard]] SocketAddress address() const;

 private:
  static constexpr std::size_t kMaxCallers = 64;

  DnsServer(rt::Runtime runtime, rt::Fd udp, rt::Fd tcp, Zone zone);
  Task<void> serve_udp();
  Task<void> serve_tcp();
  Task<void> serve_caller(std::unique_ptr<net::Socket> caller);

  rt::Runtime runtime_;
  net::Socket udp_;
  net::Socket tcp_;
  Zone zone_;
  rt::TaskGroup callers_;
};

}  // namespace quorate::node
