#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rt/clock.h"
#include "rt/exit.h"

namespace quorate::rt {

// Where a child's output goes.
struct Discard {};
struct Inherit {};
struct AppendTo {
  std::string path;  // made if missing, mode 0640
};
struct Lines {
  std::function<void(std::string_view line)> on_line;  // at most 64 KiB; longer ones come in pieces
};
using Output = std::variant<Discard, Inherit, AppendTo, Lines>;

struct ProcessSpec {
  std::vector<std::string> arguments;    // the first is a path, or a name to be found in PATH
  std::vector<std::string> environment;  // NAME=value; all of it, nothing is inherited
  std::string working_directory;         // empty: ours
  Output standard_output = Inherit{};
  Output standard_error = Inherit{};

  // What the child does before it becomes the program, in this order.
  struct Namespace {
    int fd;    // borrowed until start() ends
    int kind;  // CLONE_NEW...
  };
  std::vector<Namespace> enter;
  struct Identity {
    unsigned uid;
    unsigned gid;
  };
  std::optional<Identity> run_as;  // without supplementary groups
  bool dies_with_us = true;        // killed by the kernel when the starting thread ends, however
};

// A child in a session and process group of its own. Nothing of it is left behind: when it ends,
// whatever else is in its group is killed.
//
// It must have ended, as seen by wait() or stop(), before this object goes.
class Process {
 public:
  virtual ~Process() = default;
  virtual int pid() const = 0;
  // Ok when it has ended and its output has been delivered (output that a process outside of its
  // group still holds open is given up after a moment). Lines are delivered while somebody waits
  // here; without, the child is held up once its pipe is full. kTimeout, kCancelled: it runs on.
  virtual Task<Result<Exit>> wait(Deadline deadline) = 0;
  // To the whole group. kNotFound if it has ended.
  virtual Result<void> signal(int number) = 0;
  // SIGTERM, and SIGKILL after `grace`; ends when the process has. A cancelled fiber may call it,
  // and it is carried through. kTimeout if even SIGKILL does not end it within half a minute.
  virtual Task<Result<Exit>> stop(Duration grace) = 0;
};

// Child processes of this one.
class Processes {
 public:
  virtual ~Processes() = default;
  // Ok once the program runs. The error names the program and the step that failed.
  virtual Task<Result<std::unique_ptr<Process>>> start(ProcessSpec spec) = 0;
};

class MachineProcesses final : public Processes {
 public:
  explicit MachineProcesses(Runtime runtime) : runtime_(std::move(runtime)) {}
  Task<Result<std::unique_ptr<Process>>> start(ProcessSpec spec) override;

 private:
  Runtime runtime_;
};

// Starts, waits and stops: for programs that are asked something. Stopped at the deadline, or when
// the fiber is cancelled.
Task<Result<Exit>> run_process(Processes& processes, ProcessSpec spec, Deadline deadline);

}  // namespace quorate::rt
