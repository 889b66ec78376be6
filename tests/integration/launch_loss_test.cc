// How acknowledged writes are lost without quorate-launch, and kept with it, on real etcd of every
// minor version: E3, E4 and E15. (E1 is in launch_guard_test.cc.)

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "base/launch_contract.h"
#include "tests/integration/launch_rig.h"
#include "tests/support/fixture_error.h"
#include "tests/support/parts.h"
#include "tests/support/wait.h"

namespace quorate::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// ---- E15: an older copy of the volume ----

// m2 is down while a write is acknowledged by m0 and m1; both end; m0's volume is put back as it
// was before.
class OlderCopy : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    cluster_ = std::make_unique<LaunchedCluster>(GetParam(), 3);
    cluster_->start_all();
    cluster_->tell_formed();
    m2().wait_for_cluster_version();
    cluster_->tell_floors();
    before_ = m0().raft_floor;
    m2().stop();  // in peace: killed, it might not know by itself what was committed
    m0().stop();
    m0().copy_volume(copy());
    m0().start();
    m0().wait_healthy();
    put(m0(), "k", "acknowledged");
    cluster_->tell_floors();
    m0().kill();
    m1().kill();
    m0().put_back(copy());
  }
  LaunchedMember& m0() { return (*cluster_)[0]; }
  LaunchedMember& m1() { return (*cluster_)[1]; }
  LaunchedMember& m2() { return (*cluster_)[2]; }
  fs::path copy() const { return cluster_->folder() / "copy"; }

  std::unique_ptr<LaunchedCluster> cluster_;
  std::uint64_t before_ = 0;  // the floor of m0 before the write
};

TEST_P(OlderCopy, LosesTheWriteWithoutTheGuard) {
  m0().start_unguarded("existing");
  m2().start();
  m2().wait_healthy();
  EXPECT_EQ(get(m2(), "k"), "") << "a quorum stands without the write";
}

TEST_P(OlderCopy, KeepsTheWriteWithTheGuard) {
  m0().new_pod();
  m0().start();
  expect_refusal(m0(), launch::kExitLost, "older copy");
  m2().start();
  m1().start();
  m1().wait_healthy();
  m2().wait_healthy();
  EXPECT_EQ(get(m2(), "k"), "acknowledged\n");
}

// What the floor does not know is not protected: the window that docs/launch.md states.
TEST_P(OlderCopy, PassesIfItIsNotBelowTheFloor) {
  m0().raft_floor = before_;
  m0().new_pod();
  m0().start();
  m2().start();
  m2().wait_healthy();
  EXPECT_EQ(get(m2(), "k"), "");
}

INSTANTIATE_TEST_SUITE_P(Etcd, OlderCopy, every_etcd(), etcd_name);

// ---- E3: the seed of a cluster that grew ----

// c-0 bootstrapped alone, c-1 joined it. Then both are down, and c-0's data is emptied.
class Seed : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    cluster_ = std::make_unique<LaunchedCluster>(GetParam(), 2);
    alone_ = fmt::format("{}={}", seed().name(), seed().peer_url());
    const auto both = seed().initial_cluster;
    seed().initial_cluster = alone_;
    seed().start();
    seed().wait_healthy();
    support::eventually(60s, "a learner is added", [&] {
      auto added = seed().etcdctl(
          {"member", "add", joiner().name(), "--learner", "--peer-urls=" + joiner().peer_url()});
      return support::Look(added.ok(), added.err);
    });
    joiner().initial_cluster = both;
    joiner().start_unguarded("existing");
    promote();
    cluster_->tell_formed();
    put(seed(), "k", "acknowledged");
    seed().kill();
    joiner().kill();
    seed().wipe_volume();
  }
  void promote() {
    support::eventually(60s, "the learner votes", [&] {
      auto list = seed().etcdctl({"member", "list"});
      std::smatch line;
      std::regex pattern("([0-9a-f]+), [a-z]+, [^,]*, " + joiner().peer_url());
      if (!std::regex_search(list.out, line, pattern)) return support::Look(false, list.out);
      auto promoted = seed().etcdctl({"member", "promote", line[1]});
      return support::Look(promoted.ok(), promoted.err);
    });
    joiner().wait_healthy();
  }
  LaunchedMember& seed() { return (*cluster_)[0]; }
  LaunchedMember& joiner() { return (*cluster_)[1]; }

  std::unique_ptr<LaunchedCluster> cluster_;
  std::string alone_;
};

