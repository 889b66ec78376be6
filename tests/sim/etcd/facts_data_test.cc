// What is known of etcd's data and identity, on simulated members: the mirror of the tests of the
// same names on real ones. Where a fact is a race, the test forces each side of it.

#include <gmock/gmock.h>

#include "etcd/snapshot_check.h"
#include "tests/sim/etcd/lab_test.h"

namespace quorate::etcdsim {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;

class SimDataFacts : public OnEachVersion {
 protected:
  etcd::Header header_of(TestMember& member) { return must(lab.status(member.target())).header; }
  std::optional<std::string> agreed(TestMember& member, const std::string& key) {
    return must(lab.get(member.target(), key));
  }
  void put(TestMember& member, const std::string& key) { must(lab.put(member.target(), key, "v")); }
  bool same_data(TestMember& a, TestMember& b) {
    auto revision = std::min(header_of(a).revision, header_of(b).revision);
    auto hash = [&](TestMember& member) {
      return must(lab.run(lab.api.hash_kv(member.target(), revision, lab.within(5s)))).hash;
    };
    return hash(a) == hash(b);
  }
  void lose_data_of_m0_after_a_write_that_m2_missed(TestCluster& cluster) {
    cluster[2].stop();
    put(cluster[0], "acknowledged");
    cluster[0].stop();
    cluster[1].stop();
    cluster[0].wipe();
  }
  std::string save_snapshot(TestMember& member) {
    auto stream = must(lab.run(lab.api.snapshot(member.target(), lab.within(5s))));
    std::string bytes;
    while (auto chunk = must(lab.run(stream->read(lab.within(5s))))) bytes += chunk->bytes;
    return bytes;
  }
  RestoreOptions restore_of(const TestMember& member) {
    RestoreOptions options;
    options.name = member.name();
    options.initial_cluster[member.name()] = {member.peer_url()};
    options.version = *Version::parse(version());
    return options;
  }
  static std::string alone(const TestMember& member) {
    return member.name() + "=" + member.peer_url();
  }
};

TEST_P(SimDataFacts, E1AnEmptiedMemberVotesAgainAndAnAcknowledgedWriteIsLost) {
  TestCluster cluster(lab, version(), 3);
  auto before = header_of(cluster[0]);
  lose_data_of_m0_after_a_write_that_m2_missed(cluster);

  cluster[0].start();
  lab.eventually(20s, "m0 has begun anew",
                 [&] { return cluster[0].volume().data.folder() == datadir::Folder::kData; });
  cluster[2].start();
  cluster[2].wait_healthy();
  cluster[0].wait_healthy();
  EXPECT_EQ(header_of(cluster[0]).member, before.member);
  EXPECT_EQ(header_of(cluster[0]).cluster, before.cluster);
  EXPECT_EQ(agreed(cluster[2], "acknowledged"), std::nullopt);
  EXPECT_EQ(agreed(cluster[0], "acknowledged"), std::nullopt);
}

TEST_P(SimDataFacts, E2TheOutcomeIsARaceAndDivergenceIsSilent) {
  {
    Lab other;
    TestCluster cluster(other, version(), 3);
    cluster[2].stop();
    must(other.put(cluster[0].target(), "acknowledged", "v"));
    cluster[0].stop();
    cluster[1].stop();
    cluster[0].wipe();
    cluster[2].start();
    other.eventually(20s, "m2 answers its peers",
                     [&] { return cluster[2].process().member() != nullptr; });
    cluster[0].start();
    EXPECT_THAT(cluster[0].wait_for_exit(20s).log, HasSubstr("has already been bootstrapped"));
    EXPECT_EQ(cluster[0].process().exit()->code, 1);
  }
  TestCluster cluster(lab, version(), 3);
  lose_data_of_m0_after_a_write_that_m2_missed(cluster);
  cluster[0].start();
  lab.eventually(20s, "m0 has begun anew",
                 [&] { return cluster[0].volume().data.folder() == datadir::Folder::kData; });
  cluster[2].start();
  cluster[2].wait_healthy();
  EXPECT_EQ(agreed(cluster[2], "acknowledged"), std::nullopt);
  cluster[1].start();
  lab.pass(8s);
  put(cluster[2], "later");
  EXPECT_TRUE(must(lab.run(lab.api.alarms(cluster[2].target(), lab.within(5s)))).empty());
  EXPECT_TRUE(cluster[1].running());
  if (!cluster[1].healthy()) return;  // "stuck": seen on real ones, too
  EXPECT_EQ(agreed(cluster[1], "later"), "v") << "all three work together";
  const bool diverged = agreed(cluster[1], "acknowledged") == "v";
  EXPECT_EQ(same_data(cluster[1], cluster[2]), !diverged);
}

TEST_P(SimDataFacts, E3ASeedOnAnEmptyFolderForksUnderItsOldIdentity) {
  TestCluster cluster(lab, version(), 1);
  auto before = header_of(cluster[0]);
  put(cluster[0], "old");
  cluster.grow();
  cluster.grow();

  cluster[1].process().pause();
  cluster[2].process().pause();
  cluster[0].kill();
  cluster[0].wipe();
  cluster[0].set_initial_cluster(alone(cluster[0]), "new");
  cluster[0].start();
  cluster[0].wait_healthy();
  EXPECT_EQ(header_of(cluster[0]).member, before.member);
  EXPECT_EQ(header_of(cluster[0]).cluster, before.cluster);
  put(cluster[0], "fork");
  EXPECT_EQ(agreed(cluster[0], "old"), std::nullopt);

  cluster[1].process().resume();
  cluster[2].process().resume();
  lab.eventually(60s, "all three agree on who they are", [&] {
    for (std::size_t i = 0; i < 3; ++i) {
      auto list = lab.list(cluster[i].target());
      if (!list || list->members.size() != 3 || list->header.cluster != before.cluster)
        return false;
    }
    return true;
  });
  put(cluster[1], "later");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(agreed(cluster[i], "later"), "v") << i;
    EXPECT_EQ(agreed(cluster[i], "fork").has_value(), i == 0) << i;
    EXPECT_EQ(agreed(cluster[i], "old").has_value(), i != 0) << i;
  }
}

