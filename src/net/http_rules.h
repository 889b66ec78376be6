#pragma once

#include "net/http.h"

namespace quorate::net {

// What may stand in a message, whatever the version of HTTP. Texts that break out of their place
// (line ends in values, spaces in paths) would let the caller's data speak as the client or server.

[[nodiscard]] bool is_token(std::string_view text);        // methods, header names
[[nodiscard]] bool is_field_value(std::string_view text);  // no control characters but tab
[[nodiscard]] bool is_target(std::string_view text);       // a path with its query

// kInvalid, naming what is wrong, if a request of ours cannot be sent as it is.
[[nodiscard]] Result<void> check_request(const Request& request);
[[nodiscard]] Result<void> check_fields(const Headers& fields);

// Fields that speak of one HTTP/1.1 connection: not allowed in HTTP/2, set by us in HTTP/1.1.
[[nodiscard]] bool is_connection_field(std::string_view name);

}  // namespace quorate::net
