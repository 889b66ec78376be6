#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/sandbox_rig.h"

// The sandbox as somebody who has no rights on this machine.
namespace quorate::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uid_t kNobody = 65534;
constexpr int kUnsupported = 3;

// Files and folders below that belong to somebody else.
std::vector<std::string> strange_below(const fs::path& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat found {};
    if (::lstat(entry.path().c_str(), &found) == 0 && found.st_uid != kNobody)
      out.push_back(entry.path().string());
  }
  return out;
}

class SandboxUserTest : public SandboxTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0)
      GTEST_SKIP() << "an ordinary user runs these tests: all others of it_sandbox show it";
    give_programs();
    const auto fabric = as_nobody("quorate fabric --dir \"$HOME/try\" -- true");
    if (fabric.status.code == kUnsupported) GTEST_SKIP() << "as nobody: " << fabric.err;
    ASSERT_TRUE(fabric.ok()) << fabric.err;
  }
  void TearDown() override {
    if (::geteuid() == 0) as_nobody("quorate sandbox stop");
  }

  // A line of a shell in which nothing is root's: neither the process nor its home.
  support::Output as_nobody(const std::string& line) {
    support::Command command{
        .argv = {"setpriv", "--reuid", std::to_string(kNobody), "--regid", std::to_string(kNobody),
                 "--clear-groups", "--", "/bin/sh", "-euc", line},
        .cwd = home()};
    command.env = {{"HOME", home().string()},
                   {"XDG_STATE_HOME", ""},
                   {"PATH", (folder_.path() / "bin").string() + ":/usr/bin:/bin"}};
    return support::run(command, 180s);
  }
  fs::path home() const { return folder_.path() / "home"; }

 private:
  // Builds and parts may lie where only root may look.
  void give_programs() {
    fs::create_directories(folder_.path() / "bin");
    fs::create_directories(home());
    for (const auto& program :
         {fs::path(kQuorate), fs::path(kQuorate).parent_path() / "quorate-launch",
          fs::path(etcd_folder()) / "etcd", fs::path(etcd_folder()) / "etcdctl",
          fs::path(kubectl_program())})
      fs::copy_file(program, folder_.path() / "bin" / program.filename());
    fs::permissions(folder_.path(), fs::perms(0711));
    ASSERT_EQ(::chown(home().c_str(), kNobody, kNobody), 0);
  }
};

TEST_F(SandboxUserTest, FormsAClusterWithoutAnyRight) {
  const auto started = as_nobody("quorate sandbox start");
  ASSERT_TRUE(started.ok()) << started.err;
  const auto example = support::read_file(fs::path(QUORATE_SOURCE_DIR) / "examples/cluster.yaml");
  support::write_file(folder_.path() / "cluster.yaml", example);
  const auto ready = as_nobody(
      "eval $(quorate sandbox env); kubectl apply -f ../cluster.yaml;"
      "kubectl wait etcd/example --for=condition=Ready --timeout=120s; quorate status example");
  ASSERT_TRUE(ready.ok()) << ready.err << ready.out;
  EXPECT_THAT(ready.out, HasSubstr("3/3"));
  const auto used = as_nobody(
      "eval $(quorate sandbox env example); etcdctl put a kept; quorate etcdctl example -- get a;"
      "kubectl logs example-0 -c etcd --tail 1; kubectl exec example-0 -c etcd -- etcdctl version;"
      "quorate fabric --dir \"$HOME/.local/state/quorate/sandbox\" -- getent hosts "
      "example.default.svc; quorate sandbox node cut node-1; quorate sandbox node mend node-1");
  EXPECT_TRUE(used.ok()) << used.err << used.out;
  EXPECT_THAT(used.out, HasSubstr("kept"));
  EXPECT_THAT(strange_below(home()), IsEmpty());

  ASSERT_TRUE(as_nobody("quorate sandbox stop; quorate sandbox start").ok());
  const auto again = as_nobody(
      "eval $(quorate sandbox env example); etcdctl get a --print-value-only --command-timeout "
      "60s");
  EXPECT_EQ(again.out, "kept\n") << again.err;
  EXPECT_TRUE(as_nobody("quorate sandbox stop; quorate sandbox reset --yes").ok());
  EXPECT_THAT(processes_at(home()), IsEmpty());
  EXPECT_FALSE(fs::exists(home() / ".local/state/quorate/sandbox"));
}

}  // namespace
}  // namespace quorate::test