TEST_P(SimDataFacts, E4AFailedRestoreLeavesAFolderThatStarts) {
  TestCluster cluster(lab, version(), 1);
  for (int i = 0; i < 50; ++i) put(cluster[0], fmt::format("k{}", i));
  auto bytes = save_snapshot(cluster[0]);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);  // of the digest

  TestMember& restored = cluster.add_member();
  EXPECT_FALSE(restore_snapshot(restored.volume(), bytes, restore_of(restored)));
  EXPECT_EQ(restored.volume().data.folder(), datadir::Folder::kOther);

  restored.set_initial_cluster(alone(restored), "new");
  restored.start();
  lab.pass(5s);
  auto read = lab.run(
      lab.api.range(restored.target(), {.range = etcd::KeyRange::one("k0")}, lab.within(2s)));
  if (!at_least(6)) {
    EXPECT_EQ(must(std::move(read)).kvs.size(), 1u) << "unverified data is served";
  } else {
    EXPECT_FALSE(read);
    EXPECT_EQ(restored.process().probe("/health"), 200);
  }
}

TEST_P(SimDataFacts, E5TheToolChecksLessThanItSeemsTo) {
  TestCluster cluster(lab, version(), 1);
  for (int i = 0; i < 100; ++i) put(cluster[0], fmt::format("k{}", i));
  const auto whole = save_snapshot(cluster[0]);
  auto restored = [&](std::string_view bytes, bool skip) {
    Volume volume;
    auto options = restore_of(cluster[0]);
    options.skip_hash_check = skip;
    return restore_snapshot(volume, bytes, options);
  };
  auto ours = [](std::string_view bytes) {
    etcd::SnapshotCheck check;
    check.update(bytes);
    return check.finish().has_value();
  };
  const std::string_view all = whole;
  std::string flipped = whole;
  flipped[flipped.size() - 5] = static_cast<char>(flipped[flipped.size() - 5] ^ 1);
  EXPECT_TRUE(restored(all, false));
  EXPECT_TRUE(ours(all));
  EXPECT_FALSE(restored(flipped, false));
  EXPECT_TRUE(restored(flipped, true));
  EXPECT_FALSE(ours(flipped));
  auto cut = restored(all.substr(0, all.size() - 1), false);
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message(), HasSubstr("snapshot missing hash"));
  EXPECT_FALSE(restored("", false));
  auto half = restored(all.substr(0, all.size() / 2), true);
  ASSERT_FALSE(half);
  EXPECT_THAT(half.error().message(), HasSubstr("panic"));
}