TEST_P(Seed, FormsAClusterOfItsOwnWithoutTheGuard) {
  seed().start_unguarded("new");
  seed().wait_healthy();
  put(seed(), "fork", "taken");
  EXPECT_EQ(get(seed(), "k"), "") << "it takes writes, and has lost the one that it acknowledged";
}

TEST_P(Seed, IsNotStartedByTheGuard) {
  seed().initial_cluster = alone_;
  seed().new_pod();
  seed().start();
  expect_refusal(seed(), launch::kExitLost, "held data");
  EXPECT_FALSE(seed().has_log());
}

INSTANTIATE_TEST_SUITE_P(Etcd, Seed, every_etcd(), etcd_name);

// ---- E4: a restore that failed its check ----

class HalfRestored : public ::testing::TestWithParam<std::string> {
 protected:
  // A snapshot of a cluster that has a key, damaged.
  void SetUp() override {
    source_ = std::make_unique<LaunchedCluster>(GetParam(), 1);
    auto& member = (*source_)[0];
    member.start();
    member.wait_healthy();
    put(member, "k", "unverified");
    const auto file = source_->folder() / "snapshot";
    auto saved = member.etcdctl({"snapshot", "save", file});
    ASSERT_TRUE(saved.ok()) << saved.err;
    auto text = support::read_file(file);
    text.back() = static_cast<char>(text.back() ^ 1);  // of the checksum: all keys are there
    std::ofstream(file, std::ios::binary) << text;
    cluster_ = std::make_unique<LaunchedCluster>(GetParam(), 1);
  }
  // Which fails, and leaves the database where etcd finds it.
  void restore() {
    const bool old = GetParam().starts_with("3.4");
    const auto program = support::part("etcd-" + GetParam()) / (old ? "etcdctl" : "etcdutl");
    auto output =
        support::run({.argv = {program, "snapshot", "restore", source_->folder() / "snapshot",
                               "--data-dir=" + member().data().string()},
                      .env = {{"ETCDCTL_API", "3"}}});
    ASSERT_FALSE(output.ok());
    ASSERT_TRUE(fs::exists(member().data() / "member" / "snap" / "db")) << output.err;
  }
  LaunchedMember& member() { return (*cluster_)[0]; }

  std::unique_ptr<LaunchedCluster> source_;
  std::unique_ptr<LaunchedCluster> cluster_;
};

TEST_P(HalfRestored, IsServedWithoutTheGuard) {
  restore();
  member().start_unguarded("new");
  member().wait_healthy();
  // From 3.6 on it listens to clients only when its own log has reached the index that the database
  // brought along: a few attempts of seven seconds.
  support::eventually(120s, "the unverified key is served", [&] {
    auto answer = member().etcdctl({"get", "--print-value-only", "k"});
    return support::Look(answer.ok() && answer.out == "unverified\n", answer.out + answer.err);
  });
}

TEST_P(HalfRestored, IsRefusedByTheGuard) {
  restore();
  member().start();
  expect_refusal(member(), launch::kExitUnsure, "not empty");
}

// Also where a start of ours that failed has left its note.
TEST_P(HalfRestored, IsRefusedByTheGuardOnAVolumeOfItsOwn) {
  member().more_flags = {"--no-such-flag=1"};
  member().start();
  ASSERT_LT(member().wait_for_exit(30s).code, launch::kExitLost);
  member().more_flags.clear();
  member().wipe_data();
  restore();
  member().start();
  expect_refusal(member(), launch::kExitUnsure, "emptied since");
}

TEST_P(HalfRestored, IsRefusedByTheGuardWhileTheMarkerIsThere) {
  std::ofstream(member().volume() / launch::kRestoreMarker) << "";
  member().start();
  expect_refusal(member(), launch::kExitUnsure, "did not come to its end");
  fs::remove(member().volume() / launch::kRestoreMarker);
  member().start();
  member().wait_healthy();
}

INSTANTIATE_TEST_SUITE_P(Etcd, HalfRestored, every_etcd(), etcd_name);

}  // namespace
}  // namespace quorate::test
