#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "tests/support/ports.h"

namespace quorate::support {

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// GET over plain HTTP/1.0, for health endpoints. Nothing where no whole answer came in time.
std::optional<HttpAnswer> http_get(const Endpoint& endpoint, const std::string& path,
                                   std::chrono::milliseconds within = std::chrono::seconds(2));

}  // namespace quorate::support
