#pragma once

#include <functional>

#include "base/log.h"
#include "kube/client.h"
#include "rt/loop.h"

namespace quorate::dashboard {

struct DashboardOptions {
  std::string ns;          // whose clusters are shown; empty: of all namespaces
  std::uint16_t port = 0;  // on 127.0.0.1; 0: any free one
  Log log;
  std::function<void(const std::string& address)> ready;  // where it is to be seen, token included
};

// Serves the page on loopback until SIGTERM or SIGINT. Fails at once where the clusters cannot be
// read; what fails later is told on the page.
[[nodiscard]] Task<Result<void>> run_dashboard(rt::Loop& loop, kube::Client& client,
                                               DashboardOptions options);

}  // namespace quorate::dashboard
