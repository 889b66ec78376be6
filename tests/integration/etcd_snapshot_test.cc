// Snapshots: a gigabyte in bounded memory, and streams that break off.

#include <fstream>

#include "rt/group.h"
#include "tests/integration/etcd_harness.h"
#include "tests/support/fault_proxy.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>
#define QUORATE_COUNTS_HEAP 1
#endif
#endif

namespace quorate::etcd {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// Memory of this process that is in use. AddressSanitizer keeps what was freed for a while, so
// there its own count of what is not freed yet; otherwise the resident set.
std::int64_t memory_in_use() {
#ifdef QUORATE_COUNTS_HEAP
  return static_cast<std::int64_t>(__sanitizer_get_current_allocated_bytes());
#else
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * 4096;
#endif
}

// Writing one key twice does no harm, so it is repeated where etcd gave up on it: a busy machine.
Task<Result<PutAnswer>> put_megabytes(Api& api, Target target, int number, rt::Deadline deadline) {
  // Not to be packed to nothing by a clever file system.
  std::string value(8 * kMiB, static_cast<char>('a' + number % 26));
  for (std::size_t i = 0; i < value.size(); i += 512) value[i] = static_cast<char>(i / 512);
  const PutRequest request{fmt::format("{}", number), std::move(value), {}, false};
  for (;;) {
    auto answer = co_await api.put(target, request, deadline);
    if (answer || reason(answer.error()) != Reason::kTimeout) co_return answer;
  }
}

// The same member, through a proxy.
Target through(const support::FaultProxy& proxy, Target target) {
  const auto scheme = target.endpoint.substr(0, target.endpoint.find("://"));
  target.endpoint = scheme + "://" + proxy.endpoint().text();
  return target;
}

TEST(EtcdGigabyte, StreamsInBoundedMemoryAndAtTheReadersPace) {
  EtcdOptions options{"3.6.16", 1, EtcdSecurity::kPlain, quick_flags("3.6.16")};
  options.flags.insert(options.flags.end(),
                       {"--max-request-bytes=10485760", "--quota-backend-bytes=4294967296"});
  EtcdCluster cluster(options);
  support::FaultProxy proxy(cluster[0].client());  // counts bytes, and does nothing else
  Caller caller;
  auto direct = target_of(cluster, cluster[0]);
  {
    std::vector<Task<Result<PutAnswer>>> puts;
    for (int i = 0; i < 132; ++i)
      puts.push_back(put_megabytes(caller.api(), direct, i, caller.within(300s)));
    for (auto& answer : caller.run(rt::all(caller.runtime(), std::move(puts), 1)))
      must(std::move(answer));
  }

  const Target target = through(proxy, direct);
  must(caller.status(target));
  const auto before = memory_in_use();
  auto stream = must(caller.run(caller.api().snapshot(target, caller.within(30s))));

  // Nobody reads: the sender stops once the windows and the sockets' buffers are full.
  must(caller.run(caller.runtime().clock->sleep_until(caller.within(300ms).at)));
  const auto held = static_cast<std::int64_t>(proxy.counters().answer_bytes);
  EXPECT_LT(held, 64 * kMiB);

  std::int64_t received = 0, peak = before;
  std::size_t largest = 0;
  while (auto chunk = must(caller.run(stream->read(caller.within(30s))))) {
    received += static_cast<std::int64_t>(chunk->bytes.size());
    largest = std::max(largest, chunk->bytes.size());
    peak = std::max(peak, memory_in_use());
  }
  EXPECT_GT(received, 1024 * kMiB);
  EXPECT_EQ(stream->trailer().size, Bytes(received));
  EXPECT_LT(peak - before, 16 * kMiB);
  EXPECT_LE(largest, 512u * 1024);
  RecordProperty("bytes", std::to_string(received));
  RecordProperty("peak_growth", std::to_string(peak - before));
  RecordProperty("bytes_on_the_way_unread", std::to_string(held));
}

class EtcdSnapshot : public OnEachVersion {};

TEST_P(EtcdSnapshot, AStreamThatBreaksOffIsUnavailableAndNeverWhole) {
  EtcdCluster& cluster = shared_cluster(version(), 1, EtcdSecurity::kPlain);
  auto direct = target_of(cluster, cluster[0]);
  for (int i = 0; i < 16; ++i)
    must(caller.put(direct, fmt::format("broken/{}", i), std::string(1'000'000, 'x')));
  support::FaultProxy proxy(cluster[0].client());
  const Target target = through(proxy, direct);
  auto stream = must(caller.run(caller.api().snapshot(target, caller.within(10s))));
  must(caller.run(stream->read(caller.within(10s))));
  proxy.cut();
  Result<std::optional<SnapshotChunk>> chunk = std::nullopt;
  do {
    chunk = caller.run(stream->read(caller.within(10s)));
  } while (chunk && *chunk);
  EXPECT_EQ(code_of(chunk), Code::kUnavailable);
  stream.reset();
  must(caller.run(
      caller.api().delete_range(direct, {KeyRange::prefix("broken/"), false}, caller.within(10s))));
}

INSTANTIATE_TEST_SUITE_P(Each, EtcdSnapshot, ::testing::ValuesIn(versions()),
                         [](const auto& info) { return label(info.param); });

}  // namespace
}  // namespace quorate::etcd
