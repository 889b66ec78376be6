// quorate-launch in front of real etcd of every minor version.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "api/launch_report.h"
#include "base/launch_contract.h"
#include "tests/integration/launch_rig.h"
#include "tests/support/wait.h"

namespace quorate::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

class LaunchGuard : public ::testing::TestWithParam<std::string> {};

// The guard refuses, and the operator can read why.
void expect_refusal(LaunchedMember& member, launch::ExitCode code, bool data,
                    const std::string& reason) {
  auto end = member.wait_for_exit(30s);
  ASSERT_EQ(end.code, code) << member.report();
  auto report = api::read_launch_report(end.code, member.report());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->code, code);
  EXPECT_EQ(report->holds_data, data);
  EXPECT_THAT(report->reason, HasSubstr(reason));
}

std::string get(LaunchedMember& member, const std::string& key) {
  auto answer = member.etcdctl({"get", "--print-value-only", key});
  EXPECT_TRUE(answer.ok()) << answer.err;
  return answer.out;
}

// Acknowledged: tried again while a leader that has just died is being replaced.
void put(LaunchedMember& member, const std::string& key, const std::string& value) {
  support::eventually(60s, "a write is acknowledged", [&] {
    auto answer = member.etcdctl({"put", key, value});
    return support::Look(answer.ok(), answer.err);
  });
}

TEST_P(LaunchGuard, StartsFreshThenOnItsData) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  member.start();
  member.wait_healthy();
  put(member, "k", "v");
  // The container restarts before the operator has said anything.
  member.kill();
  member.start();
  member.wait_healthy();
  EXPECT_EQ(get(member, "k"), "v\n");
  // Another Pod on the same volume, of a cluster that is known to have formed.
  cluster.tell_formed();
  member.kill();
  member.new_pod();
  member.start();
  member.wait_healthy();
  EXPECT_EQ(get(member, "k"), "v\n");
}

TEST_P(LaunchGuard, RefusesAnEmptiedDirectoryAfterItWasVerified) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  cluster.start_all();
  cluster.tell_formed();
  member.kill();
  member.wipe_volume();
  member.start();
  expect_refusal(member, launch::kExitLost, false, "held data");
  EXPECT_FALSE(member.has_log());
  // Nor in another Pod, nor when the next container starts.
  member.new_pod();
  member.start();
  expect_refusal(member, launch::kExitLost, false, "held data");
}

TEST_P(LaunchGuard, IsUnsureOfADirectoryThatWasEmptiedBeforeItWasVerified) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  cluster.start_all();
  member.kill();
  member.wipe_data();
  member.start();
  expect_refusal(member, launch::kExitUnsure, false, "emptied since");
  member.wipe_volume();
  member.start();
  expect_refusal(member, launch::kExitUnsure, false, "another volume");
}

// E18: etcd ends before anything is on disk, though it was "started".
TEST_P(LaunchGuard, TriesAgainAfterABadFlag) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  member.more_flags = {"--no-such-flag=1"};
  member.start();
  auto end = member.wait_for_exit(30s);
  EXPECT_LT(end.code, launch::kExitLost) << "etcd's own exit code";
  EXPECT_NE(end.code, 0);
  ASSERT_FALSE(member.has_log());
  member.more_flags.clear();
  member.start();
  member.wait_healthy();
}

// E22 and E14: a member that was never up when the cluster formed joins later, also when it does
// not find its peers at first.
TEST_P(LaunchGuard, LetsALateMemberJoin) {
  LaunchedCluster cluster(GetParam(), 3);
  cluster[0].start();
  cluster[1].start();
  cluster[0].wait_healthy();
  cluster[1].wait_healthy();
  put(cluster[0], "k", "v");
  cluster.tell_formed();
  cluster[2].cluster_id = cluster[0].cluster_id;
  cluster[0].kill();
  cluster[1].kill();
  cluster[2].start();
  EXPECT_LT(cluster[2].wait_for_exit(60s).code, launch::kExitLost) << "etcd found no peer";
  ASSERT_FALSE(cluster[2].has_log());
  cluster[0].start();
  cluster[1].start();
  cluster[0].wait_healthy();
  cluster[2].start();
  cluster[2].wait_healthy();
  EXPECT_EQ(get(cluster[2], "k"), "v\n");
}

