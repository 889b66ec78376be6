#include "operator/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace quorate::op {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::optional<std::uint64_t> read_resident() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;  // in pages
  if (!(file >> size >> resident)) return std::nullopt;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<std::uint64_t> count_open_files() {
  std::error_code error;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end;
       at.increment(error))
    ++count;
  if (error || count == 0) return std::nullopt;
  return count - 1;  // without the one that lists them
}

}  // namespace

ProcessFigures read_process_figures() {
  ProcessFigures out;
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    out.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  out.resident_bytes = read_resident();
  out.open_files = count_open_files();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) out.max_files = limit.rlim_cur;
  return out;
}

}  // namespace quorate::op
