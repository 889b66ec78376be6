#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/result.h"

// What a benchmark reads of its own process, and how it tells what it found. scripts/bench reads
// the lines `figure NAME VALUE UNIT`; everything else on standard output is for people.
namespace quorate::bench {

inline void print_figure(std::string_view name, double value, std::string_view unit) {
  fmt::print("figure {} {:.6g} {}\n", name, value, unit);
  std::fflush(stdout);
}

// A line of /proc/self/status, in bytes: VmRSS, or VmHWM, which is the most that VmRSS was.
inline std::int64_t read_memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ":")) return std::stoll(line.substr(field.size() + 1)) * 1024;
  throw std::runtime_error("no " + field + " in /proc/self/status");
}
inline std::int64_t resident_bytes() { return read_memory("VmRSS"); }
inline std::int64_t peak_bytes() { return read_memory("VmHWM"); }

// The peak begins anew at what is resident now.
inline void reset_peak() {
  std::ofstream clear("/proc/self/clear_refs");
  if (!(clear << "5" << std::flush)) throw std::runtime_error("cannot reset VmHWM");
}

// CPU time of this process alone, in user and kernel mode; that of players is not in it.
inline double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

inline double mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }
inline double kibibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 10); }

// The value, or the end of the program with the error's text.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// The exit code of main(): what a benchmark throws is said, and fails it.
template <class Body>
int run_main(Body body) {
  try {
    body();
    return 0;
  } catch (const std::exception& broken) {
    fmt::print(stderr, "{}\n", broken.what());
    return 1;
  }
}

}  // namespace quorate::bench
