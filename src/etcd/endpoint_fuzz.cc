// Any bytes as the URL of a member: a host that is taken can stand in a URL again.

#include <fmt/format.h>

#include <cstdint>

#include "base/check.h"
#include "etcd/endpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate;
  const auto endpoint = etcd::parse_endpoint({reinterpret_cast<const char*>(data), size});
  if (!endpoint) return 0;
  CHECK(endpoint->port > 0 && !endpoint->host.empty());
  CHECK(endpoint->host.find_first_of(" /?#@[]\r\n%") == std::string::npos);
  const bool is_address = endpoint->host.find(':') != std::string::npos;
  const auto again = etcd::parse_endpoint(
      fmt::format("{}://{}{}{}:{}", endpoint->tls ? "https" : "http", is_address ? "[" : "",
                  endpoint->host, is_address ? "]" : "", endpoint->port));
  CHECK(again && again->host == endpoint->host && again->port == endpoint->port &&
        again->tls == endpoint->tls);
  return 0;
}
