#include "kube/watch_machine.h"

#include <gtest/gtest.h>

#include "kube/status.h"

namespace quorate::kube {
namespace {

using namespace std::chrono_literals;
using Machine = WatchMachine;
using State = Machine::State;
using Event = Machine::EventType;
using Meaning = Machine::Meaning;

const Monotonic kStart{};
const Error kDown(Code::kUnavailable, "down");
const Error kExpired(Code::kGone, "too old resource version");

ResourceVersion rv(const char* text) { return ResourceVersion(text); }

Machine paging() { return Machine({.streaming = false}); }

// Through a list of one page, or the initial stream, to an open watch at version 10.
Machine watching(bool streaming = false) {
  Machine machine({.streaming = streaming});
  (void)machine.next();
  if (streaming) {
    machine.on_opened(kStart);
    (void)machine.on_event(Event::kBookmark, rv("10"), true);
  } else {
    (void)machine.on_page(rv("10"), "");
    (void)machine.next();
    machine.on_opened(kStart);
  }
  return machine;
}

template <class T>
bool asks_for(const Machine::Step& step) {
  return std::holds_alternative<T>(step.request);
}

TEST(WatchMachine, ListsPageByPageThenWatches) {
  auto machine = paging();
  auto step = machine.next();
  EXPECT_EQ(step.tell, Machine::Tell::kInit);
  EXPECT_TRUE(asks_for<Machine::ListPage>(step));
  EXPECT_EQ(machine.on_page(rv("10"), "more"), Machine::Tell::kNothing);
  step = machine.next();
  EXPECT_EQ(step.tell, Machine::Tell::kNothing);
  EXPECT_EQ(std::get<Machine::ListPage>(step.request).continue_token, "more");
  EXPECT_EQ(machine.on_page(rv("10"), ""), Machine::Tell::kInitDone);
  EXPECT_EQ(machine.state(), State::kInitListed);
  step = machine.next();
  EXPECT_EQ(std::get<Machine::Watch>(step.request).from, rv("10"));
  machine.on_opened(kStart);
  EXPECT_EQ(machine.state(), State::kWatching);
}

TEST(WatchMachine, LetsTheServerStreamTheList) {
  Machine machine({.streaming = true});
  auto step = machine.next();
  EXPECT_TRUE(asks_for<Machine::InitStream>(step));
  EXPECT_EQ(step.tell, Machine::Tell::kInit);
  machine.on_opened(kStart);
  EXPECT_EQ(machine.on_event(Event::kAdded, rv("3"), false), Meaning::kInitApply);
  EXPECT_EQ(machine.on_event(Event::kAdded, rv("2"), false), Meaning::kInitApply);
  EXPECT_EQ(machine.on_event(Event::kDeleted, rv("9"), false), Meaning::kDelete);
  EXPECT_EQ(machine.on_event(Event::kBookmark, rv("4"), false), Meaning::kNone);
  EXPECT_EQ(machine.on_event(Event::kBookmark, rv("10"), true), Meaning::kInitDone);
  EXPECT_EQ(machine.state(), State::kWatching);
  EXPECT_EQ(machine.on_event(Event::kAdded, rv("11"), false), Meaning::kApply);
  EXPECT_EQ(machine.position(), rv("11"));
}

TEST(WatchMachine, FallsBackToPagesWhereStreamsAreRefused) {
  Machine machine({.streaming = true});
  (void)machine.next();
  EXPECT_EQ(machine.on_failure(Error(Code::kInvalid, "forbidden"), kStart), 0s);
  EXPECT_TRUE(asks_for<Machine::ListPage>(machine.next()));
}

TEST(WatchMachine, FallsBackToPagesAfterTwoInitialStreamsThatBroke) {
  Machine machine({.streaming = true});
  for (int i = 0; i < 2; ++i) {
    auto step = machine.next();
    EXPECT_TRUE(asks_for<Machine::InitStream>(step));
    EXPECT_EQ(step.tell, Machine::Tell::kInit);
    machine.on_opened(kStart);
    (void)machine.on_failure(kDown, kStart);
  }
  EXPECT_TRUE(asks_for<Machine::ListPage>(machine.next()));
}

TEST(WatchMachine, KeepsToStreamsWhenItIsTheServerThatIsAway) {
  Machine machine({.streaming = true});
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(asks_for<Machine::InitStream>(machine.next()));
    (void)machine.on_failure(kDown, kStart);
  }
}

TEST(WatchMachine, MovesWithEventsAndBookmarks) {
  auto machine = watching();
  EXPECT_EQ(machine.on_event(Event::kModified, rv("11"), false), Meaning::kApply);
  EXPECT_EQ(machine.on_event(Event::kDeleted, rv("12"), false), Meaning::kDelete);
  EXPECT_EQ(machine.on_event(Event::kBookmark, rv("20"), false), Meaning::kPosition);
  EXPECT_EQ(machine.on_event(Event::kUnknown, rv("21"), false), Meaning::kNone);
  EXPECT_EQ(machine.state(), State::kWatching);
  (void)machine.on_end(kStart + 1min);
  EXPECT_TRUE(asks_for<Machine::Probe>(machine.next()));
  machine.on_probe(rv("25"));
  EXPECT_EQ(std::get<Machine::Watch>(machine.next().request).from, rv("21"));
}

TEST(WatchMachine, ResumesAfterALossWithoutListing) {
  auto machine = watching();
  EXPECT_GT(machine.on_failure(kDown, kStart + 1s), 0s);
  EXPECT_EQ(machine.state(), State::kResuming);
  EXPECT_TRUE(asks_for<Machine::Probe>(machine.next()));
  (void)machine.on_failure(kDown, kStart + 2s);
  auto step = machine.next();
  EXPECT_TRUE(asks_for<Machine::Probe>(step));
  EXPECT_EQ(step.tell, Machine::Tell::kNothing);
  machine.on_probe(rv("10"));
  EXPECT_TRUE(asks_for<Machine::Watch>(machine.next()));
}

TEST(WatchMachine, ListsAnewWhenThePlaceIsLost) {
  const Error large = to_error(
      Status{
          504, "Timeout", "Too large resource version", {{"ResourceVersionTooLarge", "", ""}}, {}},
      Effect::kRead);
  for (const Error& error : {kExpired, Error(Code::kCorrupt, "no object"), large}) {
    auto machine = watching();
    (void)machine.on_failure(error, kStart + 1s);
    EXPECT_EQ(machine.state(), State::kEmpty) << error.text();
    EXPECT_EQ(machine.next().tell, Machine::Tell::kInit);
  }
}

TEST(WatchMachine, ListsAnewWhenTheServerHasLostVersions) {
  auto machine = watching();
  (void)machine.on_end(kStart + 1min);
  (void)machine.next();
  machine.on_probe(rv("9"));
  EXPECT_EQ(machine.state(), State::kEmpty);

  machine = watching();
  EXPECT_EQ(machine.on_event(Event::kModified, rv("9"), false), Meaning::kNone);
  EXPECT_EQ(machine.state(), State::kEmpty);
}

TEST(WatchMachine, TakesVersionsThatAreNoNumbersAsTheyCome) {
  auto machine = watching();
  EXPECT_EQ(machine.on_event(Event::kModified, rv("zz"), false), Meaning::kApply);
  EXPECT_EQ(machine.on_event(Event::kModified, rv("aa"), false), Meaning::kApply);
  EXPECT_EQ(machine.position(), rv("aa"));
}

TEST(WatchMachine, RetriesAPageThatFailedAndGivesUpPagesThatExpire) {
  auto machine = paging();
  (void)machine.next();
  (void)machine.on_page(rv("10"), "token");
  (void)machine.next();
  (void)machine.on_failure(kDown, kStart);
  auto step = machine.next();
  EXPECT_EQ(std::get<Machine::ListPage>(step.request).continue_token, "token");
  EXPECT_EQ(step.tell, Machine::Tell::kNothing);
  (void)machine.on_failure(kExpired, kStart);
  step = machine.next();
  EXPECT_EQ(step.tell, Machine::Tell::kInit);
  EXPECT_TRUE(std::get<Machine::ListPage>(step.request).whole);
  EXPECT_EQ(machine.on_page(rv("11"), ""), Machine::Tell::kInitDone);
}

TEST(WatchMachine, BacksOffFromOneFailureToTheNext) {
  auto machine = paging();
  std::vector<Duration> delays;
  for (int i = 0; i < 8; ++i) {
    (void)machine.next();
    delays.push_back(machine.on_failure(kDown, kStart));
  }
  EXPECT_EQ(delays,
            (std::vector<Duration>{800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30s, 30s}));
  (void)machine.next();
  const auto told = Error(Code::kThrottled, "later").with_retry_after(45s);
  EXPECT_EQ(machine.on_failure(told, kStart), 45s);
}

TEST(WatchMachine, StartsTheBackOffAnewAfterAWatchThatLived) {
  auto machine = watching();
  for (int i = 0; i < 5; ++i) (void)machine.on_failure(kDown, kStart);
  (void)machine.next();
  machine.on_probe(rv("10"));
  (void)machine.next();
  machine.on_opened(kStart + 1min);
  EXPECT_EQ(machine.on_failure(kDown, kStart + 2min), 800ms);
}

TEST(WatchMachine, ReopensAtOnceAfterAProperEndButNotInALoop) {
  auto machine = watching();
  EXPECT_EQ(machine.on_end(kStart + 5min), 0s);
  (void)machine.next();
  machine.on_probe(rv("10"));
  (void)machine.next();
  machine.on_opened(kStart + 5min);
  EXPECT_EQ(machine.on_end(kStart + 5min), 800ms);
}

TEST(CertainlyOlder, ComparesNumbersOfAnyLengthAndNothingElse) {
  EXPECT_TRUE(certainly_older(rv("9"), rv("10")));
  EXPECT_FALSE(certainly_older(rv("10"), rv("9")));
  EXPECT_FALSE(certainly_older(rv("10"), rv("10")));
  EXPECT_TRUE(certainly_older(rv("0009"), rv("10")));
  EXPECT_TRUE(certainly_older(rv("99999999999999999999"), rv("100000000000000000000")));
  EXPECT_FALSE(certainly_older(rv("9"), rv("")));
  EXPECT_FALSE(certainly_older(rv("a"), rv("b")));
  EXPECT_FALSE(certainly_older(rv("-1"), rv("1")));
}

}  // namespace
}  // namespace quorate::kube
