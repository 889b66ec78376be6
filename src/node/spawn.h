#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "node/namespaces.h"
#include "node/root_plan.h"
#include "rt/child.h"
#include "rt/clock.h"
#include "rt/fd.h"

namespace quorate::node {

// What a container's first process is to be.
struct Program {
  std::vector<std::string>
      arguments;  // never empty; the first one is looked for in PATH unless it has a slash
  std::vector<std::string> environment;  // NAME=value
  std::string working_dir = "/";
  // What becomes its standard streams; borrowed. Not given: nothing to read, nobody who listens.
  int input = -1;
  int output = -1;
  int errors = -1;        // not given: with the output
  bool terminal = false;  // the input is one (terminal.h), and becomes its controlling one
};

// A process of ours in its namespaces. It is a child of the thread that spawned it and dies with
// that thread, however it ends: a node that is killed takes everything that it runs with it.
struct Spawned {
  rt::Child child;
  rt::Fd report;  // closes when the program runs; says what failed if it could not
};

// The process is PID 1 of a PID namespace of its own, in the Pod's network, UTS and IPC namespaces,
// with a root file system by the plan; without capabilities, and with no way to gain any.
[[nodiscard]] Result<Spawned> spawn_container(rt::Runtime runtime, const Program& program,
                                              const PodSpaces& pod,
                                              const std::vector<MountStep>& root);

// Another process in the namespaces of a container's process, for probes and `exec`.
[[nodiscard]] Result<Spawned> spawn_in_container(rt::Runtime runtime, const Program& program,
                                                 int container_pid);

// Waits until the program runs. The error names the call that was refused.
[[nodiscard]] Task<Result<void>> wait_until_running(rt::Runtime runtime, Spawned& spawned,
                                                    std::vector<MountStep> root,
                                                    rt::Deadline deadline);

}  // namespace quorate::node
