#include "sandbox/switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rt/group.h"
#include "rt/memory_files.h"
#include "rt/virtual_loop.h"

namespace quorate::sandbox {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPath = "/switches";

const Switches kBefore{{"node-1"}, {}};
const Switches kAfter{{"node-1", "node-3"}, {"node-2"}};

Task<void> save(SwitchFile& file, const Switches& switches, bool& answered) {
  const auto saved = co_await file.save([switches] { return switches; }, rt::Deadline::never());
  answered = saved.has_value();
}

Task<void> save_now(SwitchFile& file, std::function<Switches()> now) {
  EXPECT_TRUE(co_await file.save(std::move(now), rt::Deadline::never()));
}

TEST(Switches, AreNoneWhereNobodyTouchedAny) {
  rt::VirtualLoop loop(1);
  rt::MemoryFiles files(loop.actor("machine"));
  SwitchFile file(loop.actor("main"), files, kPath);
  const auto found = loop.run(file.load());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(*found, Switches());
}

// The power goes at every moment of a change: the next start finds one or the other as a whole, and
// the new one if it was answered.
TEST(Switches, AreThoseOfTheLastAnswerAfterAPowerCut) {
  int before = 0;
  int after = 0;
  bool answered = false;
  for (int steps = 0; !answered; ++steps) {
    rt::VirtualLoop loop(static_cast<std::uint64_t>(steps));
    rt::MemoryFiles files(loop.actor("machine"));
    {
      SwitchFile file(loop.actor("main"), files, kPath);
      bool first = false;
      loop.run(save(file, kBefore, first));
      ASSERT_TRUE(first);
    }
    SwitchFile file(loop.actor("machine"), files, kPath);
    rt::TaskGroup group(loop.actor("machine"));
    group.spawn("save", save(file, kAfter, answered));
    for (int step = 0; step < steps; ++step) loop.step();
    loop.crash("machine");
    files.power_cut();
    SwitchFile again(loop.actor("main"), files, kPath);
    const auto found = loop.run(again.load());
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_TRUE(*found == kAfter || (!answered && *found == kBefore)) << found->render();
    ++(*found == kAfter ? after : before);
  }
  EXPECT_GT(before, 0);
  EXPECT_GT(after, 0);
}

TEST(Switches, AreTheLatestWhoeverWritesLast) {
  rt::VirtualLoop loop(7);
  rt::MemoryFiles files(loop.actor("machine"));
  auto runtime = loop.actor("main");
  SwitchFile file(runtime, files, kPath);
  Switches now;
  const auto look = [&now] { return now; };
  rt::TaskGroup group(runtime);
  for (const char* node : {"node-1", "node-2", "node-3"}) {
    now.off.insert(node);
    group.spawn(node, save_now(file, look));
  }
  loop.run_until_idle();
  const auto found = loop.run(file.load());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(*found, now);
}

TEST(Switches, AreRefusedByNameOfTheFileWhereTheyMakeNoSense) {
  rt::VirtualLoop loop(1);
  rt::MemoryFiles files(loop.actor("machine"));
  SwitchFile file(loop.actor("main"), files, kPath);
  for (const char* text : {"", "{}", R"({"off":["node-1"]})", R"({"off":[1],"cut":[]})"}) {
    ASSERT_TRUE(loop.run(files.write_atomically(kPath, text, 0600)));
    const auto found = loop.run(file.load());
    ASSERT_FALSE(found) << text;
    EXPECT_THAT(found.error().text(), HasSubstr(kPath));
  }
}

}  // namespace
}  // namespace quorate::sandbox
