#pragma once

#include <functional>

#include "base/log.h"
#include "net/http.h"
#include "net/tls.h"

namespace quorate::net {

// One request to a server of ours. The body has been read whole (up to the server's limit).
struct ServerRequest {
  std::string method;
  std::string path;  // with its query
  Headers headers;
  std::string body;
  std::string peer;              // address of the caller
  std::string local;             // address of ours that was called, without its port
  std::string peer_certificate;  // PEM of the verified client certificate; empty = none
};

class ByteStream;

// A connection that speaks another protocol from now on. It is the handler's until that returns.
struct Upgraded {
  ByteStream* stream = nullptr;
  std::string first;  // of the new protocol, received already
};

// Where the handler writes its answer: either one `respond`, or `start`, any number of `write`s,
// `finish`, or `upgrade`. A handler that returns without an answer gives a 500; one that does not
// finish cuts the answer off visibly. When the caller goes away the handler's fiber is cancelled.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual Task<Result<void>> respond(Response response) = 0;
  virtual Task<Result<void>> start(int status, Headers headers) = 0;
  // Waits while the caller's window is full. kUnavailable once the caller has gone.
  virtual Task<Result<void>> write(std::string piece, rt::Deadline deadline) = 0;
  virtual Task<Result<void>> finish(Headers trailers = {}) = 0;
  // Answers 101 and gives the connection away, which is closed when the handler returns. `headers`
  // name the new protocol in `upgrade`. From then on it is the handler who notices that the caller
  // has gone. kInvalid over HTTP/2, which has no such thing.
  virtual Task<Result<Upgraded>> upgrade(Headers headers) = 0;
};

class Handler {
 public:
  virtual ~Handler() = default;
  virtual Task<void> handle(ServerRequest request, Responder& responder) = 0;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;           // 0 = any free one
  int listen_fd = -1;               // an open listener to take over instead of address and port
  std::shared_ptr<TlsContext> tls;  // absent = plain (HTTP/1.1, or HTTP/2 by prior knowledge)
  // In place of `tls`, for a listener on many addresses: who to be on the one that was called. A
  // caller is dropped where that is nobody.
  std::function<std::shared_ptr<TlsContext>(const std::string& local)> tls_for;
  std::size_t max_body = 8 << 20;
  std::size_t max_header_bytes = 64 << 10;
  int max_connections = 1024;       // more wait to be accepted
  std::uint32_t max_streams = 250;  // at once on one HTTP/2 connection
  // A connection on which nothing has moved for this long, while it was the caller's turn, is
  // closed. Also the time that a handshake, and a request from its first byte to its last, may
  // take.
  Duration idle_timeout = std::chrono::minutes(2);
  Log log;  // for handlers that break: their caller gets a 500
};

// HTTP/1.1 and, by ALPN, HTTP/2. Listens from creation on; serves while `run` runs.
class Server {
 public:
  virtual ~Server() = default;
  virtual std::uint16_t port() const = 0;
  virtual Task<void> run(
      Handler& handler) = 0;  // until cancelled; open requests are cancelled, then awaited
};

Result<std::unique_ptr<Server>> make_server(rt::Runtime runtime, ServerOptions options);

}  // namespace quorate::net
