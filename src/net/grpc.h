#pragma once

#include "net/http_client.h"

namespace quorate::net {

// gRPC's status numbers.
enum class GrpcStatus {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

struct GrpcOptions {
  Headers metadata;  // sent with the call; names end in -bin for binary values, which are given raw
  std::size_t max_message = 64ULL << 20;  // larger answers are refused with kInvalid
};

struct GrpcAnswer {
  std::string message;  // serialised protobuf
  Headers headers;
  Headers trailers;
};

// Messages of a server-streaming call, one by one.
class GrpcStream {
 public:
  virtual ~GrpcStream() = default;
  // Nothing after an OK status. An Error carries the gRPC status in status().
  virtual Task<Result<std::optional<std::string>>> read(rt::Deadline deadline) = 0;
  virtual const Headers& trailers() const = 0;
};

// A call both of whose sides stream (etcd's Watch and lease keep-alive).
class GrpcDuplex : public GrpcStream {
 public:
  virtual Task<Result<void>> write(std::string message, rt::Deadline deadline) = 0;
  virtual void finish_writing() = 0;
};

// gRPC over an HTTP/2 client. The deadline is also sent to the server (grpc-timeout). An Error from
// here carries the gRPC status number in status() and the server's message as its message; a
// transport failure keeps the code of HttpClient. The caller maps statuses to codes where it knows
// more (etcd's errors); the default mapping is in `grpc_error`.
class GrpcChannel {
 public:
  virtual ~GrpcChannel() = default;
  virtual Task<Result<GrpcAnswer>> unary(std::string method, std::string message,
                                         GrpcOptions options, rt::Deadline deadline) = 0;
  virtual Task<Result<std::unique_ptr<GrpcStream>>> server_stream(std::string method,
                                                                  std::string message,
                                                                  GrpcOptions options,
                                                                  rt::Deadline head_deadline) = 0;
  // Ends when the call has a stream, before the server has said anything: many servers only do so
  // after the first message. A refusal shows in the first read.
  virtual Task<Result<std::unique_ptr<GrpcDuplex>>> duplex(std::string method, GrpcOptions options,
                                                           rt::Deadline head_deadline) = 0;
};

// `client` outlives the channel; its streams may outlive both.
std::unique_ptr<GrpcChannel> make_grpc_channel(Client& client);

// A status other than OK as an Error that carries it.
Error grpc_error(int status, std::string message);

}  // namespace quorate::net
