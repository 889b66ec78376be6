#pragma once

#include <string_view>

#include "base/result.h"
#include "net/http.h"

namespace quorate::etcd {

// `https://host:port` or `http://host:port`; an IPv6 address in brackets; nothing behind the port
// but a slash. kInvalid for anything else.
Result<net::Endpoint> parse_endpoint(std::string_view url);

}  // namespace quorate::etcd
