#include "rt/processes.h"

#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>

#include "base/check.h"
#include "rt/child.h"
#include "rt/child_process.h"
#include "rt/group.h"
#include "rt/line_splitter.h"
#include "rt/signal.h"

namespace asio = boost::asio;

namespace quorate::rt {

namespace {

// How long output may still come after the end of the process; only somebody outside of its group
// who has inherited the pipe can hold it open.
constexpr Duration kDrain = std::chrono::milliseconds(500);
// How long SIGKILL may take: a process may hang in the kernel.
constexpr Duration kKill = std::chrono::seconds(30);

// Our end of a child's standard output or error.
class OutputPipe {
 public:
  OutputPipe(const Executor& executor, Fd fd, const Output& output) : pipe_(executor) {
    if (!fd) return;
    splitter_.emplace(std::get<Lines>(output).on_line);
    pipe_.assign(fd.release());
  }

  bool open() const { return pipe_.is_open(); }

  // Until the other end is closed, or until cancelled.
  Task<void> pump() {
    std::array<char, 4096> bytes;
    while (co_await check_cancelled()) {
      auto [error, size] =
          co_await pipe_.async_read_some(asio::buffer(bytes), asio::as_tuple(asio::use_awaitable));
      splitter_->feed({bytes.data(), size});
      if (error == asio::error::operation_aborted) co_return;
      if (error) break;
    }
    if (!co_await check_cancelled()) co_return;
    close();
  }
  void close() {
    splitter_->flush();
    pipe_.close();
  }

 private:
  asio::posix::stream_descriptor pipe_;
  std::optional<LineSplitter> splitter_;
};

class MachineProcess final : public Process {
 public:
  MachineProcess(Runtime runtime, const ProcessSpec& spec, detail::ChildProcess child)
      : runtime_(runtime),
        child_(runtime, child.pid, std::move(child.pidfd)),
        output_(runtime.executor, std::move(child.standard_output), spec.standard_output),
        error_(runtime.executor, std::move(child.standard_error), spec.standard_error),
        ended_(runtime) {}

  int pid() const override { return child_.pid(); }

  Task<Result<Exit>> wait(Deadline deadline) override {
    while (!exit_) {
      if (watched_) {
        CO_TRY(co_await ended_.wait(deadline));
        continue;
      }
      CO_TRY(co_await watch(deadline));
    }
    co_return *exit_;
  }

  Result<void> signal(int number) override {
    if (exit_) return fail(Code::kNotFound, fmt::format("process {} has ended", pid()));
    if (::kill(-pid(), number) != 0)
      return fail(errno_error(fmt::format("signal process group {}", pid()), errno));
    return {};
  }

  Task<Result<Exit>> stop(Duration grace) override { return shielded(runtime_, end(grace)); }

 private:
  // One waiting fiber at a time watches; when it leaves, however, the others must choose anew.
  struct Watching {
    explicit Watching(MachineProcess& process) : self(process) { self.watched_ = true; }
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;
    ~Watching() {
      self.watched_ = false;
      self.ended_.notify();
    }
    MachineProcess& self;
  };

  Task<Result<void>> watch(Deadline deadline) {
    Watching watching(*this);
    TaskGroup pumps(runtime_);
    if (output_.open()) pumps.spawn("standard output", output_.pump());
    if (error_.open()) pumps.spawn("standard error", error_.pump());
    auto ended = co_await child_.until_ended(deadline);
    if (ended) collect();
    if (ended) (void)co_await pumps.join_until(runtime_.in(kDrain));
    pumps.cancel();
    co_await pumps.join();
    if (!exit_) co_return fail(ended.error());
    if (output_.open()) output_.close();
    if (error_.open()) error_.close();
    co_return Result<void>();
  }

  // Before it is collected its number, and so that of its group, cannot be anybody else's.
  void collect() {
    ::kill(-pid(), SIGKILL);
    auto exit = child_.collect();
    CHECK(exit, "{}", exit.error().text());
    exit_ = *exit;
  }

  Task<Result<Exit>> end(Duration grace) {
    if (exit_) co_return *exit_;
    CO_TRY(signal(SIGTERM));
    auto ended = co_await wait(runtime_.in(grace));
    if (ended || ended.error() != Code::kTimeout) co_return ended;
    CO_TRY(signal(SIGKILL));
    co_return co_await wait(runtime_.in(kKill));
  }

  Runtime runtime_;
  Child child_;
  OutputPipe output_;
  OutputPipe error_;
  std::optional<Exit> exit_;
  bool watched_ = false;
  Signal ended_;
};

}  // namespace

Task<Result<std::unique_ptr<Process>>> MachineProcesses::start(ProcessSpec spec) {
  CHECK(!spec.arguments.empty());
  CO_TRY(co_await check_cancelled());
  auto child = in("start " + spec.arguments.front(), detail::fork_child(spec));
  if (!child) co_return fail(child.error());
  co_return std::make_unique<MachineProcess>(runtime_, spec, std::move(*child));
}

Task<Result<Exit>> run_process(Processes& processes, ProcessSpec spec, Deadline deadline) {
  auto operation = "run " + spec.arguments.front();
  CO_TRY(auto process, co_await processes.start(std::move(spec)));
  auto ended = co_await process->wait(deadline);
  if (ended) co_return ended;
  auto stopped = co_await process->stop(std::chrono::seconds(1));
  if (!stopped) co_return fail(std::move(stopped.error()).in(operation));
  co_return fail(std::move(ended.error()).in(operation));
}

}  // namespace quorate::rt
