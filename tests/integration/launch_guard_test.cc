// quorate-launch in front of real etcd of every minor version.

#include <gtest/gtest.h>

#include <fstream>

#include "base/launch_contract.h"
#include "tests/integration/launch_rig.h"
#include "tests/support/wait.h"

namespace quorate::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class LaunchGuard : public ::testing::TestWithParam<std::string> {};

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
  expect_refusal(member, launch::kExitLost, "held data", false);
  EXPECT_FALSE(member.has_log());
  // Nor in another Pod, nor when the next container starts.
  member.new_pod();
  member.start();
  expect_refusal(member, launch::kExitLost, "held data", false);
}

TEST_P(LaunchGuard, IsUnsureOfADirectoryThatWasEmptiedBeforeItWasVerified) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  cluster.start_all();
  member.kill();
  member.wipe_data();
  member.start();
  expect_refusal(member, launch::kExitUnsure, "emptied since", false);
  member.wipe_volume();
  member.start();
  expect_refusal(member, launch::kExitUnsure, "another volume", false);
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
  expect_refusal(other[1], launch::kExitUnsure, "another member, c-0", true);
  EXPECT_TRUE(other[1].has_log());
  // The same without the note: nobody vouches for the data.
  fs::remove(other[1].volume() / launch::kNoteFile);
  other[1].start();
  expect_refusal(other[1], launch::kExitUnsure, "no note", true);
  EXPECT_TRUE(other[1].has_log());
}

// E4: what a failed restore leaves behind.
TEST_P(LaunchGuard, RefusesAHalfRestoredDirectory) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  fs::create_directories(member.data() / "member" / "snap");
  std::ofstream(member.data() / "member" / "snap" / "db") << "unverified";
  member.start();
  expect_refusal(member, launch::kExitUnsure, "not empty", false);
}

// A crash after the notes and before etcd: here, by a program that does not exist.
TEST_P(LaunchGuard, StartsAfterACrashBetweenNoteAndStart) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  auto etcd = member.program;
  member.program = "/no/such/etcd";
  member.start();
  expect_refusal(member, launch::kExitCannotStart, "/no/such/etcd", false);
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
  expect_refusal(m0(), launch::kExitLost, "held data", false);
  m2().start();
  m1().start();
  m1().wait_healthy();
  m2().wait_healthy();
  EXPECT_EQ(get(m2(), "k"), "acknowledged\n");
}

INSTANTIATE_TEST_SUITE_P(Etcd, LaunchGuard, every_etcd(), etcd_name);
INSTANTIATE_TEST_SUITE_P(Etcd, AcknowledgedWrite, every_etcd(), etcd_name);

}  // namespace
}  // namespace quorate::test
