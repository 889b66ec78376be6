#include "net/websocket_client.h"

#include <fmt/format.h>

#include "net/h1_codec.h"
#include "net/http_rules.h"
#include "net/tls_stream.h"

namespace quorate::net {
namespace {

using Kind = WebSocketMessage::Kind;

constexpr std::size_t kReadSize = 16 << 10;
constexpr std::size_t kMaxHead = 256 << 10;
constexpr std::size_t kMaxRefusal = 64 << 10;
constexpr int kSwitching = 101;

// Fields that speak of the connection are not a request's to set, so they go in behind the others.
std::string render_upgrade(const Request& request, const Headers& upgrade,
                           std::string_view authority) {
  auto head = render_request_head(request, authority);
  head.resize(head.size() - 2);  // the empty line
  for (const auto& [name, value] : upgrade) head += fmt::format("{}: {}\r\n", name, value);
  return head + "\r\n";
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

WebSocketClient::WebSocketClient(rt::Runtime runtime, std::unique_ptr<ByteStream> stream,
                                 std::string received)
    : runtime_(runtime),
      stream_(std::move(stream)),
      buffer_(std::move(received)),
      decoder_(WebSocketSide::kClient, kMaxMessage),
      writing_(runtime, 1),
      heard_(runtime.clock->now()) {}

WebSocketClient::~WebSocketClient() { stream_->say_goodbye(); }

auto WebSocketClient::open(rt::Runtime runtime, WebSocketTarget target, rt::Deadline deadline)
    -> Task<Result<Opened>> {
  CO_TRY(check_request(target.request));
  const auto authority = target.endpoint.text();
  std::vector<std::string> alpn{"http/1.1"};
  CO_TRY(auto stream, co_await open_stream(runtime, target.endpoint, std::move(target.tls),
                                           std::move(alpn), deadline));
  std::unique_ptr<WebSocketClient> socket(new WebSocketClient(runtime, std::move(stream), ""));
  CO_TRY(auto answer,
         co_await socket->shake_hands(std::move(target.request), std::move(target.protocols),
                                      authority, deadline));
  if (answer.status != kSwitching) socket.reset();
  co_return Opened{std::move(answer), std::move(socket)};
}

Task<Result<Response>> WebSocketClient::shake_hands(Request request,
                                                    std::vector<std::string> protocols,
                                                    std::string authority, rt::Deadline deadline) {
  const auto key = make_websocket_key(*runtime_.random);
  const auto offered = views(protocols);
  auto head = render_upgrade(request, upgrade_headers(key, offered), authority);
  CO_TRY(co_await send(std::move(head), deadline));
  for (;;) {
    CO_TRY(auto answer, take_response_head(buffer_, kMaxHead));
    if (!answer) {
      CO_TRY(const auto more, co_await receive(deadline));
      if (!more) co_return fail(Code::kUnavailable, "the server closed the connection");
      continue;
    }
    if (answer->status >= 200)
      co_return co_await read_refusal(answer->status, std::move(answer->headers), deadline);
    if (answer->status != kSwitching) continue;  // an interim answer
    CO_TRY(protocol_, check_upgrade(answer->status, answer->headers, key, offered));
    co_return Response{answer->status, std::move(answer->headers), ""};
  }
}

Task<Result<Response>> WebSocketClient::read_refusal(int status, Headers headers,
                                                     rt::Deadline deadline) {
  Response out{status, std::move(headers), ""};
  CO_TRY(const auto framing, response_framing(out.headers, status, "GET"));
  H1BodyDecoder body(framing, kMaxHead);
  for (;;) {
    CO_TRY(body.take(buffer_, out.body));
    if (body.done() || out.body.size() > kMaxRefusal) co_return out;
    CO_TRY(const auto more, co_await receive(deadline));
    if (!more) co_return out;  // what came says enough
  }
}

Task<Result<bool>> WebSocketClient::receive(rt::Deadline deadline) {
  for (;;) {
    const auto before = buffer_.size();
    buffer_.resize(before + kReadSize);
    auto moved = stream_->try_read({buffer_.data() + before, kReadSize});
    buffer_.resize(before + (moved ? moved->bytes : 0));
    if (!moved) co_return fail(std::move(moved).error());
    if (moved->state == Moved::State::kEnd) co_return false;
    if (moved->state == Moved::State::kSome) {
      heard_ = runtime_.clock->now();
      co_return true;
    }
    CO_TRY(co_await stream_->wait_to_read(deadline));
  }
}

Task<Result<bool>> WebSocketClient::receive_or_ping(rt::Deadline deadline) {
  for (;;) {
    auto got = co_await receive(deadline.sooner(runtime_.in(kPingAfter)));
    if (got || got.error() != Code::kTimeout || deadline.passed(*runtime_.clock)) co_return got;
    if (runtime_.clock->now() - heard_ >= kPingAfter + kPingTimeout)
      co_return fail(Code::kUnavailable, "the server does not answer any more");
    CO_TRY(co_await write(Kind::kPing, "", deadline.sooner(runtime_.in(kPingTimeout))));
  }
}

Task<Result<std::optional<WebSocketMessage>>> WebSocketClient::read(rt::Deadline deadline) {
  while (!closed_) {
    CO_TRY(auto message, decoder_.take(buffer_));
    if (!message) {
      CO_TRY(const auto more, co_await receive_or_ping(deadline));
      if (!more) co_return fail(Code::kUnavailable, "the server closed the connection");
      continue;
    }
    if (message->kind == Kind::kText || message->kind == Kind::kBinary) co_return message;
    CO_TRY(co_await answer_control(std::move(*message), deadline));
  }
  co_return std::optional<WebSocketMessage>();
}

Task<Result<void>> WebSocketClient::answer_control(WebSocketMessage message,
                                                   rt::Deadline deadline) {
  if (message.kind == Kind::kPing)
    co_return co_await write(Kind::kPong, std::move(message.data), deadline);
  if (message.kind == Kind::kClose) {
    closed_ = true;
    // It has said all that it will: an answer that does not reach it changes nothing.
    static_cast<void>(co_await write(Kind::kClose, std::move(message.data), deadline));
  }
  co_return Result<void>();
}

Task<Result<void>> WebSocketClient::write(Kind kind, std::string data, rt::Deadline deadline) {
  auto frame = render_frame(kind, data, make_mask(*runtime_.random));
  co_return co_await send(std::move(frame), deadline);
}

Task<Result<void>> WebSocketClient::send(std::string bytes, rt::Deadline deadline) {
  CO_TRY(const auto place, co_await writing_.enter(deadline));
  for (std::size_t done = 0; done < bytes.size();) {
    CO_TRY(const auto moved, stream_->try_write(std::string_view(bytes).substr(done)));
    done += moved.bytes;
    if (moved.state == Moved::State::kBlocked) CO_TRY(co_await stream_->wait_to_write(deadline));
  }
  co_return Result<void>();
}

}  // namespace quorate::net
