#include "kube/client.h"

#include <gtest/gtest.h>

#include "kube/fake_server.h"

namespace quorate::kube {
namespace {

using namespace std::chrono_literals;

constexpr const char* kMaps = "/api/v1/configmaps";
const ObjectKey kKey{"n", "x"};

struct ClientTest : ::testing::Test {
  // The next requests meet these fates; later ones meet none.
  void fates(std::vector<FakeServer::Fate> list) {
    world.server.oracle = [list = std::move(list),
                           next = std::size_t{0}](const net::Request&) mutable {
      return next < list.size() ? list[next++] : FakeServer::Fate();
    };
  }
  static FakeServer::Fate answered(int code, std::string retry_after = "") {
    auto answer = status_answer(code, "", "no");
    if (!retry_after.empty()) answer.headers.emplace_back("retry-after", retry_after);
    return {.instead = answer};
  }
  Result<Object> get(Duration within = 1min) {
    return world.loop.run(client.get(kConfigMaps, kKey, world.here.in(within)));
  }
  Result<Object> create(Duration within = 1min) {
    return world.loop.run(
        client.create(kConfigMaps, "n", make_object(kConfigMaps, kKey), world.here.in(within)));
  }
  Duration now() { return world.here.clock->now().time_since_epoch(); }

  FakeWorld world;
  std::vector<std::string> lines;
  Client client{
      world.here,
      world.server,
      {.log = Log({.level = LogLevel::kDebug,
                   .now = [] { return WallTime(); },
                   .sink = [this](std::string_view line) { lines.emplace_back(line); }})}};
};

TEST_F(ClientTest, ReadsWhatWasWritten) {
  auto made = create();
  ASSERT_TRUE(made) << made.error().text();
  auto read = get();
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->meta()->key, kKey);
  EXPECT_EQ(read->meta()->resource_version, made->meta()->resource_version);
  EXPECT_EQ(json::text_or(*read->document(), "/kind", ""), "ConfigMap");
}

TEST_F(ClientTest, NamesTheOperationThatFailed) {
  auto absent = get();
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code(), Code::kNotFound);
  EXPECT_EQ(absent.error().text(), "get configmaps n/x: \"x\" not found: NotFound");
  EXPECT_EQ(world.server.seen.size(), 1u);
}

TEST_F(ClientTest, RepeatsReadsUntilTheyAreAnswered) {
  world.server.put(kMaps, "n", "x");
  fates({{.refused = true}, {.answer_lost = true}, answered(503)});
  EXPECT_TRUE(get());
  EXPECT_EQ(client.counters().requests, 4u);
  EXPECT_EQ(client.counters().repeated, 3u);
}

TEST_F(ClientTest, GivesUpAReadAfterItsAttempts) {
  fates({4, FakeServer::Fate{.refused = true}});
  auto failed = get();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::kUnavailable);
  EXPECT_EQ(client.counters().requests, 4u);
}

TEST_F(ClientTest, CallsAReadWithoutAnswerUnavailableOrTimedOutButNotUnknown) {
  fates({4, FakeServer::Fate{.answer_lost = true}});
  EXPECT_EQ(get().error().code(), Code::kUnavailable);
  fates({{.after = 1h}});
  EXPECT_EQ(get(3s).error().code(), Code::kTimeout);
}

TEST_F(ClientTest, RepeatsAWriteThatWasNeverSent) {
  fates({{.refused = true}, {.refused = true}});
  EXPECT_TRUE(create());
  EXPECT_EQ(world.server.versions(kMaps).size(), 1u);
}

TEST_F(ClientTest, NeverRepeatsAWriteWhoseAnswerWasLost) {
  fates({{.answer_lost = true}});
  auto lost = create();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code(), Code::kUnknownOutcome);
  EXPECT_EQ(world.server.seen.size(), 1u);
  EXPECT_EQ(world.server.versions(kMaps).size(), 1u);  // it was there after all
}

TEST_F(ClientTest, TakesAServersFailureToWriteForUnknown) {
  fates({answered(500)});
  EXPECT_EQ(create().error().code(), Code::kUnknownOutcome);
  EXPECT_EQ(world.server.seen.size(), 1u);
}

TEST_F(ClientTest, WaitsAsLongAsItIsTold) {
  fates({answered(429, "7")});
  EXPECT_TRUE(create());
  EXPECT_EQ(now(), 7s);
  EXPECT_EQ(client.counters().throttled, 1u);
}

TEST_F(ClientTest, DoesNotWaitPastTheDeadline) {
  fates({answered(429, "7")});
  auto refused = create(5s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kThrottled);
  EXPECT_EQ(refused.error().retry_after(), 7s);
  EXPECT_EQ(now(), 0s);
}

TEST_F(ClientTest, TakesARefusedEvictionForAnAnswer) {
  auto answer = status_answer(429, "TooManyRequests", "Cannot evict pod");
  answer.body = R"({"message":"Cannot evict pod","details":{"causes":[
      {"reason":"DisruptionBudget","message":"needs 2"}]}})";
  fates({{.instead = answer}});
  auto refused = world.loop.run(client.evict(kKey, world.here.in(1min)));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(is_budget_exhausted(refused.error()));
  EXPECT_EQ(world.server.seen.size(), 1u);
}

