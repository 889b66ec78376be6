#include "operator/process_figures.h"

#include <link.h>
#include <sys/mman.h>
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

// Segments that may be written to hold what relocation left, even where they are read-only by now.
int give_back(dl_phdr_info* object, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const auto begin = (object->dlpi_addr + segment.p_vaddr) / page * page;
    const auto end = (object->dlpi_addr + segment.p_vaddr + segment.p_memsz) / page * page;
    // A kernel that refuses leaves everything as it is.
    if (end > begin) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void give_back_program_pages() { ::dl_iterate_phdr(give_back, nullptr); }

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
