#include "node/probe_runner.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/strings.h"
#include "net/socket.h"
#include "node/namespaces.h"
#include "node/socket_io.h"
#include "rt/exec.h"
#include "rt/fd.h"
#include "rt/group.h"

namespace quorate::node {
namespace {

using Direction = net::Socket::Direction;

constexpr std::size_t kOutputShown = 256;

Result<int> port_of(const Probe& probe, const ContainerSpec& container) {
  if (auto number = parse_integer(probe.port); number && *number > 0 && *number < 65536)
    return static_cast<int>(*number);
  auto named = container.ports.find(probe.port);
  if (named == container.ports.end())
    return fail(Code::kInvalid, fmt::format("the container has no port {}", probe.port));
  return named->second;
}

// Opened in the node's network namespace, where it stays.
Result<rt::Fd> open_socket(int network_space) {
  TRY(auto visit, NetworkVisit::to(network_space));
  rt::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail(errno_error("socket", errno));
  return fd;
}

Task<Result<void>> connect_to(net::Socket& socket, Ipv4 address, int port, rt::Deadline deadline) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = address.network_order();
  where.sin_port = htons(static_cast<std::uint16_t>(port));
  auto operation = fmt::format("dial tcp {}:{}", address.text(), port);
  // Asked again after each wait, which may end early: the socket says what became of it.
  while (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
    if (errno == EISCONN) break;
    if (errno != EINPROGRESS && errno != EALREADY) co_return fail(errno_error(operation, errno));
    if (auto ready = co_await socket.wait(Direction::kWrite, deadline); !ready)
      co_return fail(ready.error().in(operation));
  }
  co_return Result<void>();
}

std::string render_request(const Probe& probe, Ipv4 address, int port) {
  auto path = probe.path.empty() ? "/" : probe.path;
  if (path.front() != '/') path.insert(0, "/");
  auto out = fmt::format("GET {} HTTP/1.1\r\n", path);
  bool has_host = false;
  for (const auto& [name, value] : probe.headers) {
    out += fmt::format("{}: {}\r\n", name, value);
    has_host = has_host || to_lower(name) == "host";
  }
  if (!has_host) out += fmt::format("Host: {}:{}\r\n", address.text(), port);
  return out + "User-Agent: kube-probe/quorate\r\nAccept: */*\r\nConnection: close\r\n\r\n";
}

// The number in `HTTP/1.1 200 OK`; 0 if it is no such line.
int status_of(std::string_view answer) {
  if (!answer.starts_with("HTTP/1.") || answer.size() < 12) return 0;
  auto number = parse_integer(answer.substr(9, 3));
  return number ? static_cast<int>(*number) : 0;
}

Task<Result<void>> ask_http(net::Socket& socket, std::string request, rt::Deadline deadline) {
  CO_TRY(co_await write_fully(socket, std::move(request), deadline));
  std::string answer;
  while (answer.size() < 12) {
    CO_TRY(auto piece, co_await read_some(socket, 1024, deadline));
    if (piece.empty()) break;
    answer += piece;
  }
  auto status = status_of(answer);
  if (status >= 200 && status < 400) co_return Result<void>();
  co_return fail(Code::kUnavailable,
                 status == 0 ? "no HTTP answer"
                             : fmt::format("HTTP probe failed with statuscode: {}", status));
}

Task<Result<void>> probe_network(rt::Runtime runtime, Probe probe, ContainerSpec container,
                                 ProbeTarget target, rt::Deadline deadline) {
  CO_TRY(auto port, port_of(probe, container));
  auto address = probe.host.empty() ? std::optional(target.pod) : Ipv4::parse(probe.host);
  if (!address) co_return fail(Code::kInvalid, "host " + probe.host + " is no address");
  CO_TRY(auto fd, open_socket(target.network_space));
  net::Socket socket(runtime, fd.release());
  CO_TRY(co_await connect_to(socket, *address, port, deadline));
  if (probe.kind == Probe::Kind::kTcp) co_return Result<void>();
  co_return co_await ask_http(socket, render_request(probe, *address, port), deadline);
}

Task<Result<void>> probe_command(rt::Runtime runtime, Probe probe, ProbeTarget target,
                                 rt::Deadline deadline) {
  Program program;
  program.arguments = probe.command;
  program.environment = target.environment;
  CO_TRY(auto outcome, co_await run_command(runtime, std::move(program), target.container_pid,
                                            kOutputShown, deadline));
  if (outcome.end.ok()) co_return Result<void>();
  co_return fail(Code::kUnavailable,
                 fmt::format("command {}: {}", outcome.end.text(), trim(outcome.output)));
}

// Reads to the end, keeps the beginning.
Task<Result<std::string>> read_output(net::Socket& pipe, std::size_t limit, rt::Deadline deadline) {
  std::string out;
  while (true) {
    CO_TRY(auto piece, co_await read_some(pipe, 4096, deadline));
    if (piece.empty()) co_return out;
    out += piece.substr(0, limit - std::min(limit, out.size()));
  }
}

Task<Result<CommandOutcome>> attend(rt::Runtime runtime, Spawned& spawned, rt::Fd output,
                                    std::size_t limit, rt::Deadline deadline) {
  CO_TRY(co_await wait_until_running(runtime, spawned, {}, deadline));
  net::Socket pipe(runtime, output.release());
  CommandOutcome out;
  CO_TRY(out.output, co_await read_output(pipe, limit, deadline));
  CO_TRY(out.end, co_await spawned.child.wait(deadline));
  co_return out;
}

}  // namespace

Task<Result<CommandOutcome>> run_command(rt::Runtime runtime, Program program, int container_pid,
                                         std::size_t limit, rt::Deadline deadline) {
  CO_TRY(auto pipe, rt::make_pipe());
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  program.output = pipe.write.get();
  CO_TRY(auto spawned, spawn_in_container(runtime, program, container_pid));
  pipe.write.reset();
  auto outcome = co_await attend(runtime, spawned, std::move(pipe.read), limit, deadline);
  if (outcome) co_return outcome;
  CO_TRY(co_await spawned.child.kill());  // whatever became of it, it does not stay
  co_return outcome;
}

Task<Result<void>> run_probe(rt::Runtime runtime, Probe probe, ContainerSpec container,
                             ProbeTarget target) {
  auto deadline = runtime.in(probe.timeout);
  auto outcome =
      probe.kind == Probe::Kind::kExec
          ? co_await probe_command(runtime, std::move(probe), std::move(target), deadline)
          : co_await probe_network(runtime, std::move(probe), std::move(container),
                                   std::move(target), deadline);
  co_return outcome;
}

}  // namespace quorate::node
