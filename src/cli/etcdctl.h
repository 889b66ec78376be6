#pragma once

#include <string>
#include <vector>

#include "cli/facts.h"

namespace quorate::cli {

// etcdctl in a member's Pod, told how to reach that member: on its own loopback, with the
// certificate that is mounted there.
struct EtcdctlCall {
  ObjectKey pod;
  std::vector<std::string> command;
};

// In the Pod of `member`, or, if it is empty, of the first that is ready, else of the first that
// runs. --endpoints among the arguments take the place of ours. kInvalid if there is no such
// member; kUnavailable, saying what to do, if none runs.
[[nodiscard]] Result<EtcdctlCall> make_etcdctl_call(const ClusterFacts& facts,
                                                    const std::string& member,
                                                    const std::vector<std::string>& arguments);

// Why the command could not be run, with what it means for a person.
[[nodiscard]] Error explain_exec_failure(Error error, const ObjectKey& pod);

}  // namespace quorate::cli
