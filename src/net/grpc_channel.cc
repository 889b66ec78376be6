#include <fmt/format.h>

#include "net/grpc_codec.h"

namespace quorate::net {

namespace {

Request make_request(std::string method, GrpcOptions options) {
  Request request;
  request.method = "POST";
  request.path = std::move(method);
  request.headers = {
      {"te", "trailers"}, {"content-type", "application/grpc"}, {"user-agent", "quorate"}};
  for (auto& field : encode_metadata(std::move(options.metadata)))
    request.headers.push_back(std::move(field));
  return request;
}

Result<GrpcAnswer> parse_answer(Response response, std::size_t max_message) {
  TRY(check_grpc_head(response.status, response.headers));
  TRY(grpc_outcome(response.status, response.headers, response.trailers));
  GrpcDeframer deframer(max_message);
  deframer.add(response.body);
  TRY(auto message, deframer.next());
  if (!message) return fail(Code::kCorrupt, "grpc: status OK without a message");
  if (!deframer.empty()) return fail(Code::kCorrupt, "grpc: more than one message");
  return GrpcAnswer{std::move(*message), decode_metadata(std::move(response.headers)),
                    decode_metadata(std::move(response.trailers))};
}

// Reads messages from a stream of either kind. The head is checked before the first.
class MessageReader {
 public:
  explicit MessageReader(std::size_t max_message) : deframer_(max_message) {}

  Task<Result<std::optional<std::string>>> read(ResponseStream& stream, rt::Deadline deadline) {
    if (failure_) co_return fail(*failure_);
    auto message = co_await next(stream, deadline);
    // A passed deadline or a cancelled fiber says nothing about the stream.
    if (!message && message.error() != Code::kTimeout && message.error() != Code::kCancelled)
      failure_ = message.error();
    co_return message;
  }

  const Headers& trailers() const { return trailers_; }

 private:
  Task<Result<std::optional<std::string>>> next(ResponseStream& stream, rt::Deadline deadline) {
    for (;;) {
      CO_TRY(auto message, deframer_.next());
      if (message) co_return message;
      CO_TRY(auto piece, co_await stream.read(deadline));
      if (!std::exchange(head_checked_, true))
        CO_TRY(check_grpc_head(stream.status(), stream.headers()));
      if (!piece) break;
      deframer_.add(*piece);
    }
    trailers_ = decode_metadata(stream.trailers());
    CO_TRY(grpc_outcome(stream.status(), stream.headers(), stream.trailers()));
    if (!deframer_.empty()) co_return fail(Code::kCorrupt, "grpc: the last message is cut off");
    co_return std::optional<std::string>();
  }

  GrpcDeframer deframer_;
  bool head_checked_ = false;
  Headers trailers_;
  std::optional<Error> failure_;
};

class ServerStream final : public GrpcStream {
 public:
  ServerStream(std::unique_ptr<ResponseStream> stream, std::size_t max_message)
      : stream_(std::move(stream)), reader_(max_message) {}
  Task<Result<std::optional<std::string>>> read(rt::Deadline deadline) override {
    return reader_.read(*stream_, deadline);
  }
  const Headers& trailers() const override { return reader_.trailers(); }

 private:
  std::unique_ptr<ResponseStream> stream_;
  MessageReader reader_;
};

class Duplex final : public GrpcDuplex {
 public:
  Duplex(std::unique_ptr<DuplexStream> stream, std::size_t max_message)
      : stream_(std::move(stream)), reader_(max_message) {}
  Task<Result<std::optional<std::string>>> read(rt::Deadline deadline) override {
    return reader_.read(*stream_, deadline);
  }
  const Headers& trailers() const override { return reader_.trailers(); }
  Task<Result<void>> write(std::string message, rt::Deadline deadline) override {
    return stream_->write(frame_message(message), deadline);
  }
  void finish_writing() override { stream_->finish_writing(); }

 private:
  std::unique_ptr<DuplexStream> stream_;
  MessageReader reader_;
};

class Channel final : public GrpcChannel {
 public:
  explicit Channel(Client& client) : client_(client) {}

  Task<Result<GrpcAnswer>> unary(std::string method, std::string message, GrpcOptions options,
                                 rt::Deadline deadline) override {
    const auto max_message = options.max_message;
    auto request = make_request(std::move(method), std::move(options));
    request.body = frame_message(message);
    if (deadline.at != Monotonic::max()) {
      const auto left = deadline.at - client_.runtime().clock->now();
      request.headers.emplace_back("grpc-timeout", render_timeout(left));
    }
    const auto limit = max_message + frame_message("").size();
    CO_TRY(auto response, co_await client_.call(std::move(request), deadline, limit));
    co_return parse_answer(std::move(response), max_message);
  }

  Task<Result<std::unique_ptr<GrpcStream>>> server_stream(std::string method, std::string message,
                                                          GrpcOptions options,
                                                          rt::Deadline head_deadline) override {
    const auto max_message = options.max_message;
    auto request = make_request(std::move(method), std::move(options));
    request.body = frame_message(message);
    CO_TRY(auto stream, co_await client_.open(std::move(request), head_deadline));
    // An answer that is only a head tells its status there.
    CO_TRY(check_grpc_head(stream->status(), stream->headers()));
    if (find_header(stream->headers(), "grpc-status"))
      CO_TRY(grpc_outcome(stream->status(), stream->headers(), {}));
    co_return std::make_unique<ServerStream>(std::move(stream), max_message);
  }

  Task<Result<std::unique_ptr<GrpcDuplex>>> duplex(std::string method, GrpcOptions options,
                                                   rt::Deadline head_deadline) override {
    const auto max_message = options.max_message;
    auto request = make_request(std::move(method), std::move(options));
    CO_TRY(auto stream, co_await client_.open_duplex(std::move(request), head_deadline));
    co_return std::make_unique<Duplex>(std::move(stream), max_message);
  }

 private:
  Client& client_;
};

}  // namespace

std::unique_ptr<GrpcChannel> make_grpc_channel(Client& client) {
  return std::make_unique<Channel>(client);
}

}  // namespace quorate::net
