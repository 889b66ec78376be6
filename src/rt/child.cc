#include "rt/child.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <csignal>

#include "rt/group.h"

namespace asio = boost::asio;

namespace quorate::rt {

namespace {

constexpr Duration kKill = std::chrono::seconds(30);
constexpr auto kByPidfd = static_cast<idtype_t>(3);  // P_PIDFD; older headers have no name for it

// What there is to know of its end without waiting; si_pid is 0 while it runs. The pidfd may be
// non-blocking, as the reactor makes it; waitid then fails with EAGAIN unless it is told not to
// wait.
Result<siginfo_t> ask(int pidfd, int also) {
  siginfo_t facts{};
  while (::waitid(kByPidfd, static_cast<id_t>(pidfd), &facts, WEXITED | WNOHANG | also) != 0)
    if (errno != EINTR) return fail(errno_error("waitid", errno));
  return facts;
}

}  // namespace

std::string Exit::text() const {
  if (signal != 0) return fmt::format("killed by signal {}", signal);
  return fmt::format("exited with code {}", code);
}

struct Child::Pidfd {
  asio::posix::stream_descriptor handle;
};

Child::Child(Runtime runtime, int pid, Fd pidfd)
    : runtime_(std::move(runtime)),
      pid_(pid),
      pidfd_(new Pidfd{asio::posix::stream_descriptor(runtime_.executor, pidfd.release())}) {}

Child::~Child() = default;
Child::Child(Child&&) noexcept = default;
Child& Child::operator=(Child&&) noexcept = default;

void Child::signal(int number) {
  ::syscall(SYS_pidfd_send_signal, pidfd_->handle.native_handle(), number, nullptr, 0);
}

Task<Result<void>> Child::watch() {
  while (true) {
    CO_TRY(co_await check_cancelled());
    CO_TRY(auto facts, ask(pidfd_->handle.native_handle(), WNOWAIT));
    if (facts.si_pid != 0) co_return Result<void>();
    co_await pidfd_->handle.async_wait(asio::posix::descriptor_base::wait_read,
                                       asio::as_tuple(asio::use_awaitable));
  }
}

Task<Result<void>> Child::until_ended(Deadline deadline) {
  if (deadline.at == Monotonic::max()) return watch();
  return with_deadline(runtime_, deadline, watch());
}

Result<Exit> Child::collect() {
  TRY(auto facts, ask(pidfd_->handle.native_handle(), 0));
  if (facts.si_pid == 0)
    return fail(Code::kUnavailable, fmt::format("process {} still runs", pid_));
  if (facts.si_code == CLD_EXITED) return Exit{facts.si_status, 0};
  return Exit{0, facts.si_status};
}

Task<Result<Exit>> Child::wait(Deadline deadline) {
  CO_TRY(co_await until_ended(deadline));
  co_return collect();
}

Task<Result<Exit>> Child::end() {
  signal(SIGKILL);
  co_return co_await wait(runtime_.in(kKill));
}

Task<Result<Exit>> Child::kill() { return shielded(runtime_, end()); }

}  // namespace quorate::rt
