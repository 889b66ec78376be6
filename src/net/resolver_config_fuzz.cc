// Any bytes as resolv.conf and as hosts: what cannot be read is passed over, and what comes of it
// is bounded.

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "net/resolver_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  net::ResolverConfig config;
  config.add_resolv_conf(text);
  config.add_hosts(text);
  CHECK(config.attempts > 0 && config.ndots >= 0 && config.timeout > Duration::zero());
  for (const auto& [name, address] : config.hosts) {
    CHECK(!name.empty() && !address.text().empty());
    CHECK(std::none_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }));
  }
  for (const char* host : {"c-0.c-peer.n.svc", "a", "a.", ""})
    CHECK(config.candidates(host).size() <= config.search.size() + 1);
  return 0;
}
