#pragma once

#include <string>

#include "base/result.h"

namespace quorate::cmd {

// A folder with the programs etcd and etcdctl, and of which version they are.
struct LocalEtcd {
  std::string folder;
  std::string version;
};

// Asks the program for its version. kInvalid, saying what is wrong, if it is not there, does not
// say one, or says one that must not be run.
[[nodiscard]] Result<LocalEtcd> look_at_etcd(const std::string& folder);

// The first one in the PATH that can be used. The error says what to do.
[[nodiscard]] Result<LocalEtcd> find_etcd_in_path(const char* path);

}  // namespace quorate::cmd
