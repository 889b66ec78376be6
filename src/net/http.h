#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rt/clock.h"

namespace quorate::net {

// Names are lower case. Order is kept; a name may stand more than once.
using Headers = std::vector<std::pair<std::string, std::string>>;

std::optional<std::string_view> find_header(const Headers& headers, std::string_view name);

struct Request {
  std::string method = "GET";
  std::string path = "/";  // with its query, escaped already
  Headers headers;
  std::string body;
};

struct Response {
  int status = 0;
  Headers headers;
  std::string body;
  Headers trailers = {};  // what came behind the body
};

// The answer's head, then its body in pieces as they arrive. Reading slowly slows the sender down
// (flow control). Destroying it before the end resets the stream; the connection goes on.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  virtual int status() const = 0;
  virtual const Headers& headers() const = 0;
  // The next piece; nothing at the proper end. kUnavailable if the connection or the stream broke,
  // kTimeout at the deadline.
  virtual Task<Result<std::optional<std::string>>> read(rt::Deadline deadline) = 0;
  // After the end: what came behind the body (gRPC's status).
  virtual const Headers& trailers() const = 0;
};

// A request whose body is written while its answer is read (HTTP/2 only). status() and headers()
// hold once wait_for_head() has succeeded; read() waits for the head by itself.
class DuplexStream : public ResponseStream {
 public:
  // kUnavailable if the request was certainly not processed, kUnknownOutcome if it broke otherwise,
  // kTimeout at the deadline: the stream goes on.
  virtual Task<Result<void>> wait_for_head(rt::Deadline deadline) = 0;
  // Waits while the server's window is full.
  virtual Task<Result<void>> write(std::string piece, rt::Deadline deadline) = 0;
  // No more pieces come. Never waits.
  virtual void finish_writing() = 0;
};

// Where a server is and how to speak to it.
struct Endpoint {
  std::string host;  // name or address; all addresses of a name are tried
  std::uint16_t port = 0;
  bool tls = true;
  std::string server_name;  // to be verified and sent as SNI; empty = host
  std::string text() const;
};

// A client of one server. Concurrent calls share its connections: HTTP/2 where the server speaks
// it, HTTP/1.1 otherwise.
//
// Errors say what is known: kUnavailable = the request was certainly not processed (could not
// connect, GOAWAY below its stream, REFUSED_STREAM); kUnknownOutcome = it was sent, at least in
// part, and no answer came; the caller knows whether that matters. kTimeout = the deadline passed
// before anything was sent; kUnknownOutcome if it passed later.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // The whole answer; fails with kInvalid if the body is larger than `limit`.
  virtual Task<Result<Response>> call(Request request, rt::Deadline deadline,
                                      std::size_t limit = 64 << 20) = 0;
  // Ends when the head has come; `deadline` is for the head alone.
  virtual Task<Result<std::unique_ptr<ResponseStream>>> open(Request request,
                                                             rt::Deadline deadline) = 0;
};

}  // namespace quorate::net
