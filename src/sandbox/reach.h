#pragma once

#include <map>
#include <memory>
#include <string>

#include "apiserver/server.h"
#include "base/ids.h"
#include "base/log.h"
#include "node/relay.h"
#include "rt/files.h"
#include "rt/group.h"
#include "rt/signal.h"
#include "sandbox/host_sockets.h"

namespace quorate::sandbox {

// Leads ports of the host's loopback to the client Services of clusters, for programs outside of
// the fabric. Bytes are passed on as they are: TLS is between the program and the member, whose
// certificate names the loopback. A port stays a cluster's over restarts.
class Reach {
 public:
  // `file` keeps which port is whose.
  Reach(rt::Runtime runtime, apiserver::Server& api, HostSockets& host, rt::Files& files,
        std::string file, Log log);

  // The cluster's port; one is opened if it has none. Once it is told it stays, also after a power
  // cut. kNotFound if there is no such cluster.
  [[nodiscard]] Task<Result<std::uint16_t>> open(ObjectKey cluster, rt::Deadline deadline);
  // Opens the ports of the last start, and passes calls on until cancelled.
  Task<void> run();

 private:
  using Ports = std::map<std::string, std::uint16_t>;  // by namespace/name
  Result<std::uint16_t> listen(const ObjectKey& cluster, std::uint16_t wanted);
  std::optional<node::SocketAddress> find_service(const ObjectKey& cluster);
  [[nodiscard]] bool exists(const ObjectKey& cluster) const;
  Task<void> open_again();
  Task<Ports> read();
  Task<Result<void>> write();
  static Task<void> run_relay(std::shared_ptr<node::Relay> relay);

  rt::Runtime runtime_;
  apiserver::Server& api_;
  HostSockets& host_;
  rt::Files& files_;
  std::string file_;
  Log log_;
  Ports ports_;            // that listen
  rt::Semaphore opening_;  // one after the other, so that the last to write writes the latest
  rt::TaskGroup relays_;
};

}  // namespace quorate::sandbox
