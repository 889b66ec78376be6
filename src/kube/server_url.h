#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http.h"

namespace quorate::kube {

// A server's address as kubeconfig files give it.
struct ServerUrl {
  net::Endpoint endpoint;
  std::string path;  // without the last slash; empty for the root
};

// `https://host[:port][/path]` or `http://...`; hosts are names, IPv4 or [IPv6]. Ports default to
// 443 and 80. kInvalid, saying what is wrong, for anything else; user info is refused, unseen.
[[nodiscard]] Result<ServerUrl> parse_server_url(std::string_view text);

}  // namespace quorate::kube
