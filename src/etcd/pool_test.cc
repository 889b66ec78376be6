#include "etcd/pool.h"

#include <gtest/gtest.h>

#include <optional>

#include "etcd/endpoint.h"
#include "rt/group.h"
#include "rt/loop.h"

namespace quorate::etcd {
namespace {

using namespace std::chrono_literals;

TEST(Endpoint, ReadsWhatEtcdAdvertises) {
  auto plain = parse_endpoint("http://10.0.0.1:2379").value();
  EXPECT_EQ(plain.host, "10.0.0.1");
  EXPECT_EQ(plain.port, 2379);
  EXPECT_FALSE(plain.tls);
  auto secure = parse_endpoint("https://c-0.c-peer.ns.svc:2379/").value();
  EXPECT_EQ(secure.host, "c-0.c-peer.ns.svc");
  EXPECT_TRUE(secure.tls);
  EXPECT_EQ(parse_endpoint("https://[fd00::1]:2379").value().host, "fd00::1");
}

TEST(Endpoint, RefusesAnythingElse) {
  for (const char* text : {"",
                           "10.0.0.1:2379",
                           "http://",
                           "http://:2379",
                           "http://host",
                           "http://host:",
                           "unix://a:1",
                           "http://host:0",
                           "http://host:65536",
                           "http://host:2379/path",
                           "http://user@host:1",
                           "http://fd00::1:2379",
                           "https://[]:1",
                           "http://host:2379?x",
                           "http://host:+1",
                           "http://a b:1",
                           "http://a\nb:1",
                           "http://a%2f:1",
                           "http://[a/b]:1",
                           "http://[host]:1"}) {
    auto parsed = parse_endpoint(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), Code::kInvalid) << text;
  }
  EXPECT_FALSE(parse_endpoint(std::string_view("http://[fd00::1\0x]:1", 20)));
  EXPECT_FALSE(parse_endpoint("http://[fe80::1%lo]:1"));
}

// Nothing here connects: a connection is begun by the first call.
class PoolTest : public ::testing::Test {
 protected:
  Pool& pool(PoolOptions options) { return pool_.emplace(loop_.runtime(), options); }
  void TearDown() override {
    if (pool_) loop_.run(pool_->close());
  }
  Target member(int number) { return {.endpoint = fmt::format("http://127.0.0.1:{}", number)}; }
  rt::Deadline within(Duration time) { return loop_.runtime().in(time); }
  Result<Pool::Use> use(int number) { return loop_.run(pool_->use(member(number), within(5s))); }

  rt::Loop loop_;
  std::optional<Pool> pool_;
};

TEST_F(PoolTest, OneConnectionServesAllUsesOfAMember) {
  auto& p = pool({});
  auto first = use(1);
  auto second = use(1);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(&first->channel(), &second->channel());
  EXPECT_EQ(p.counters().made, 1u);
  EXPECT_EQ(p.counters().reused, 1u);
  EXPECT_EQ(p.counters().open, 1u);
  EXPECT_EQ(p.counters().in_use, 1u);
}

TEST_F(PoolTest, TheOneIdleForLongestGivesWay) {
  auto& p = pool({.max_connections = 2});
  { auto both = std::pair(use(1), use(2)); }
  { auto again = use(1); }  // now 2 is the one used longest ago
  { auto third = use(3); }
  EXPECT_EQ(p.counters().evicted, 1u);
  EXPECT_EQ(p.counters().open, 2u);
  { auto kept = use(1); }
  EXPECT_EQ(p.counters().made, 3u) << "1 was kept";
  { auto gone = use(2); }
  EXPECT_EQ(p.counters().made, 4u) << "2 was not";
}

TEST_F(PoolTest, NothingInUseGivesWayAndTheWaitHasAnEnd) {
  auto& p = pool({.max_connections = 1});
  auto held = use(1);
  ASSERT_TRUE(held);
  auto refused = loop_.run(p.use(member(2), within(20ms)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kTimeout);
  EXPECT_EQ(p.counters().open, 1u);
  EXPECT_EQ(p.counters().evicted, 0u);
}

Task<void> use_later(Pool& pool, Target target, rt::Deadline deadline, bool& got) {
  auto use = co_await pool.use(std::move(target), deadline);
  got = use.has_value();
}

Task<void> hold_until(rt::Runtime runtime, std::optional<Pool::Use>& held, Monotonic when) {
  (void)co_await runtime.clock->sleep_until(when);
  held.reset();
}

Task<void> join(rt::TaskGroup& group) { co_await group.join(); }

TEST_F(PoolTest, WaitersGetThePlacesThatBecomeFree) {
  auto& p = pool({.max_connections = 1});
  std::optional<Pool::Use> held(std::move(use(1).value()));
  bool second = false, third = false;
  rt::TaskGroup group(loop_.runtime());
  group.spawn("second", use_later(p, member(2), within(5s), second));
  group.spawn("third", use_later(p, member(3), within(5s), third));
  group.spawn("holder", hold_until(loop_.runtime(), held, within(10ms).at));
  loop_.run(join(group));
  EXPECT_TRUE(second);
  EXPECT_TRUE(third);
  EXPECT_EQ(p.counters().evicted, 2u) << "one for each, and no more";
  EXPECT_EQ(p.counters().open, 1u);
}

Task<void> run_for(Pool& pool, rt::Runtime runtime, Duration time) {
  rt::TaskGroup group(runtime);
  group.spawn("pool", pool.run());
  (void)co_await runtime.clock->sleep_until(runtime.in(time).at);
  group.cancel();
  co_await group.join();
}

TEST_F(PoolTest, IdleConnectionsAreClosedAndUsedOnesAreNot) {
  auto& p = pool({.idle_timeout = 10ms});
  auto held = use(1);
  { auto idle = use(2); }
  loop_.run(run_for(p, loop_.runtime(), 60ms));
  EXPECT_EQ(p.counters().expired, 1u);
  EXPECT_EQ(p.counters().open, 1u);
  EXPECT_EQ(p.counters().in_use, 1u);
}

TEST_F(PoolTest, RefusesWhatCannotBeConnectedTo) {
  auto& p = pool({});
  auto bad = loop_.run(p.use({.endpoint = "c-0:2379"}, within(1s)));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code(), Code::kInvalid);
  auto anonymous = loop_.run(p.use({.endpoint = "https://c-0:2379"}, within(1s)));
  ASSERT_FALSE(anonymous);
  EXPECT_EQ(anonymous.error().code(), Code::kInvalid);
  auto junk = make_identity({"not a certificate", "", Secret()});
  auto unusable = loop_.run(p.use({.endpoint = "https://c-0:2379", .identity = junk}, within(1s)));
  ASSERT_FALSE(unusable);
  EXPECT_EQ(unusable.error().code(), Code::kInvalid);
  EXPECT_EQ(p.counters().open, 0u);
}

}  // namespace
}  // namespace quorate::etcd
