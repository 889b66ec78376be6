// What quorate-launch reads in the logs of real etcd of every minor version, and what follows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/launch_contract.h"
#include "datadir/log.h"
#include "datadir/wal.h"
#include "tests/integration/launch_rig.h"
#include "tests/support/parts.h"
#include "tests/support/wait.h"

namespace quorate::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

datadir::Log log_of(const LaunchedMember& member) {
  auto log = datadir::read_log(member.data());
  EXPECT_TRUE(log) << log.error().text();
  return log ? *log : datadir::Log{};
}

class LaunchLogs : public ::testing::TestWithParam<std::string> {};

TEST_P(LaunchLogs, SayWhatEtcdSays) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  member.more_flags = {"--snapshot-count=5"};
  cluster.start_all();
  cluster.tell_formed();
  for (int i = 0; i < 20; ++i) put(member, "k", std::to_string(i));
  const auto applied = member.applied();
  member.kill();
  const auto log = log_of(member);
  EXPECT_EQ(log.damage, "");
  EXPECT_EQ(log.cluster_id, std::stoull(member.cluster_id, nullptr, 16));
  EXPECT_EQ(log.member_id, std::stoull(member.member_id, nullptr, 16));
  EXPECT_EQ(log.last_index, applied) << "nobody else writes";
  EXPECT_GE(log.commit, applied - 1);
  EXPECT_GT(log.snapshot, 5u) << "it was snapshotted every five entries";
  EXPECT_LE(log.snapshot, applied);
}

// The floor is what a member says that it has applied, at any time. Its log has that, if it is
// killed in the next moment.
TEST_P(LaunchLogs, HoldWhatWasApplied) {
  LaunchedCluster cluster(GetParam(), 3);
  cluster.start_all();
  for (int round = 0; round < 3; ++round) {
    std::uint64_t applied[3] = {};
    for (int i = 0; i < 5; ++i)
      put(cluster[static_cast<std::size_t>(i % 3)], "k", std::to_string(i));
    for (std::size_t i = 0; i < 3; ++i) applied[i] = cluster[i].applied();
    for (std::size_t i = 0; i < 3; ++i) cluster[i].kill();
    for (std::size_t i = 0; i < 3; ++i) EXPECT_GE(log_of(cluster[i]).last_index, applied[i]);
    cluster.start_all();
  }
}

// A follower whose entries nobody has any more gets a snapshot in their place: those who were
// restarted have only what came after their own.
TEST_P(LaunchLogs, HoldASnapshotThatWasTakenOver) {
  LaunchedCluster cluster(GetParam(), 3);
  for (std::size_t i = 0; i < 3; ++i) cluster[i].more_flags = {"--snapshot-count=10"};
  cluster.start_all();
  cluster.tell_formed();
  cluster[2].kill();
  for (int i = 0; i < 40; ++i) put(cluster[0], "k", std::to_string(i));
  for (std::size_t i = 0; i < 2; ++i) cluster[i].kill();
  for (std::size_t i = 0; i < 2; ++i) cluster[i].start();
  for (std::size_t i = 0; i < 2; ++i) cluster[i].wait_healthy();
  cluster[2].start();
  cluster[2].wait_healthy();
  ASSERT_THAT(support::read_file(cluster[2].log()), HasSubstr("incoming")) << "a snapshot";
  const auto applied = cluster[2].applied();
  cluster[2].kill();
  const auto log = log_of(cluster[2]);
  EXPECT_EQ(log.damage, "");
  EXPECT_GE(log.last_index, applied);
  cluster[2].raft_floor = applied;
  cluster[2].start();
  cluster[2].wait_healthy();
}

