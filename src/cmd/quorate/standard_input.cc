#include "cmd/quorate/standard_input.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"

namespace quorate::cmd {
namespace {

constexpr std::size_t kPiece = 32 << 10;

Result<std::optional<std::string>> read_piece(int stopped) {
  for (;;) {
    pollfd ready[2] = {{STDIN_FILENO, POLLIN, 0}, {stopped, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return fail(errno_error("wait for standard input", errno));
    }
    if (ready[1].revents) return fail(Code::kCancelled, "stopped");
    std::string piece(kPiece, '\0');
    const auto got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return fail(errno_error("read standard input", errno));
    if (got == 0) return std::nullopt;
    piece.resize(static_cast<std::size_t>(got));
    return piece;
  }
}

}  // namespace

StandardInput::StandardInput(rt::Runtime runtime)
    : stopped_(::eventfd(0, EFD_CLOEXEC)), pool_(runtime, 1) {
  CHECK(stopped_, "eventfd: errno {}", errno);
}

Task<Result<std::optional<std::string>>> StandardInput::read() {
  const int stopped = stopped_.get();
  co_return co_await pool_.run([stopped] { return read_piece(stopped); });
}

void StandardInput::stop() {
  const std::uint64_t one = 1;
  const auto written = ::write(stopped_.get(), &one, sizeof(one));
  CHECK(written == sizeof(one), "eventfd: errno {}", errno);
}

}  // namespace quorate::cmd
