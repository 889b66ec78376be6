#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>

#include "base/strings.h"
#include "tests/integration/sandbox_rig.h"

// Who can reach a sandbox: this machine, whoever has its token, and trusts its authority.
namespace quorate::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

// "127.0.0.1:6443", in the words of the kernel: hexadecimal, the address in the order of this
// machine. Version 6 stays as it is: nothing of ours speaks it.
std::string readable(std::string_view kernels) {
  const auto parts = cut(kernels, ":");
  const auto port = std::stoul(std::string(parts->after), nullptr, 16);
  if (parts->before.size() != 8) return fmt::format("[{}]:{}", parts->before, port);
  const auto address = std::stoul(std::string(parts->before), nullptr, 16);
  return fmt::format("{}.{}.{}.{}:{}", address & 255, address >> 8 & 255, address >> 16 & 255,
                     address >> 24, port);
}

// Sockets in which these processes take what comes from outside: TCP that listens, and any UDP, by
// the tables of the network namespace in which the test runs, which is the machine's. (Nobody from
// outside reaches those of the fabric: no wire leads out of it.)
std::set<std::string> open_to_the_host(const std::vector<pid_t>& processes) {
  std::set<std::string> inodes;
  for (const auto pid : processes) {
    std::error_code gone;
    for (const auto& fd : fs::directory_iterator(fmt::format("/proc/{}/fd", pid), gone)) {
      const auto target = fs::read_symlink(fd.path(), gone).string();
      if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
    }
  }
  std::set<std::string> out;
  for (const std::string table : {"tcp", "tcp6", "udp", "udp6"}) {
    std::ifstream in("/proc/self/net/" + table);
    std::string number, local, remote, state, skip, inode, line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      std::istringstream fields(line);
      fields >> number >> local >> remote >> state;
      for (int i = 0; i < 6; ++i) fields >> (i == 5 ? inode : skip);
      const bool listens = state == "0A" || table.starts_with("udp");
      if (listens && inodes.contains(inode)) out.insert(readable(local));
    }
  }
  return out;
}

class SandboxPrivacyTest : public SandboxTest {
 protected:
  std::vector<pid_t> processes() {
    auto out = descendants_of(sandbox_.pid());
    out.push_back(sandbox_.pid());
    return out;
  }
  // host:port of a variable that `env` exports.
  std::string exported(const std::string& name) {
    const auto out = shell("db", fmt::format("echo ${}", name)).out;
    return std::string(trim(cut(out, "//")->after));
  }
};

TEST_F(SandboxPrivacyTest, ListensOnLoopbackAlone) {
  start();
  quorate({"create", "db", "--replicas", "1", "--wait"});
  const auto api = std::string(trim(
      cut(kubectl({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"}).out, "//")
          ->after));
  const auto members = exported("ETCDCTL_ENDPOINTS");
  const auto open = open_to_the_host(processes());
  EXPECT_THAT(open, IsSupersetOf({api, members})) << "or this test looks at the wrong place";
  EXPECT_THAT(open, Each(StartsWith("127.0.0.1:")));
}

TEST_F(SandboxPrivacyTest, IsVerifiedByItsOwnAuthorityAndNoOther) {
  start();
  auto config = support::read_file(kubeconfig());
  const auto at = config.find("certificate-authority-data");
  ASSERT_NE(at, std::string::npos);
  config.erase(at, config.find('\n', at) - at);
  const auto bare = folder_.path() / "bare";
  support::write_file(bare, config);
  const auto kubectl_says = kubectl({"get", "nodes", "--kubeconfig", bare.string()});
  EXPECT_FALSE(kubectl_says.ok());
  EXPECT_THAT(kubectl_says.err, HasSubstr("certificate signed by unknown authority"));
  const auto ours_says = run({kQuorate, "status", "--kubeconfig", bare.string()});
  EXPECT_EQ(ours_says.status.code, 1);
  EXPECT_THAT(ours_says.err, HasSubstr("certificate"));
}

}  // namespace
}  // namespace quorate::test
