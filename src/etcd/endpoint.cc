#include "etcd/endpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "net/address.h"

namespace quorate::etcd {
namespace {

// Of a DNS name or an IPv4 address.
bool is_of_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

}  // namespace

Result<net::Endpoint> parse_endpoint(std::string_view url) {
  auto refuse = [url] {
    return fail(Code::kInvalid, fmt::format("endpoint {}: not http(s)://host:port", url));
  };
  net::Endpoint endpoint;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    endpoint.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    endpoint.tls = false;
    rest.remove_prefix(7);
  } else {
    return refuse();
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);

  std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return refuse();
  std::string_view host = rest.substr(0, colon);
  auto port = parse_integer(rest.substr(colon + 1));
  if (!port || *port < 1 || *port > 65535) return refuse();
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    const bool has_zone = host.find('%') != std::string_view::npos;
    if (has_zone || host.find(':') == std::string_view::npos || !net::Address::parse(host, 0))
      return refuse();
  } else if (host.empty() || !std::all_of(host.begin(), host.end(), is_of_a_name)) {
    return refuse();
  }
  endpoint.host = host;
  endpoint.port = static_cast<std::uint16_t>(*port);
  return endpoint;
}

}  // namespace quorate::etcd
