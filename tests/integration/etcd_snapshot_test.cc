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

// A gigabyte in one member, which is asked for it in plain and over mutual TLS.
class EtcdGigabyte : public ::testing::Test {
 protected:
  // The address for plain clients stands beside that of the fixture.
  EtcdGigabyte() : cluster_(options()) {
    cluster_[0].stop();
    cluster_[0].set_flags(
        {fmt::format("--listen-client-urls={},http://{}", cluster_[0].client_url(), plain_.text()),
         "--max-request-bytes=10485760", "--quota-backend-bytes=4294967296"});
    cluster_[0].start();
    cluster_[0].wait_healthy();
    std::vector<Task<Result<PutAnswer>>> puts;
    for (int i = 0; i < 132; ++i)
      puts.push_back(put_megabytes(caller_.api(), plain_target(), i, caller_.within(300s)));
    for (auto& answer : caller_.run(rt::all(caller_.runtime(), std::move(puts), 1)))
      must(std::move(answer));
  }

  static EtcdOptions options() {
    return {"3.6.16", 1, EtcdSecurity::kMutualTls, quick_flags("3.6.16")};
  }
  Target plain_target() const { return {.endpoint = "http://" + plain_.text()}; }

  void expect_bounded_memory_and_the_readers_pace(support::FaultProxy& proxy, const Target& direct);

  support::Endpoint plain_ = support::free_endpoint();
  EtcdCluster cluster_;
  Caller caller_;
};

void EtcdGigabyte::expect_bounded_memory_and_the_readers_pace(support::FaultProxy& proxy,
                                                              const Target& direct) {
  const Target target = through(proxy, direct);
  must(caller_.status(target));
  const auto before = memory_in_use();
  auto stream = must(caller_.run(caller_.api().snapshot(target, caller_.within(30s))));

  // Nobody reads: the sender stops once the windows and the sockets' buffers are full.
  must(caller_.run(caller_.runtime().clock->sleep_until(caller_.within(300ms).at)));
  EXPECT_LT(static_cast<std::int64_t>(proxy.counters().answer_bytes), 64 * kMiB);

  std::int64_t received = 0, peak = before;
  std::size_t largest = 0;
  while (auto chunk = must(caller_.run(stream->read(caller_.within(30s))))) {
    received += static_cast<std::int64_t>(chunk->bytes.size());
    largest = std::max(largest, chunk->bytes.size());
    peak = std::max(peak, memory_in_use());
  }
  EXPECT_GT(received, 1024 * kMiB);
  EXPECT_EQ(stream->trailer().size, Bytes(received));
  EXPECT_LT(peak - before, 16 * kMiB);
  EXPECT_LE(largest, 512u * 1024);
  fmt::print("{}: {} bytes, memory grew by {} at most\n", target.endpoint, received, peak - before);
}

TEST_F(EtcdGigabyte, StreamsInBoundedMemoryAndAtTheReadersPaceInPlainAndOverTls) {
  support::FaultProxy plain(plain_);  // these count bytes, and do nothing else
  expect_bounded_memory_and_the_readers_pace(plain, plain_target());
  support::FaultProxy secured(cluster_[0].client());
  expect_bounded_memory_and_the_readers_pace(secured, target_of(cluster_, cluster_[0]));
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