TEST_F(ClientTest, KeepsToItsBudget) {
  world.server.put(kMaps, "n", "x");
  Client slow(world.here, world.server, {.limit = {.per_second = 2, .burst = 1}});
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(world.loop.run(slow.get(kConfigMaps, kKey, world.here.in(1min))));
  EXPECT_EQ(now(), 1s);
}

TEST_F(ClientTest, LogsAWarningOnce) {
  auto answer = status_answer(200, "", "");
  answer.headers.emplace_back("warning", R"(299 - "unknown field \"spec.a\"")");
  fates({2, {.instead = answer}});
  EXPECT_TRUE(create());
  EXPECT_TRUE(create());
  EXPECT_EQ(client.counters().warnings, 2u);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find(R"(unknown field \"spec.a\")"), std::string::npos) << lines[0];
}

// --- lists

struct Names {
  std::vector<std::string> all;
  EachItem each = [this](json::PaddedView item) -> Result<void> {
    TRY(auto meta, Object(std::string(item.text())).meta());
    all.push_back(meta.key.name);
    return {};
  };
};

TEST_F(ClientTest, ListsEveryPage) {
  for (int i = 0; i < 7; ++i) world.server.put(kMaps, "n", "x" + std::to_string(i));
  world.server.put(kMaps, "other", "y");
  Names names;
  auto version =
      world.loop.run(client.list(kConfigMaps, {.ns = "n", .page_size = 3}, 10s, names.each));
  ASSERT_TRUE(version) << version.error().text();
  EXPECT_EQ(version->value(), std::to_string(world.server.version()));
  EXPECT_EQ(names.all, (std::vector<std::string>{"x0", "x1", "x2", "x3", "x4", "x5", "x6"}));
  EXPECT_EQ(world.server.seen.size(), 3u);
}

TEST_F(ClientTest, ReadsAListInPiecesOfAnySize) {
  for (int i = 0; i < 5; ++i) world.server.put(kMaps, "n", "x" + std::to_string(i));
  for (std::size_t piece : {1U, 7U, 64U}) {
    world.server.piece = piece;
    Names names;
    EXPECT_TRUE(world.loop.run(client.list(kConfigMaps, {}, 10s, names.each)));
    EXPECT_EQ(names.all.size(), 5u) << piece;
  }
}

TEST_F(ClientTest, SaysThatAListHasExpired) {
  for (int i = 0; i < 7; ++i) world.server.put(kMaps, "n", "x" + std::to_string(i));
  int items = 0;
  EachItem each = [&](json::PaddedView) {
    if (++items == 3) world.server.expire_continue_tokens();
    return Result<void>();
  };
  auto version = world.loop.run(client.list(kConfigMaps, {.page_size = 3}, 10s, each));
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code(), Code::kGone);
}

TEST_F(ClientTest, RepeatsAListThatWasRefusedButNotOneThatItHasBegun) {
  world.server.put(kMaps, "n", "x");
  fates({{.refused = true}, answered(500)});
  Names names;
  EXPECT_TRUE(world.loop.run(client.list(kConfigMaps, {}, 10s, names.each)));
  EXPECT_EQ(names.all.size(), 1u);

  world.server.put(kMaps, "n", "y");
  world.server.piece = 150;  // the first item and a part of the second
  int items = 0;
  EachItem each = [&](json::PaddedView) {
    ++items;
    world.server.break_streams();
    return Result<void>();
  };
  auto broken = world.loop.run(client.list(kConfigMaps, {}, 10s, each));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code(), Code::kUnavailable);
  EXPECT_EQ(items, 1);
}

TEST_F(ClientTest, EndsAListWithTheReadersOwnComplaint) {
  world.server.put(kMaps, "n", "x");
  EachItem each = [](json::PaddedView) { return fail(Code::kInternal, "full"); };
  auto ended = world.loop.run(client.list(kConfigMaps, {}, 10s, each));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().text(), "list configmaps: full");
}

// --- the server

TEST_F(ClientTest, KnowsWhatIsServed) {
  auto answer = status_answer(200, "", "");
  answer.body = R"({"kind":"APIResourceList","resources":[
      {"name":"leases","kind":"Lease","namespaced":true,"verbs":["get","list"]}]})";
  fates(
      {{.instead = answer}, {.instead = answer}, {.instead = status_answer(404, "NotFound", "")}});
  auto served = world.loop.run(client.served("coordination.k8s.io", "v1", world.here.in(1min)));
  ASSERT_TRUE(served) << served.error().text();
  ASSERT_EQ(served->size(), 1u);
  EXPECT_EQ(served->front().kind, "Lease");
  EXPECT_EQ(served->front().verbs, (std::vector<std::string>{"get", "list"}));
  EXPECT_TRUE(*world.loop.run(client.serves(kLeases, world.here.in(1min))));
  EXPECT_FALSE(*world.loop.run(client.serves(kEtcdClusters, world.here.in(1min))));
  EXPECT_EQ(world.server.seen.back().path, "/apis/quorate.io/v1alpha1");
}

}  // namespace
}  // namespace quorate::kube
