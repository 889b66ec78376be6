#include "sandbox/pod_exec.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <csignal>

#include "json/document.h"
#include "node/socket_io.h"
#include "node/terminal.h"
#include "rt/exec.h"
#include "rt/group.h"
#include "sandbox/pod_request.h"

namespace quorate::sandbox {
namespace {

using namespace std::chrono_literals;
using kube::ExecChannel;

constexpr std::string_view kProtocols[] = {"v5.channel.k8s.io"};
constexpr std::size_t kPiece = 32 << 10;
constexpr Duration kStartTimeout = 10s;
constexpr Duration kWriteTimeout = 60s;  // of a client that does not read
constexpr Duration kLastOutput = 1s;     // to be read after the end
constexpr Duration kGoodbye = 1s;
constexpr std::string_view kInputIsOver("\0", 1);  // what a close names: the channel of the input

// How it ended, as the API says it.
std::string render_end(const Result<rt::Exit>& end) {
  if (!end)
    return json::render(json::Object{{"metadata", json::Object()},
                                     {"status", "Failure"},
                                     {"reason", "InternalError"},
                                     {"message", end.error().text()},
                                     {"code", 500}});
  if (end->ok())
    return json::render(json::Object{{"metadata", json::Object()}, {"status", "Success"}});
  const int code = end->signal == 0 ? end->code : 128 + end->signal;
  return json::render(json::Object{
      {"metadata", json::Object()},
      {"status", "Failure"},
      {"reason", "NonZeroExitCode"},
      {"message", fmt::format("command terminated with non-zero exit code: exit status {}", code)},
      {"details",
       json::Object{{"causes", json::Array{json::Object{{"reason", "ExitCode"},
                                                        {"message", fmt::to_string(code)}}}}}}});
}

struct Ends {
  rt::Fd ours;
  rt::Fd theirs;
};

// What the command says comes out at our end.
Result<Ends> make_outlet() {
  TRY(auto pipe, rt::make_pipe());
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return Ends{std::move(pipe.read), std::move(pipe.write)};
}

// What we write is the command's input. A socket, since writing to one whose reader has gone can be
// told not to raise a signal.
Result<Ends> make_inlet() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return fail(errno_error("socketpair", errno));
  Ends out{rt::Fd(pair[0]), rt::Fd(pair[1])};
  ::fcntl(out.ours.get(), F_SETFL, O_NONBLOCK);
  return out;
}

}  // namespace

// nullptr: not asked for. At a terminal, input and output are its person's end.
struct ExecStreams {
  std::unique_ptr<net::Socket> input;
  std::unique_ptr<net::Socket> output;
  std::unique_ptr<net::Socket> errors;
  bool terminal = false;
};

bool PodExec::serves(const net::ServerRequest& request) const {
  return PodRequest::parse(request.path, "exec").has_value();
}

Task<void> PodExec::handle(net::ServerRequest request, net::Responder& responder) {
  const auto asked = *PodRequest::parse(request.path, "exec");
  auto running = find_running(asked);
  if (!running) {
    [[maybe_unused]] auto told = co_await responder.respond(make_refusal(running.error()));
    co_return;
  }
  auto socket =
      co_await net::WebSocketServer::accept(runtime_, request.headers, responder, kProtocols);
  if (!socket) {
    [[maybe_unused]] auto told = co_await responder.respond(make_refusal(socket.error()));
    co_return;
  }
  ExecStreams streams;
  auto end = co_await run(asked, **socket, streams);
  if (!end && end.error() == Code::kCancelled) co_return;
  [[maybe_unused]] auto told = co_await say_end(**socket, render_end(end));
}

Result<PodExec::Running> PodExec::find_running(const PodRequest& request) const {
  if (request.text("command").empty()) return fail(Code::kInvalid, "no command is given");
  TRY(const auto place, find_container(api_, request));
  TRY(auto* node, find_node(nodes_(), place.node));
  auto* pod = node->find_pod(request.pod);
  if (!pod || !pod->find_run(place.container))
    return fail(Code::kInvalid, fmt::format("container {} of pod {} does not run", place.container,
                                            request.pod.name));
  return Running{pod, place.container};
}

Result<node::Spawned> PodExec::start_at_terminal(const PodRequest& request,
                                                 ExecStreams& streams) const {
  TRY(const auto running, find_running(request));
  TRY(auto terminal, node::Terminal::open());
  node::Program program;
  program.arguments = request.query.find("command")->second;
  program.terminal = true;
  program.input = program.output = terminal.program.get();
  rt::Fd input(::fcntl(terminal.person.get(), F_DUPFD_CLOEXEC, 0));
  if (!input) return fail(errno_error("fcntl(F_DUPFD_CLOEXEC)", errno));
  if (request.flag("stdin"))
    streams.input = std::make_unique<net::Socket>(runtime_, input.release());
  streams.output = std::make_unique<net::Socket>(runtime_, terminal.person.release());
  streams.terminal = true;
  return running.pod->start_command(running.container, std::move(program));
}

