#include "node/process_id.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>

#include <array>

#include "base/strings.h"
#include "rt/fd.h"

namespace quorate::node {
namespace {

struct Stat {
  char state = '?';
  std::uint64_t start = 0;
};

// The third and the 22nd field of /proc/PID/stat. The second, the name, may hold spaces and
// brackets, so what counts is behind the last bracket.
std::optional<Stat> read_stat(int pid) {
  rt::Fd fd(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::array<char, 1024> buffer;
  auto got = ::read(fd.get(), buffer.data(), buffer.size());
  if (got <= 0) return std::nullopt;
  std::string_view text(buffer.data(), static_cast<std::size_t>(got));
  auto bracket = text.rfind(')');
  if (bracket == std::string_view::npos || bracket + 2 >= text.size()) return std::nullopt;
  auto fields = split(text.substr(bracket + 2), ' ');
  if (fields.size() < 20 || fields[0].empty()) return std::nullopt;
  auto start = parse_integer(fields[19]);
  if (!start) return std::nullopt;
  return Stat{fields[0][0], static_cast<std::uint64_t>(*start)};
}

}  // namespace

std::optional<ProcessId> ProcessId::of(int pid) {
  auto stat = read_stat(pid);
  if (!stat) return std::nullopt;
  return ProcessId{pid, stat->start};
}

std::optional<ProcessId> ProcessId::parse(std::string_view text) {
  auto sides = cut(trim(text), " ");
  if (!sides) return std::nullopt;
  auto pid = parse_integer(sides->before);
  auto start = parse_integer(sides->after);
  if (!pid || !start || *pid <= 0 || *pid > INT32_MAX || *start < 0) return std::nullopt;
  return ProcessId{static_cast<int>(*pid), static_cast<std::uint64_t>(*start)};
}

std::string ProcessId::text() const { return fmt::format("{} {}", pid, start); }

bool ProcessId::runs() const {
  auto stat = read_stat(pid);
  return stat && stat->start == start && stat->state != 'Z' && stat->state != 'X';
}

bool ProcessId::signal(int number) const {
  // The pidfd pins the process; only then is the start time compared.
  rt::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd || !runs()) return false;
  return ::syscall(SYS_pidfd_send_signal, pidfd.get(), number, nullptr, 0) == 0;
}

}  // namespace quorate::node