TEST_P(SimDataFacts, E12ARestoreKeepsTheClusterIdUnlessTheTokenIsNew) {
  TestCluster cluster(lab, version(), 1);
  put(cluster[0], "k");
  auto bytes = save_snapshot(cluster[0]);
  auto before = header_of(cluster[0]).cluster;
  cluster[0].stop();
  auto restored_id = [&](const std::string& token) {
    cluster[0].wipe();
    auto options = restore_of(cluster[0]);
    options.token = token;
    must(restore_snapshot(cluster[0].volume(), bytes, options));
    cluster[0].start();
    cluster[0].wait_healthy();
    EXPECT_EQ(agreed(cluster[0], "k"), "v");
    auto id = header_of(cluster[0]).cluster;
    cluster[0].stop();
    return id;
  };
  EXPECT_EQ(restored_id("etcd-cluster"), before);
  EXPECT_NE(restored_id("fresh"), before);
}

TEST_P(SimDataFacts, E12ABumpedRevisionIsNeverSeenTwice) {
  TestCluster cluster(lab, version(), 1);
  put(cluster[0], "k");
  auto bytes = save_snapshot(cluster[0]);
  put(cluster[0], "after the snapshot");
  auto seen = header_of(cluster[0]).revision;
  cluster[0].stop();
  cluster[0].wipe();
  auto options = restore_of(cluster[0]);
  options.bump_revision = 1'000'000;
  options.mark_compacted = true;
  must(restore_snapshot(cluster[0].volume(), bytes, options));
  cluster[0].start();
  cluster[0].wait_healthy();
  EXPECT_GT(header_of(cluster[0]).revision.value(), seen.value() + 900'000);
  auto old = lab.run(lab.api.range(
      cluster[0].target(), {.range = etcd::KeyRange::one("k"), .revision = seen}, lab.within(2s)));
  EXPECT_EQ(refused(old, Code::kGone), etcd::Reason::kCompacted);
}

TEST_P(SimDataFacts, E15ExistingProtectsNothing) {
  for (bool older_copy : {false, true}) {
    Lab own;
    TestCluster cluster(own, version(), 3);
    auto before = must(own.status(cluster[0].target())).header;
    cluster[0].stop();
    const DataDir copy = cluster[0].volume().data;
    cluster[0].start();
    cluster[0].wait_healthy();
    cluster[2].stop();
    must(own.put(cluster[0].target(), "acknowledged", "v"));
    cluster[0].kill();
    cluster[1].kill();
    older_copy ? cluster[0].volume().replace(copy) : cluster[0].wipe();
    cluster[0].set_initial_cluster(cluster.initial_cluster(), "existing");
    cluster[2].set_initial_cluster(cluster.initial_cluster(), "existing");
    cluster[2].start();
    own.eventually(20s, "m2 answers its peers",
                   [&] { return cluster[2].process().member() != nullptr; });
    cluster[0].start();
    cluster[0].wait_healthy();
    cluster[2].wait_healthy();
    EXPECT_EQ(must(own.status(cluster[0].target())).header.member, before.member);
    for (std::size_t i : {0u, 2u})
      EXPECT_EQ(must(own.get(cluster[i].target(), "acknowledged")), std::nullopt) << older_copy;
  }
}

TEST_P(SimDataFacts, E16TheLogHoldsWhatTheDatabaseDoesNotYet) {
  TestCluster cluster(lab, version(), 3, {"--backend-batch-interval=10s"});
  for (int i = 0; i < 50; ++i) put(cluster[0], fmt::format("load/{}", i));
  auto before = header_of(cluster[0]);
  for (std::size_t i = 0; i < 3; ++i) cluster[i].kill();

  auto kept_by = [&](TestMember& member) {
    return must(lab.run(lab.api.range(
                    member.target(), {.range = etcd::KeyRange::prefix("load/"), .count_only = true},
                    lab.within(5s))))
        .count;
  };
  TestMember& restored = cluster.add_member();
  auto options = restore_of(restored);
  options.skip_hash_check = true;
  must(restore_snapshot(restored.volume(), *cluster[0].volume().data.database_bytes(), options));
  restored.set_initial_cluster(alone(restored), "new");
  restored.start();
  restored.wait_healthy();
  EXPECT_LT(kept_by(restored), 50);

  std::int64_t best = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    cluster[i].set_flags({"--force-new-cluster"});
    cluster[i].start();
    cluster[i].wait_healthy();
    best = std::max(best, kept_by(cluster[i]));
    EXPECT_EQ(header_of(cluster[i]).cluster, before.cluster);
    EXPECT_EQ(must(lab.list(cluster[i].target())).members.size(), 1u);
    cluster[i].kill();
  }
  EXPECT_EQ(best, 50);
}

INSTANTIATE_TEST_SUITE_P(Each, SimDataFacts, ::testing::ValuesIn(versions()), [](const auto& info) {
  std::string text = "v" + info.param;
  std::ranges::replace(text, '.', '_');
  return text;
});

}  // namespace
}  // namespace quorate::etcdsim