Result<node::Spawned> PodExec::start(const PodRequest& request, ExecStreams& streams) const {
  if (request.flag("tty")) return start_at_terminal(request, streams);
  // Looked for again: the container may have ended while hands were shaken.
  TRY(const auto running, find_running(request));
  node::Program program;
  program.arguments = request.query.find("command")->second;
  Ends input, output, errors;
  if (request.flag("stdin")) {
    TRY(input, make_inlet());
    program.input = input.theirs.get();
    streams.input = std::make_unique<net::Socket>(runtime_, input.ours.release());
  }
  if (request.flag("stdout")) {
    TRY(output, make_outlet());
    program.output = output.theirs.get();
    streams.output = std::make_unique<net::Socket>(runtime_, output.ours.release());
  }
  if (request.flag("stderr")) {
    TRY(errors, make_outlet());
    program.errors = errors.theirs.get();
    streams.errors = std::make_unique<net::Socket>(runtime_, errors.ours.release());
  }
  return running.pod->start_command(running.container, std::move(program));
}

Task<Result<rt::Exit>> PodExec::run(PodRequest request, net::WebSocketServer& socket,
                                    ExecStreams& streams) {
  CO_TRY(auto command, start(request, streams));
  Result<rt::Exit> end;
  if (auto up =
          co_await node::wait_until_running(runtime_, command, {}, runtime_.in(kStartTimeout));
      !up)
    end = fail(std::move(up).error().in(request.text("command")));
  else
    end = co_await converse(socket, command.child, streams);
  if (!end) {
    // Whatever became of it, it does not stay.
    if (auto killed = co_await command.child.kill(); !killed)
      co_return fail(std::move(killed).error());
  }
  co_return end;
}

Task<Result<rt::Exit>> PodExec::converse(net::WebSocketServer& socket, rt::Child& child,
                                         ExecStreams& streams) {
  rt::TaskGroup outputs(runtime_);
  rt::TaskGroup inputs(runtime_);
  if (streams.output)
    outputs.spawn("output", pass_output(socket, ExecChannel::kOutput, *streams.output));
  if (streams.errors)
    outputs.spawn("errors", pass_output(socket, ExecChannel::kErrors, *streams.errors));
  inputs.spawn("input", pass_input(socket, streams, child));
  auto end = co_await child.wait(rt::Deadline::never());
  // Something that it has left behind may hold its output open for ever.
  if (end) static_cast<void>(co_await outputs.join_until(runtime_.in(kLastOutput)));
  outputs.cancel();
  inputs.cancel();
  co_await outputs.join();
  co_await inputs.join();
  co_return end;
}

Task<void> PodExec::pass_output(net::WebSocketServer& socket, ExecChannel channel,
                                net::Socket& pipe) {
  for (;;) {
    const auto piece = co_await node::read_some(pipe, kPiece, rt::Deadline::never());
    if (!piece || piece->empty()) co_return;
    auto sent = co_await socket.write(net::WebSocketMessage::Kind::kBinary,
                                      kube::render_exec_message(channel, *piece),
                                      runtime_.in(kWriteTimeout));
    if (!sent) co_return;
  }
}

// Ends with the client, and the command with it.
Task<void> PodExec::pass_input(net::WebSocketServer& socket, ExecStreams& streams,
                               rt::Child& child) {
  auto& pipe = streams.input;
  for (;;) {
    auto said = co_await socket.read(rt::Deadline::never());
    if (!said && said.error() == Code::kCancelled) co_return;
    if (!said || !*said) break;
    auto message = kube::parse_exec_message((*said)->data);
    if (!message) continue;
    if (message->channel == ExecChannel::kClose && message->data == kInputIsOver) pipe.reset();
    if (message->channel == ExecChannel::kResize && streams.terminal)
      if (const auto size = kube::parse_exec_size(message->data))
        static_cast<void>(node::resize_terminal(streams.output->fd(), {size->columns, size->rows}));
    if (message->channel != ExecChannel::kInput || !pipe) continue;
    auto written =
        co_await node::write_fully(*pipe, std::move(message->data), rt::Deadline::never());
    if (!written && written.error() == Code::kCancelled) co_return;
    if (!written) pipe.reset();  // it does not want more
  }
  child.signal(SIGKILL);
}

Task<Result<void>> PodExec::say_end(net::WebSocketServer& socket, std::string status) {
  const auto deadline = runtime_.in(kGoodbye);
  CO_TRY(co_await socket.write(net::WebSocketMessage::Kind::kBinary,
                               kube::render_exec_message(ExecChannel::kStatus, status), deadline));
  CO_TRY(co_await socket.close({}, deadline));
  // Closing a connection with unread bytes would throw our last words away.
  for (;;) {
    CO_TRY(const auto late, co_await socket.read(deadline));
    if (!late) co_return Result<void>();
  }
}

}  // namespace quorate::sandbox
