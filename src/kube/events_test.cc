#include "kube/events.h"

#include <gtest/gtest.h>

#include "kube/fake_server.h"

namespace quorate::kube {
namespace {

using namespace std::chrono_literals;

constexpr const char* kCollection = "/apis/events.k8s.io/v1/events";

Notice notice(std::string note = "it was lost", std::string name = "c") {
  ObjectReference cluster{"quorate.io/v1alpha1",
                          "EtcdCluster",
                          {"n", std::move(name)},
                          Uid("u1"),
                          ResourceVersion("7")};
  return {cluster, Notice::Type::kWarning, "MemberReplaced", "Replace", std::move(note)};
}

struct RecorderTest : ::testing::Test {
  void start() { group.spawn("events", recorder.run()); }
  std::vector<json::Value> events() {
    std::vector<json::Value> out;
    for (const auto& [key, version] : world.server.versions(kCollection)) {
      const auto slash = key.find('/');
      out.push_back(*world.server.find(kCollection, key.substr(0, slash), key.substr(slash + 1)));
    }
    return out;
  }
  std::int64_t count_of(const json::Value& event) {
    return json::integer_at(event, "/series/count").value_or(1);
  }

  FakeWorld world;
  Client client{world.here, world.server};
  Recorder recorder{world.here, client, {.instance = "replica-1", .queue = 4, .series = 3}};
  rt::TaskGroup group{world.here};
  CrashAtEnd crash_at_end{world.loop};
};

TEST_F(RecorderTest, WritesAnEvent) {
  start();
  recorder.publish(notice());
  world.loop.run_for(10ms);
  ASSERT_EQ(events().size(), 1u);
  const auto event = events()[0];
  EXPECT_EQ(json::text_or(event, "/metadata/namespace", ""), "n");
  EXPECT_EQ(json::text_or(event, "/metadata/name", "").substr(0, 2), "c.");
  EXPECT_EQ(json::text_or(event, "/reason", ""), "MemberReplaced");
  EXPECT_EQ(json::text_or(event, "/action", ""), "Replace");
  EXPECT_EQ(json::text_or(event, "/type", ""), "Warning");
  EXPECT_EQ(json::text_or(event, "/note", ""), "it was lost");
  EXPECT_EQ(json::text_or(event, "/regarding/uid", ""), "u1");
  EXPECT_EQ(json::text_or(event, "/regarding/kind", ""), "EtcdCluster");
  EXPECT_EQ(json::text_or(event, "/reportingController", ""), "quorate.io/operator");
  EXPECT_EQ(json::text_or(event, "/reportingInstance", ""), "replica-1");
  EXPECT_EQ(json::text_or(event, "/eventTime", ""), "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(json::find(event, "/series"), nullptr);
}

TEST_F(RecorderTest, CountsRepetitionsInOneEvent) {
  start();
  recorder.publish(notice());
  world.loop.run_for(1s);
  recorder.publish(notice());
  world.loop.run_for(1s);
  ASSERT_EQ(events().size(), 1u);
  EXPECT_EQ(count_of(events()[0]), 2);
  EXPECT_EQ(json::text_or(events()[0], "/series/lastObservedTime", ""),
            "2026-01-01T00:00:01.000000Z");
  // Further ones are written now and then, not one by one.
  const auto writes = world.server.seen.size();
  for (int i = 0; i < 30; ++i) {
    recorder.publish(notice());
    world.loop.run_for(1s);
  }
  EXPECT_EQ(world.server.seen.size(), writes);
  world.loop.run_for(1min);
  EXPECT_EQ(world.server.seen.size(), writes + 1);
  EXPECT_EQ(count_of(events()[0]), 32);
}

TEST_F(RecorderTest, TellsDifferentThingsApart) {
  start();
  recorder.publish(notice("one"));
  recorder.publish(notice("two"));
  recorder.publish(notice("one", "d"));
  world.loop.run_for(10ms);
  EXPECT_EQ(events().size(), 3u);
}

TEST_F(RecorderTest, BeginsANewEventWhenTheSeriesIsOver) {
  start();
  recorder.publish(notice());
  world.loop.run_for(10min);
  recorder.publish(notice());
  world.loop.run_for(1s);
  EXPECT_EQ(events().size(), 2u);
}

TEST_F(RecorderTest, BeginsANewEventWhenTheServerHasForgottenIt) {
  start();
  recorder.publish(notice());
  world.loop.run_for(1s);
  const auto name = std::string(json::text_or(events()[0], "/metadata/name", ""));
  world.server.erase(kCollection, "n", name);
  recorder.publish(notice());
  world.loop.run_for(1s);
  ASSERT_EQ(events().size(), 1u);
  EXPECT_NE(json::text_or(events()[0], "/metadata/name", ""), name);
  EXPECT_EQ(count_of(events()[0]), 1);
}

TEST_F(RecorderTest, NeverWaitsAndCountsWhatItDrops) {
  for (int i = 0; i < 10; ++i) recorder.publish(notice(std::to_string(i)));
  EXPECT_EQ(recorder.counters().published, 10u);
  EXPECT_EQ(recorder.counters().dropped, 6u);
  start();
  world.loop.run_for(1s);
  EXPECT_EQ(events().size(), 4u);
}

TEST_F(RecorderTest, GivesUpWhatCannotBeWritten) {
  world.server.oracle = [](const net::Request&) {
    return FakeServer::Fate{.instead = status_answer(403, "Forbidden", "no")};
  };
  start();
  recorder.publish(notice());
  world.loop.run_for(1min);
  EXPECT_EQ(recorder.counters().failed, 1u);
  EXPECT_EQ(world.server.seen.size(), 1u);
  world.server.oracle = nullptr;
  recorder.publish(notice());
  world.loop.run_for(1s);
  EXPECT_EQ(events().size(), 1u);
}

TEST_F(RecorderTest, ALostAnswerMakesNoTwin) {
  int requests = 0;
  world.server.oracle = [&](const net::Request&) {
    return FakeServer::Fate{.answer_lost = requests++ == 0};
  };
  start();
  recorder.publish(notice());
  world.loop.run_for(1min);
  recorder.publish(notice());
  world.loop.run_for(1min);
  EXPECT_EQ(events().size(), 1u);
}

TEST_F(RecorderTest, FlushWaitsForTheLastCount) {
  start();
  for (int i = 0; i < 3; ++i) {
    recorder.publish(notice());
    world.loop.run_for(10ms);
  }
  EXPECT_EQ(count_of(events()[0]), 2);
  EXPECT_TRUE(world.loop.run(recorder.flush(world.here.in(5s))));
  EXPECT_EQ(count_of(events()[0]), 3);
  EXPECT_LT(world.here.clock->now(), Monotonic{} + 1s);
}

TEST_F(RecorderTest, FlushDoesNotWaitPastItsDeadline) {
  recorder.publish(notice());  // nobody writes
  auto flushed = world.loop.run(recorder.flush(world.here.in(5s)));
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().code(), Code::kTimeout);
}

TEST_F(RecorderTest, CutsLongNotesBetweenCharacters) {
  start();
  recorder.publish(notice(std::string(1023, 'x') + "\u00e9\u00e9"));
  recorder.publish(notice("\xff broken"));
  world.loop.run_for(10ms);
  ASSERT_EQ(events().size(), 2u);
  std::set<std::string> notes;
  for (const auto& event : events()) notes.emplace(json::text_or(event, "/note", ""));
  EXPECT_TRUE(notes.contains(std::string(1023, 'x')));
  EXPECT_TRUE(notes.contains("\xef\xbf\xbd broken"));
}

TEST_F(RecorderTest, RemembersABoundedNumberOfSeries) {
  start();
  for (int i = 0; i < 20; ++i) {
    recorder.publish(notice(std::to_string(i)));
    world.loop.run_for(1s);
  }
  recorder.publish(notice("0"));  // long forgotten
  recorder.publish(notice("19"));
  world.loop.run_for(1s);
  EXPECT_EQ(recorder.counters().created, 21u);
  EXPECT_EQ(recorder.counters().counted, 1u);
}

}  // namespace
}  // namespace quorate::kube
