#include "sandbox/daemon.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>

#include "base/strings.h"
#include "rt/fd.h"

namespace quorate::sandbox {
namespace {

constexpr std::string_view kReady = "ready";

struct Channel {
  rt::Fd starter;
  rt::Fd daemon;
};

// A socket, since writing to one whose reader has gone can be told not to raise a signal.
Result<Channel> make_channel() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return fail(errno_error("socketpair", errno));
  return Channel{rt::Fd(pair[0]), rt::Fd(pair[1])};
}

void tell(const rt::Fd& report, std::string_view text) {
  while (!text.empty()) {
    const auto put = ::send(report.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (put < 0 && errno != EINTR) return;  // whoever started us has gone
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(put, 0)));
  }
}

std::string read_to_end(const rt::Fd& report) {
  std::string text;
  char buffer[512];
  for (;;) {
    const auto got = ::read(report.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

bool leave_terminal(const std::string& log) {
  ::setsid();
  rt::Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  rt::Fd end(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  return nothing && end && ::dup2(nothing.get(), STDIN_FILENO) >= 0 &&
         ::dup2(end.get(), STDOUT_FILENO) >= 0 && ::dup2(end.get(), STDERR_FILENO) >= 0;
}

[[noreturn]] void live_on(rt::Fd report, const std::string& log,
                          const std::function<Result<void>(std::function<void()>)>& work) {
  if (!leave_terminal(log)) {
    tell(report, "0 open " + log);
    ::_exit(1);
  }
  auto open = std::make_shared<rt::Fd>(std::move(report));
  const auto ended = work([open] {
    tell(*open, kReady);
    open->reset();
  });
  if (!ended) {
    std::fprintf(stderr, "%s\n", ended.error().text().c_str());
    if (*open)
      tell(*open,
           std::to_string(static_cast<int>(ended.error().code())) + " " + ended.error().text());
  }
  std::fflush(nullptr);
  ::_exit(ended ? 0 : 1);
}

}  // namespace

Result<void> run_in_background(
    const std::string& log, const std::function<Result<void>(std::function<void()> ready)>& work) {
  TRY(auto channel, make_channel());
  std::fflush(nullptr);
  const int pid = ::fork();
  if (pid < 0) return fail(errno_error("fork", errno));
  if (pid == 0) {
    channel.starter.reset();
    live_on(std::move(channel.daemon), log, work);
  }
  channel.daemon.reset();
  const auto said = read_to_end(channel.starter);
  if (said == kReady) return {};
  const auto parts = cut(said, " ");
  const auto code = parts ? parse_integer(parts->before) : std::nullopt;
  if (!code) return fail(Code::kUnavailable, "it ended at once; " + log + " may say why");
  return fail(static_cast<Code>(*code), std::string(parts->after));
}

}  // namespace quorate::sandbox
