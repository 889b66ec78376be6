#include "kube/exec.h"

#include <fmt/format.h>

#include <limits>

#include "base/strings.h"
#include "json/document.h"
#include "kube/resource.h"
#include "kube/status.h"

namespace quorate::kube {
namespace {

constexpr const char* kProtocol = "v5.channel.k8s.io";
constexpr int kSwitching = 101;
// A larger message would be taken apart by proxies that limit them.
constexpr std::size_t kPiece = 32 << 10;

}  // namespace

std::string render_exec_message(ExecChannel channel, std::string_view data) {
  std::string out(1, static_cast<char>(channel));
  out += data;
  return out;
}

Result<ExecMessage> parse_exec_message(std::string_view message) {
  if (message.empty()) return fail(Code::kInvalid, "a message without a channel");
  return ExecMessage{static_cast<ExecChannel>(static_cast<std::uint8_t>(message[0])),
                     std::string(message.substr(1))};
}

Result<ExecSize> parse_exec_size(std::string_view text) {
  TRY(const auto document, json::parse(text));
  TRY(const auto columns, json::integer_at(document, "/Width"));
  TRY(const auto rows, json::integer_at(document, "/Height"));
  for (const auto side : {columns, rows})
    if (side < 0 || side > std::numeric_limits<std::uint16_t>::max())
      return fail(Code::kInvalid, fmt::format("no terminal is {} by {}", columns, rows));
  return ExecSize{static_cast<std::uint16_t>(columns), static_cast<std::uint16_t>(rows)};
}

Result<int> parse_exec_status(std::string_view status) {
  auto document = json::parse(status);
  if (!document) return fail(std::move(document).error().in("read how the command ended"));
  if (json::text_or(*document, "/status", "") == "Success") return 0;
  if (const auto* causes = json::find(*document, "/details/causes"); causes && causes->is_array())
    for (const auto& cause : causes->get_array())
      if (json::text_or(cause, "/reason", "") == "ExitCode")
        if (const auto code = parse_integer(json::text_or(cause, "/message", ""));
            code && *code > 0 && *code <= 255)
          return static_cast<int>(*code);
  const auto said = json::text_or(*document, "/message", "it did not say why");
  return fail(Code::kUnavailable, std::string(said));
}

net::Request make_exec_request(const ExecRequest& request) {
  Query query;
  query.add("container", request.container);
  for (const auto& word : request.command) query.add("command", word);
  query.add_if(request.input, "stdin", "true").add("stdout", "true").add("stderr", "true");
  net::Request out;
  out.path = kPods.path(request.pod, "exec") + query.text();
  return out;
}

Task<Result<std::unique_ptr<Exec>>> Exec::open(HttpApi& api, ExecRequest request,
                                               rt::Deadline deadline) {
  const auto operation = fmt::format("exec in pod {}", request.pod.text());
  std::vector<std::string> protocols{kProtocol};
  auto opened =
      co_await api.open_websocket(make_exec_request(request), std::move(protocols), deadline);
  if (!opened) co_return fail(std::move(opened).error().in(operation));
  if (opened->answer.status != kSwitching)
    co_return fail(to_error(opened->answer, Effect::kRead).in(operation));
  co_return std::unique_ptr<Exec>(new Exec(std::move(opened->socket)));
}

Task<Result<std::optional<ExecMessage>>> Exec::read(rt::Deadline deadline) {
  while (!ended_) {
    auto got = co_await socket_->read(deadline);
    if (!got && got.error() == Code::kUnavailable)
      co_return fail(std::move(got).error().as(Code::kUnknownOutcome));
    CO_TRY(auto message, std::move(got));
    if (!message)
      co_return fail(Code::kUnknownOutcome,
                     "the server ended the connection and did not say how the command ended");
    CO_TRY(auto said, parse_exec_message(message->data));
    if (said.channel == ExecChannel::kStatus) {
      exit_code_ = parse_exec_status(said.data);
      ended_ = true;
    } else if (said.channel == ExecChannel::kOutput || said.channel == ExecChannel::kErrors) {
      if (!said.data.empty()) co_return said;  // each channel begins with an empty message
    }
  }
  co_return std::optional<ExecMessage>();
}

Task<Result<void>> Exec::write_input(std::string piece, rt::Deadline deadline) {
  for (std::size_t done = 0; done < piece.size(); done += kPiece) {
    const auto part = std::string_view(piece).substr(done, kPiece);
    auto message = render_exec_message(ExecChannel::kInput, part);
    CO_TRY(co_await socket_->write(net::WebSocketMessage::Kind::kBinary, std::move(message),
                                   deadline));
  }
  co_return Result<void>();
}

Task<Result<void>> Exec::end_input(rt::Deadline deadline) {
  const char which = static_cast<char>(ExecChannel::kInput);
  auto message = render_exec_message(ExecChannel::kClose, {&which, 1});
  co_return co_await socket_->write(net::WebSocketMessage::Kind::kBinary, std::move(message),
                                    deadline);
}

}  // namespace quorate::kube
