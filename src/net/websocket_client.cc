#include "net/websocket_client.h"

#include <fmt/format.h>

#include "net/h1_codec.h"
#include "net/http_rules.h"
#include "net/tls_stream.h"

namespace quorate::net {
namespace {

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

WebSocketClient::WebSocketClient(std::unique_ptr<ByteStream> connection)
    : connection_(std::move(connection)) {}

WebSocketClient::~WebSocketClient() { connection_->say_goodbye(); }

auto WebSocketClient::open(rt::Runtime runtime, WebSocketTarget target, rt::Deadline deadline)
    -> Task<Result<Opened>> {
  CO_TRY(check_request(target.request));
  const auto authority = target.endpoint.text();
  std::vector<std::string> alpn{"http/1.1"};
  CO_TRY(auto connection, co_await open_stream(runtime, target.endpoint, std::move(target.tls),
                                               std::move(alpn), deadline));
  std::unique_ptr<WebSocketClient> socket(new WebSocketClient(std::move(connection)));
  CO_TRY(auto answer,
         co_await socket->shake_hands(runtime, std::move(target.request),
                                      std::move(target.protocols), authority, deadline));
  if (answer.status != kSwitching) socket.reset();
  co_return Opened{std::move(answer), std::move(socket)};
}

Task<Result<Response>> WebSocketClient::shake_hands(rt::Runtime runtime, Request request,
                                                    std::vector<std::string> protocols,
                                                    std::string authority, rt::Deadline deadline) {
  const auto key = make_websocket_key(*runtime.random);
  const auto offered = views(protocols);
  auto head = render_upgrade(request, upgrade_headers(key, offered), authority);
  CO_TRY(co_await write_all(*connection_, std::move(head), deadline));
  std::string received;
  for (;;) {
    CO_TRY(auto answer, take_response_head(received, kMaxHead));
    if (!answer) {
      CO_TRY(const auto more, co_await read_more(*connection_, received, kReadSize, deadline));
      if (!more) co_return fail(Code::kUnavailable, "the server closed the connection");
      continue;
    }
    if (answer->status >= 200)
      co_return co_await read_refusal(answer->status, std::move(answer->headers),
                                      std::move(received), deadline);
    if (answer->status != kSwitching) continue;  // an interim answer
    CO_TRY(protocol_, check_upgrade(answer->status, answer->headers, key, offered));
    talk_.emplace(runtime, WebSocketSide::kClient, *connection_, std::move(received));
    co_return Response{answer->status, std::move(answer->headers), ""};
  }
}

Task<Result<Response>> WebSocketClient::read_refusal(int status, Headers headers,
                                                     std::string received, rt::Deadline deadline) {
  Response out{status, std::move(headers), ""};
  CO_TRY(const auto framing, response_framing(out.headers, status, "GET"));
  H1BodyDecoder body(framing, kMaxHead);
  for (;;) {
    CO_TRY(body.take(received, out.body));
    if (body.done() || out.body.size() > kMaxRefusal) co_return out;
    CO_TRY(const auto more, co_await read_more(*connection_, received, kReadSize, deadline));
    if (!more) co_return out;  // what came says enough
  }
}

}  // namespace quorate::net