TEST_P(LaunchLogs, AreRefusedIfTheyAreDamaged) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  cluster.start_all();
  cluster.tell_formed();
  put(member, "k", std::string(4000, 'v'));
  member.kill();
  std::string text = support::read_file(log_of(member).tail);
  const auto at = text.find(std::string(1000, 'v'));
  ASSERT_NE(at, std::string::npos);
  text[at + 10] ^= 1;
  std::ofstream(log_of(member).tail, std::ios::binary) << text;
  member.start();
  expect_refusal(member, launch::kExitDamaged, "the checksum is wrong");
  member.start_unguarded("existing");
  EXPECT_NE(member.wait_for_exit(30s).code, 0) << "etcd says the same, but for a machine";
}

// The machine lost power while a record was written: etcd cuts it off, and so do we.
TEST_P(LaunchLogs, MayEndInARecordThatWasNotWrittenToItsEnd) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  cluster.start_all();
  put(member, "k", "v");
  cluster.tell_formed();
  cluster.tell_floors();
  put(member, "torn", std::string(4000, 't'));
  member.kill();
  auto text = support::read_file(log_of(member).tail);
  const auto at = text.find(std::string(4000, 't'));
  ASSERT_NE(at, std::string::npos);
  text.resize(at + 100);
  std::ofstream(log_of(member).tail, std::ios::binary) << text;
  EXPECT_TRUE(log_of(member).torn);
  member.start();
  member.wait_healthy();
  EXPECT_EQ(get(member, "k"), "v\n");
}

TEST_P(LaunchLogs, AreRefusedIfTheyAreThoseOfAnother) {
  LaunchedCluster cluster(GetParam(), 3);
  cluster.start_all();
  cluster.tell_formed();
  cluster[0].kill();
  cluster[1].kill();
  // The data alone is exchanged; the note beside it vouches for what was there.
  fs::remove_all(cluster[0].data());
  fs::copy(cluster[1].data(), cluster[0].data(), fs::copy_options::recursive);
  cluster[0].start();
  expect_refusal(cluster[0], launch::kExitLost, "another member, ID " + cluster[1].member_id);
}

// ---- Volumes and Pods ----

TEST_P(LaunchLogs, OfAnEarlierDayAreRefusedInTheSamePod) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  cluster.start_all();
  member.kill();
  member.copy_volume(cluster.folder() / "copy");
  member.start();
  member.wait_healthy();
  put(member, "k", "v");
  member.kill();
  // It was started once more, and left in its Pod how far it was.
  member.start();
  member.wait_healthy();
  member.kill();
  member.put_back(cluster.folder() / "copy");
  member.start();
  expect_refusal(member, launch::kExitUnsure, "older copy");
}

// An image that cannot be pulled: the Pod never gets to start etcd, but its init container runs.
TEST_P(LaunchLogs, BeginInTheSecondPodIfTheFirstOneMarkedTheVolume) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  member.install();
  member.new_pod();
  member.install();
  member.start();
  member.wait_healthy();
  // And after it ran, as always.
  member.kill();
  member.new_pod();
  member.install();
  member.start();
  member.wait_healthy();
}

TEST_P(LaunchLogs, DoNotBeginOnADiskThatIsNotTheOneOfTheFirstPod) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  cluster.start_all();
  member.kill();
  member.wipe_volume();
  member.new_pod();
  member.install();
  member.start();
  expect_refusal(member, launch::kExitUnsure, "another Pod may have run on this volume");
  EXPECT_FALSE(member.has_log());
}

TEST_P(LaunchLogs, BeginWhenTheMemberIsNotHeldAnyMore) {
  LaunchedCluster cluster(GetParam(), 1);
  auto& member = cluster[0];
  member.more_environment = {{"QUORATE_FORMATION", "held"}};
  member.start();
  expect_refusal(member, launch::kExitHeld, "neither");
  EXPECT_FALSE(member.has_log());
  member.new_pod();
  member.more_environment.clear();
  member.start();
  member.wait_healthy();
}

INSTANTIATE_TEST_SUITE_P(Etcd, LaunchLogs, every_etcd(), etcd_name);

}  // namespace
}  // namespace quorate::test
