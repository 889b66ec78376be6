#pragma once

#include <filesystem>
#include <string>

namespace quorate::support {

// The folder of a real part (`etcd-3.6.16`, `kube-apiserver`) that tests/parts/build has built.
// Throws FixtureError with the command to run when it has not.
std::filesystem::path part(const std::string& name);

}  // namespace quorate::support
