// What quorate-launch does beside judging: nothing here depends on etcd's version.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/launch_contract.h"
#include "tests/integration/launch_rig.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace quorate::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kVersion = "3.6.16";

TEST(LaunchProgram, InstallsItself) {
  support::TempDir folder;
  auto output = support::run({.argv = {launch_program(), "--install", folder.path()}});
  ASSERT_TRUE(output.ok()) << output.err;
  auto copy = folder.path() / launch::kProgram;
  EXPECT_EQ(fs::status(copy).permissions() & fs::perms::all, fs::perms(0755));
  EXPECT_EQ(support::read_file(copy), support::read_file(launch_program()));
  // Once more, as after a reboot of the node.
  EXPECT_TRUE(support::run({.argv = {copy, "--install", folder.path()}}).ok());
}

TEST(LaunchProgram, SaysHowItIsUsed) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{{}, {"--"}, {"--help"}}) {
    std::vector<std::string> argv{launch_program()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    auto output = support::run({.argv = argv});
    EXPECT_EQ(output.status.code, launch::kExitMisconfigured);
    EXPECT_THAT(output.err, HasSubstr("usage"));
  }
}

TEST(LaunchProgram, RefusesAnEnvironmentThatTheOperatorNeverWrites) {
  LaunchedCluster cluster(kVersion, 1);
  cluster[0].more_environment = {{"QUORATE_TOKEN", ""}};
  cluster[0].start();
  EXPECT_EQ(cluster[0].wait_for_exit(30s).code, launch::kExitMisconfigured);
  EXPECT_THAT(cluster[0].report(), HasSubstr("QUORATE_TOKEN"));
}

TEST(LaunchProgram, RefusesFlagsThatAreItsOwn) {
  LaunchedCluster cluster(kVersion, 1);
  cluster[0].more_flags = {"--force-new-cluster"};
  cluster[0].start();
  EXPECT_EQ(cluster[0].wait_for_exit(30s).code, launch::kExitMisconfigured);
  EXPECT_FALSE(fs::exists(cluster[0].volume() / launch::kNoteFile)) << "nothing was touched";
}

TEST(LaunchProgram, SaysNothingOfDataThatItCannotRead) {
  LaunchedCluster cluster(kVersion, 1);
  std::ofstream(cluster[0].volume() / launch::kNoteFile) << "torn";
  cluster[0].start();
  EXPECT_EQ(cluster[0].wait_for_exit(30s).code, launch::kExitUnreadable);
  EXPECT_THAT(cluster[0].report(), HasSubstr("\"data\":true"));
}

TEST(LaunchProgram, KeepsVariablesAwayThatEtcdWouldTakeForFlags) {
  LaunchedCluster cluster(kVersion, 1);
  auto& member = cluster[0];
  member.more_environment = {{"ETCD_FORCE_NEW_CLUSTER", "true"}, {"ETCD_PORT", "tcp://10.0.0.1"}};
  member.start();
  member.wait_healthy();
  auto environment = support::read_file("/proc/" + std::to_string(member.pid()) + "/environ");
  EXPECT_THAT(environment, Not(HasSubstr("ETCD_")));
  EXPECT_THAT(environment, HasSubstr("QUORATE_MEMBER=c-0"));
}

// Nothing of ours stays in memory: the process is etcd itself, under the same pid.
TEST(LaunchProgram, BecomesEtcd) {
  LaunchedCluster cluster(kVersion, 1);
  auto& member = cluster[0];
  member.start();
  member.wait_healthy();
  EXPECT_EQ(fs::read_symlink("/proc/" + std::to_string(member.pid()) + "/exe").filename(), "etcd");
}

}  // namespace
}  // namespace quorate::test
