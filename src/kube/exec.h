#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/http_api.h"
#include "net/websocket_client.h"

// Commands inside of a running container: Kubernetes' exec, over a WebSocket of the protocol
// v5.channel.k8s.io (API servers from 1.30 on; older ones cannot end a command's input).
namespace quorate::kube {

struct ExecRequest {
  ObjectKey pod;
  std::string container;
  std::vector<std::string> command;  // a program and its arguments; no shell
  bool input = false;                // its standard input is ours
};

// --- the protocol; a message is a byte that names its channel, then what is said on it

enum class ExecChannel : std::uint8_t {
  kInput = 0,
  kOutput = 1,
  kErrors = 2,
  kStatus = 3,   // a metav1.Status, once, at the end
  kResize = 4,   // how large the terminal is now
  kClose = 255,  // followed by the channel that is over
};

struct ExecMessage {
  ExecChannel channel = ExecChannel::kOutput;
  std::string data;
  friend bool operator==(const ExecMessage&, const ExecMessage&) = default;
};
[[nodiscard]] std::string render_exec_message(ExecChannel channel, std::string_view data);
// kInvalid for an empty message. Channels that we do not know are given as they are.
[[nodiscard]] Result<ExecMessage> parse_exec_message(std::string_view message);

// How large a terminal is, as said on kResize. kInvalid if there is none that large.
struct ExecSize {
  std::uint16_t columns = 0;
  std::uint16_t rows = 0;
  friend bool operator==(const ExecSize&, const ExecSize&) = default;
};
[[nodiscard]] Result<ExecSize> parse_exec_size(std::string_view text);

// The command's exit code. kUnavailable, in the server's own words, if it was not run at all.
[[nodiscard]] Result<int> parse_exec_status(std::string_view status);

[[nodiscard]] net::Request make_exec_request(const ExecRequest& request);

// --- a command that runs

class Exec {
 public:
  // Ends when the server has begun to run it. Errors are the server's, by status.h.
  [[nodiscard]] static Task<Result<std::unique_ptr<Exec>>> open(HttpApi& api, ExecRequest request,
                                                                rt::Deadline deadline);

  // What it says on kOutput or kErrors; nothing once it has ended: then exit_code() tells how.
  // kUnknownOutcome if the connection was lost before: the command may run on.
  [[nodiscard]] Task<Result<std::optional<ExecMessage>>> read(rt::Deadline deadline);
  [[nodiscard]] Task<Result<void>> write_input(std::string piece, rt::Deadline deadline);
  [[nodiscard]] Task<Result<void>> end_input(rt::Deadline deadline);

  [[nodiscard]] const Result<int>& exit_code() const { return exit_code_; }

 private:
  explicit Exec(std::unique_ptr<net::WebSocketClient> socket) : socket_(std::move(socket)) {}

  std::unique_ptr<net::WebSocketClient> socket_;
  bool ended_ = false;
  Result<int> exit_code_ = fail(Code::kUnknownOutcome, "the command has not ended");
};

}  // namespace quorate::kube
