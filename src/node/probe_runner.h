#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "node/ipv4.h"
#include "node/pod_view.h"
#include "node/spawn.h"
#include "rt/clock.h"

namespace quorate::node {

// Where a probe finds its container.
struct ProbeTarget {
  int network_space = -1;  // of the node: from where kubelets ask
  Ipv4 pod;
  int container_pid = 0;  // for commands
  std::vector<std::string> environment;
};

// Ok if the container is well; else why not, in a few words.
[[nodiscard]] Task<Result<void>> run_probe(rt::Runtime runtime, Probe probe,
                                           ContainerSpec container, ProbeTarget target);

// A command in a container's namespaces, with what it wrote (the first `limit` bytes) and how it
// ended. Killed at the deadline and when the fiber is cancelled.
struct CommandOutcome {
  std::string output;
  rt::Exit end;
};
[[nodiscard]] Task<Result<CommandOutcome>> run_command(rt::Runtime runtime, Program program,
                                                       int container_pid, std::size_t limit,
                                                       rt::Deadline deadline);

}  // namespace quorate::node
