#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "apiserver/server.h"

namespace quorate::apiserver {

// A header's text by its lower-case name; empty if it is not there.
using FindHeader = std::function<std::string(std::string_view name)>;

// A request as it comes over the wire. Path and query of its target are taken apart and unescaped;
// what is malformed stays as it is. Who asks is for the caller to say.
[[nodiscard]] Request make_request(std::string method, std::string_view target,
                                   const FindHeader& header, std::string body);

// A name or a value of a query, unescaped.
[[nodiscard]] std::string unescape_query(std::string_view text);

}  // namespace quorate::apiserver
