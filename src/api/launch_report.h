#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/launch_contract.h"

namespace quorate::api {

// What the launch guard said when it refused: a container's exit code and termination message.
struct LaunchReport {
  launch::ExitCode code = launch::kExitUnreadable;
  std::string reason;      // a sentence
  bool holds_data = true;  // whether the volume has data of etcd, whoever's; true if it is not said
};

// Nothing if the exit code is not one of the guard's. A message that cannot be read is kept as the
// reason as it is: the code alone decides.
[[nodiscard]] std::optional<LaunchReport> read_launch_report(int exit_code,
                                                             std::string_view message);

}  // namespace quorate::api
