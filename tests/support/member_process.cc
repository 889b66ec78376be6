#include "tests/support/member_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/launch_contract.h"
#include "base/strings.h"

namespace quorate::support {
namespace {

namespace fs = std::filesystem;

// Files under /proc have no size, and their processes may be gone.
std::string read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::optional<pid_t> find_member_process(const std::string& cluster_uid,
                                         const std::string& member) {
  const auto uid = fmt::format("{}={}", launch::kEnvClusterUid, cluster_uid);
  const auto name = fmt::format("{}={}", launch::kEnvMember, member);
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto pid = parse_integer(entry.path().filename().string());
    if (!pid || !read_whole(entry.path() / "comm").starts_with("etcd\n")) continue;
    const auto environment = read_whole(entry.path() / "environ");
    const auto variables = split(environment, '\0');
    const auto has = [&](const std::string& variable) {
      return std::find(variables.begin(), variables.end(), variable) != variables.end();
    };
    if (has(uid) && has(name)) return static_cast<pid_t>(*pid);
  }
  return std::nullopt;
}

}  // namespace quorate::support
