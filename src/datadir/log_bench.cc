// How long the guard looks at a log: a full segment of 64 MiB, in the page cache.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "datadir/log.h"
#include "datadir/wal_writer_test.h"

namespace quorate::datadir {
namespace {

namespace fs = std::filesystem;

void read_full_segment(benchmark::State& state) {
  std::string name = fs::temp_directory_path() / "quorate-log-bench-XXXXXX";
  CHECK(::mkdtemp(name.data()) != nullptr);
  const fs::path data = name;
  fs::create_directories(data / "member/wal");
  fs::create_directories(data / "member/snap");
  WalWriter log;
  log.metadata(1, 2).snapshot({0, 0});
  const std::string value(static_cast<std::size_t>(state.range(0)), 'v');
  for (std::uint64_t index = 1; log.text().size() < 64'000'000; ++index)
    log.entry({1, index}, value).state(1, index);
  std::ofstream(data / "member/wal" / render_segment_name({0, 0}), std::ios::binary) << log.text();
  for (auto _ : state) {
    auto read = read_log(data);
    CHECK(read && read->damage.empty());
    benchmark::DoNotOptimize(read);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(log.text().size()));
  fs::remove_all(data);
}
BENCHMARK(read_full_segment)->Arg(100)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace quorate::datadir

BENCHMARK_MAIN();
