#include "rt/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <optional>

#include "rt/group.h"
#include "rt/loop.h"

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

// A process that does nothing until it is killed.
Child make_idle(const Runtime& runtime) {
  int pid = ::fork();
  if (pid == 0)
    while (true) ::pause();
  return {runtime, pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))};
}

TEST(Child, GivesTheCodeAndTheSignal) {
  Loop loop;
  int pid = ::fork();
  if (pid == 0) ::_exit(7);
  Child ends(loop.runtime(), pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  EXPECT_EQ(*loop.run(ends.wait(loop.runtime().in(30s))), (Exit{7, 0}));

  auto idle = make_idle(loop.runtime());
  idle.signal(SIGTERM);
  EXPECT_EQ(*loop.run(idle.wait(Deadline::never())), (Exit{0, SIGTERM}));
}

TEST(Child, RunsOnPastADeadlineAndIsKilledOnRequest) {
  Loop loop;
  auto idle = make_idle(loop.runtime());
  EXPECT_EQ(loop.run(idle.wait(loop.runtime().in(20ms))).error().code(), Code::kTimeout);
  EXPECT_EQ(idle.collect().error().code(), Code::kUnavailable);
  EXPECT_EQ(*loop.run(idle.kill()), (Exit{0, SIGKILL}));
}

Task<void> store_end_by_force(Child& child, std::optional<Result<Exit>>& out) {
  out = co_await child.wait(Deadline::never());
  if (!*out) out = co_await child.kill();
}

Task<void> cancel_soon(TaskGroup& group) {
  group.cancel();
  co_await group.join();
}

TEST(Child, IsKilledAndCollectedAlsoByACancelledFiber) {
  Loop loop;
  auto idle = make_idle(loop.runtime());
  std::optional<Result<Exit>> end;
  TaskGroup group(loop.runtime());
  group.spawn("attend", store_end_by_force(idle, end));
  loop.run(yield(loop.runtime()));
  loop.run(cancel_soon(group));
  ASSERT_TRUE(end);
  EXPECT_EQ(**end, (Exit{0, SIGKILL}));
}

// Two descriptors become readable at once. The fiber that is woken for the first closes the second
// and begins to wait for a child, whose pidfd takes the second's place in the reactor: and with it
// the event that was fetched for the second.
struct TwoPipes {
  explicit TwoPipes(const Executor& executor) : first(executor), second(executor) {
    int ends[2][2];
    EXPECT_EQ(::pipe2(ends[0], O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(ends[1], O_CLOEXEC), 0);
    first.assign(ends[0][0]);
    second.assign(ends[1][0]);
    writers[0] = Fd(ends[0][1]);
    writers[1] = Fd(ends[1][1]);
  }
  asio::posix::stream_descriptor first;
  asio::posix::stream_descriptor second;
  Fd writers[2];
};

Task<void> wait_for_child_with_anothers_event(TwoPipes& pipes, std::optional<Child>& child,
                                              Runtime runtime, bool& woken,
                                              std::optional<Result<Exit>>& end) {
  co_await pipes.first.async_wait(asio::posix::descriptor_base::wait_read,
                                  asio::as_tuple(asio::use_awaitable));
  pipes.second.close();
  child.emplace(make_idle(runtime));
  woken = true;
  end = co_await child->wait(Deadline::never());
}

TEST(Child, IsNotTakenForEndedByAnotherDescriptorsEvent) {
  Loop loop;
  TwoPipes pipes(loop.runtime().executor);
  std::optional<Child> child;
  std::optional<Result<Exit>> end;
  bool woken = false;
  TaskGroup group(loop.runtime());
  group.spawn("attend",
              wait_for_child_with_anothers_event(pipes, child, loop.runtime(), woken, end));
  loop.run(yield(loop.runtime()));
  for (auto& writer : pipes.writers) ASSERT_EQ(::write(writer.get(), "x", 1), 1);
  for (int turns = 0; turns < 20; ++turns) loop.run(yield(loop.runtime()));
  ASSERT_TRUE(woken);
  EXPECT_FALSE(end) << (*end ? (*end)->text() : end->error().text());
  child->signal(SIGTERM);
  loop.run(group.join());
  ASSERT_TRUE(end && *end);
  EXPECT_EQ(**end, (Exit{0, SIGTERM}));
}

}  // namespace
}  // namespace quorate::rt