TEST_P(LaunchGuard, RefusesTheVolumeOfAnotherMemberAndLeavesItAlone) {
  LaunchedCluster cluster(GetParam(), 1);
  cluster.start_all();
  cluster[0].kill();
  LaunchedCluster other(GetParam(), 2);
  fs::remove_all(other[1].volume());
  fs::copy(cluster[0].volume(), other[1].volume(), fs::copy_options::recursive);
  other[1].start();
  expect_refusal(other[1], launch::kExitUnsure, true, "another member, c-0");
  EXPECT_TRUE(other[1].has_log());
  // The same without the note: nobody vouches for the data.
  fs::remove(other[1].volume() / launch::kNoteFile);
  other[1].start();
  expect_refusal(other[1], launch::kExitUnsure, true, "no note");
  EXPECT_TRUE(other[1].has_log());
}

// E4: what a failed restore leaves behind.
TEST_P(LaunchGuard, RefusesAHalfRestoredDirectory) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  fs::create_directories(member.data() / "member" / "snap");
  std::ofstream(member.data() / "member" / "snap" / "db") << "unverified";
  member.start();
  expect_refusal(member, launch::kExitUnsure, false, "not empty");
}

// A crash after the notes and before etcd: here, by a program that does not exist.
TEST_P(LaunchGuard, StartsAfterACrashBetweenNoteAndStart) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  auto etcd = member.program;
  member.program = "/no/such/etcd";
  member.start();
  expect_refusal(member, launch::kExitCannotStart, false, "/no/such/etcd");
  EXPECT_TRUE(fs::exists(member.volume() / launch::kNoteFile));
  member.program = etcd;
  member.start();
  member.wait_healthy();
}

// E1, in the order in which etcd itself notices nothing: m2 is down while a write is acknowledged
// by m0 and m1; both end; m0's data is emptied; m0 starts before m2 can tell it that it was there.
class AcknowledgedWrite : public LaunchGuard {
 protected:
  void SetUp() override {
    cluster_ = std::make_unique<LaunchedCluster>(GetParam(), 3);
    cluster_->start_all();
    cluster_->tell_formed();
    m2().wait_for_cluster_version();
    m2().stop();  // in peace: killed, it might not know by itself what was committed
    put(m0(), "k", "acknowledged");
    m0().kill();
    m1().kill();
    m0().wipe_volume();
  }
  LaunchedMember& m0() { return (*cluster_)[0]; }
  LaunchedMember& m1() { return (*cluster_)[1]; }
  LaunchedMember& m2() { return (*cluster_)[2]; }

  std::unique_ptr<LaunchedCluster> cluster_;
};

TEST_P(AcknowledgedWrite, IsLostWithoutTheGuard) {
  m0().start_unguarded("new");
  support::eventually(30s, "the amnesiac has a log", [&] { return support::Look(m0().has_log()); });
  m2().start();
  m2().wait_healthy();
  EXPECT_EQ(get(m2(), "k"), "") << "a quorum stands without the write";
}

// E15: `existing` protects nothing.
TEST_P(AcknowledgedWrite, IsLostWithoutTheGuardAlsoWhenItSaysExisting) {
  m2().start();
  support::eventually(60s, "m0 has joined", [&] {
    if (!m0().running()) m0().start_unguarded("existing");  // until its peer listens
    return support::Look(m0().has_log());
  });
  m2().wait_healthy();
  EXPECT_EQ(get(m2(), "k"), "") << "a quorum stands without the write";
}

TEST_P(AcknowledgedWrite, IsKeptByTheGuard) {
  m0().start();
  expect_refusal(m0(), launch::kExitLost, false, "held data");
  m2().start();
  m1().start();
  m1().wait_healthy();
  m2().wait_healthy();
  EXPECT_EQ(get(m2(), "k"), "acknowledged\n");
}

const auto kVersions = ::testing::Values("3.4.23", "3.5.35", "3.6.16", "3.7.3");
std::string version_name(const ::testing::TestParamInfo<std::string>& info) {
  auto name = "v" + info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Etcd, LaunchGuard, kVersions, version_name);
INSTANTIATE_TEST_SUITE_P(Etcd, AcknowledgedWrite, kVersions, version_name);

}  // namespace
}  // namespace quorate::test
