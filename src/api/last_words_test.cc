#include "api/last_words.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace quorate::api {
namespace {

// As etcd 3.6.16 ends.
constexpr const char* kShort =
    R"({"level":"info","ts":"2026-11-16T18:53:39Z","msg":"raft.node: 1 elected leader 2 at term 2"}
{"level":"panic","logger":"raft","msg":"tocommit(9) is out of range [lastIndex(8)].","stacktrace":"go.etcd.io/raft/v3.(*raftLog).commitTo\n"}
panic: tocommit(9) is out of range [lastIndex(8)]. Was the raft log corrupted, truncated, or lost?

goroutine 130 [running]:
go.uber.org/zap/zapcore.CheckWriteAction.OnWrite(0x0?, 0xc7fcf454300?, {0x0?, 0x0?, 0xc7fcf644000?})
	go.uber.org/zap@v1.27.0/zapcore/entry.go:196 +0x54
go.etcd.io/raft/v3.(*raftLog).commitTo(0xc7fcf61eaa0, 0x9)
	go.etcd.io/raft/v3@v3.6.0/log.go:324 +0xef
go.etcd.io/raft/v3.(*raft).handleHeartbeat(0xc7fcf796300, {0x8, 0xccfad2d1eb310b91, 0x7b46e3eb707c9360, 0x2})
)";

TEST(LastWords, EndWithAWholeCharacter) {
  for (std::size_t before = 296; before < 300; ++before) {
    const auto words = last_words(std::string(before, 'x') + "\u20ac and more of it");
    EXPECT_TRUE(is_valid_utf8(words)) << before;
    EXPECT_EQ(words.size(), before + 3 <= 300 ? 300U : before) << before;
  }
}

TEST(LastWords, AreThoseOfThePanic) {
  EXPECT_EQ(last_words(kShort),
            "panic: tocommit(9) is out of range [lastIndex(8)]. Was the raft log corrupted, "
            "truncated, or lost?");
}

TEST(LastWords, SayThatTheLogIsShort) {
  EXPECT_TRUE(says_log_is_short(kShort));
  const std::string_view all = kShort;
  EXPECT_TRUE(says_log_is_short(all.substr(all.find("goroutine")))) << "only the end was kept";
  EXPECT_TRUE(says_log_is_short("go.etcd.io/etcd/raft.(*raftLog).commitTo(0xc00026d5e0, 0x12)"))
      << "3.4";
  EXPECT_TRUE(says_log_is_short("go.etcd.io/etcd/raft/v3.(*raftLog).commitTo(0x3d41, 0x12)"))
      << "3.5";
}

TEST(LastWords, AreNotReadInALineThatWasCut) {
  const std::string rest(3000, 'x');
  EXPECT_FALSE(says_log_is_short("panic: tocommit(9) is part of a key" + rest + "\nlast\n"));
  EXPECT_FALSE(says_log_is_short("panic: tocommit(9) is part of a key" + rest));
  EXPECT_TRUE(says_log_is_short(rest + "\npanic: tocommit(9) is out of range\n"));
}

TEST(LastWords, DoNotSaySoForWhatSomebodyWrote) {
  for (
      const char* log : {
          "",
          "panic: runtime error: index out of range",
          R"({"level":"warn","msg":"slow","request":"key:\"panic: tocommit(9) is out of range\""})",
          R"({"level":"warn","request":"key:\"\npanic: tocommit(9)\ngo.etcd.io/raft/v3.(*raftLog).commitTo(\""})",
          "2026-11-16 18:53:39 W | etcdserver: request \"panic: tocommit(9)\" took too long",
          "go.etcd.io/raft/v3.(*raftLog).term(0xc7fcf61eaa0, 0x9)",
          "go.etcd.io/raft/v3.(*raft).loadState(0xc7fcf61eaa0)",
      })
    EXPECT_FALSE(says_log_is_short(log)) << log;
}

}  // namespace
}  // namespace quorate::api
