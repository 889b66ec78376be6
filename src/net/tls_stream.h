#pragma once

#include <vector>

#include "net/byte_stream.h"
#include "net/http.h"
#include "net/tls.h"

namespace quorate::net {

// Whom a client means to reach.
struct TlsTarget {
  std::string server_name;        // must be in the server's certificate: a DNS name or an address
  std::string session_key;        // servers with the same key share session tickets
  std::vector<std::string> alpn;  // offered; empty = the context's
};

// Shakes hands on a connected socket. Errors name the reason. kForbidden if one side does not
// accept the other's certificate, kUnavailable for everything else.
//
// A TLS 1.3 server judges our certificate after we are done: its refusal shows in the first read,
// or in a write that comes after it.
[[nodiscard]] Task<Result<std::unique_ptr<ByteStream>>> tls_connect(
    std::unique_ptr<Socket> socket, std::shared_ptr<TlsContext> context, TlsTarget target,
    rt::Deadline deadline);
[[nodiscard]] Task<Result<std::unique_ptr<ByteStream>>> tls_accept(
    std::unique_ptr<Socket> socket, std::shared_ptr<TlsContext> context, rt::Deadline deadline);

// A connection to the endpoint, secured if it says so; `tls` is required then. `alpn` as in
// TlsTarget.
[[nodiscard]] Task<Result<std::unique_ptr<ByteStream>>> open_stream(rt::Runtime runtime,
                                                                    Endpoint endpoint,
                                                                    std::shared_ptr<TlsContext> tls,
                                                                    std::vector<std::string> alpn,
                                                                    rt::Deadline deadline);

}  // namespace quorate::net
