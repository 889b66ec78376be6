#pragma once

#include "net/http.h"
#include "net/tls.h"

namespace quorate::net {

struct HttpClientOptions {
  Endpoint endpoint;
  std::shared_ptr<TlsContext> tls;  // required if endpoint.tls
  bool http2 = true;                // offered by ALPN; without TLS: prior knowledge
  int max_connections =
      2;  // HTTP/2: one for streams that stay open, one for calls; HTTP/1.1: at most this many
  Duration connect_timeout = std::chrono::seconds(10);
  // A PING after this long without a byte received; a peer that does not answer within the timeout
  // is dead.
  Duration ping_after = std::chrono::seconds(30);
  Duration ping_timeout = std::chrono::seconds(15);
  // How much a stream may receive before it is read. A connection takes sixteen times as much, so
  // that streams which nobody reads hold up neither the others nor the memory.
  std::uint32_t window = 1 << 20;
};

// Connects on first use, again after a loss. Must be closed before it goes.
class Client : public HttpClient {
 public:
  // Ends when the head of the request has a stream to go out on; `request.body` is its first piece.
  // kInvalid if the server speaks HTTP/1.1 only.
  virtual Task<Result<std::unique_ptr<DuplexStream>>> open_duplex(Request request,
                                                                  rt::Deadline deadline) = 0;
  virtual Task<void> close() = 0;
  // Drops the connections once their calls have ended and uses `tls` for the next ones (rotated
  // certificates).
  virtual void replace_tls(std::shared_ptr<TlsContext> tls) = 0;
  struct Counters {
    std::uint64_t connects = 0;
    std::uint64_t calls = 0;
    std::uint64_t bytes_received = 0;
    int open_connections = 0;
    int open_streams = 0;
  };
  virtual Counters counters() const = 0;
  virtual const rt::Runtime& runtime() const = 0;
};

std::unique_ptr<Client> make_client(rt::Runtime runtime, HttpClientOptions options);

}  // namespace quorate::net
