#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace quorate::support {

// The etcd process of a member; nothing if none runs. By the environment that the operator gave it,
// so that no process of anybody else is met.
std::optional<pid_t> find_member_process(const std::string& cluster_uid, const std::string& member);

}  // namespace quorate::support
