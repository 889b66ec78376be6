// What is known of etcd's data and identity, version by version. Each test is named after its fact:
// one that fails says that a version behaves differently from what the operator's design assumes.
//
// Where a fact is a race, the test forces each side of it in turn.

#include <fstream>

#include "etcd/snapshot_check.h"
#include "rt/group.h"
#include "tests/integration/etcd_harness.h"
#include "tests/support/http_get.h"
#include "tests/support/temp_dir.h"

namespace quorate::etcd {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class EtcdDataFacts : public OnEachVersion {
 protected:
  rt::Deadline soon() { return caller.within(10s); }
  Api& api() { return caller.api(); }
  Header header_of(EtcdCluster& cluster, std::size_t index) {
    return must(caller.status(target_of(cluster, cluster[index]))).header;
  }
  std::optional<std::string> local(EtcdCluster& cluster, std::size_t index,
                                   const std::string& key) {
    return must(caller.get(target_of(cluster, cluster[index]), key, Consistency::kSerializable));
  }
  std::optional<std::string> agreed(EtcdCluster& cluster, std::size_t index,
                                    const std::string& key) {
    return must(caller.get(target_of(cluster, cluster[index]), key));
  }
  void put(EtcdCluster& cluster, std::size_t index, const std::string& key) {
    must(caller.put(target_of(cluster, cluster[index]), key, "v"));
  }
  // Whether two members hold the same data, judged at the older one's revision.
  bool same_data(EtcdCluster& cluster, std::size_t a, std::size_t b) {
    auto revision = std::min(header_of(cluster, a).revision, header_of(cluster, b).revision);
    auto hash = [&](std::size_t i) {
      return must(caller.run(api().hash_kv(target_of(cluster, cluster[i]), revision, soon()))).hash;
    };
    return hash(a) == hash(b);
  }
  bool has_log(EtcdMember& member, const std::string& text) {
    return support::read_file(member.log()).find(text) != std::string::npos;
  }

  void stop(EtcdMember& member) {
    caller.disconnect();
    member.stop();
  }

  static void wait_until_it_answers_its_peers(EtcdMember& member) {
    eventually(20s, "it answers its peers", [&] {
      auto answer = support::http_get(member.peer(), "/members");
      return Look(answer && answer->status == 200, "no answer");
    });
  }

  // Three members, of which m2 misses a write that m0 and m1 acknowledged; m0 then loses its data.
  void lose_data_of_m0_after_a_write_that_m2_missed(EtcdCluster& cluster) {
    stop(cluster[2]);
    put(cluster, 0, "acknowledged");
    stop(cluster[0]);
    stop(cluster[1]);
    cluster[0].wipe_data();
  }

  void lead_by(EtcdCluster& cluster, std::size_t index) {
    const auto id = header_of(cluster, index).member;
    if (const auto leader = leader_of(caller, cluster); leader != index)
      must(caller.run(api().move_leader(target_of(cluster, cluster[leader]), id, soon())));
    eventually(20s, "it leads", [&] { return Look(leader_of(caller, cluster) == index); });
  }

  // What of a write a member has on its disk when it ends. etcd writes three things one after
  // another: the entry, before it acknowledges; the database, every 100 ms or when somebody takes
  // a snapshot; and that the entry is committed, with the next entry or at an orderly end.
  enum class OnDisk { kEntry, kEntryAndDatabase, kEverything };

  // As above, and m0 has begun anew beside m2: a cluster without the write. m1, which had it, comes
  // back to them with what was on its disk. No two of m0, m1 and m2 elect anybody on the way, which
  // would write the rest of it.
  std::unique_ptr<EtcdCluster> return_m1_with_a_write_that_the_others_lost(OnDisk on_disk) {
    EtcdOptions calm{version(), 3, EtcdSecurity::kPlain, {}};
    if (at_least("3.5")) calm.flags.push_back("--unsafe-no-fsync");
    if (on_disk == OnDisk::kEntry) calm.flags.push_back("--backend-batch-interval=60s");
    auto cluster = std::make_unique<EtcdCluster>(calm);
    EtcdMember &m0 = (*cluster)[0], &m1 = (*cluster)[1], &m2 = (*cluster)[2];
    lead_by(*cluster, 0);
    stop(m2);
    put(*cluster, 1, "acknowledged");  // m1 has applied it, too, when it answers
    if (on_disk == OnDisk::kEntryAndDatabase) save_snapshot(*cluster, 1);
    if (on_disk == OnDisk::kEverything) {
      stop(m1);
    } else {
      m1.kill();
    }
    m0.kill();
    m0.wipe_data();
    begin_anew_beside_m2(*cluster);
    EXPECT_EQ(agreed(*cluster, 0, "acknowledged"), std::nullopt);
    EXPECT_EQ(agreed(*cluster, 2, "acknowledged"), std::nullopt);
    m1.start();
    return cluster;
  }

  // m0, whose data is lost, is up before anybody can tell it that it ran before.
  static void begin_anew_beside_m2(EtcdCluster& cluster) {
    cluster[0].start();
    eventually(20s, "m0 has begun anew",
               [&] { return Look(fs::exists(cluster[0].data() / "member")); });
    cluster[2].start();
    cluster[2].wait_healthy();
    cluster[0].wait_healthy();
  }

  bool no_alarm(EtcdCluster& cluster, std::size_t index) {
    return must(caller.run(api().alarms(target_of(cluster, cluster[index]), soon()))).empty();
  }
  // A counter of a member that need not serve clients.
  static double metric_of(const EtcdMember& member, const std::string& name) {
    auto answer = support::http_get(member.metrics(), "/metrics");
    if (!answer) return -1;
    const auto at = answer->body.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(answer->body.substr(at + name.size() + 2));
  }

  // A snapshot, saved through our client.
  fs::path save_snapshot(EtcdCluster& cluster, std::size_t index = 0) {
    auto stream = must(caller.run(api().snapshot(target_of(cluster, cluster[index]), soon())));
    auto file = cluster.folder() / "snapshot.db";
    std::ofstream out(file, std::ios::binary);
    while (auto chunk = must(caller.run(stream->read(soon()))))
      out.write(chunk->bytes.data(), static_cast<std::streamsize>(chunk->bytes.size()));
    return file;
  }
  // etcd's own tool for files: etcdctl until it moved to etcdutl.
  support::Output tool(EtcdCluster& cluster, std::vector<std::string> arguments) {
    return at_least("3.5") ? cluster.etcdutl(arguments) : cluster.etcdctl(arguments);
  }
  support::Output restore(EtcdCluster& cluster, const EtcdMember& member, const fs::path& file,
                          const fs::path& to, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"snapshot",
                                          "restore",
                                          file,
                                          "--data-dir=" + to.string(),
                                          "--name=" + member.name(),
                                          "--initial-cluster=" + alone(member),
                                          "--initial-advertise-peer-urls=" + member.peer_url()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool(cluster, arguments);
  }
  static std::string alone(const EtcdMember& member) {
    return member.name() + "=" + member.peer_url();
  }
  // Starts a member of the fixture alone, on a folder that was made by a restore.
  void start_on(EtcdMember& member, const fs::path& data) {
    member.replace_data(data);
    member.set_initial_cluster(alone(member), "new");
    member.start();
    member.wait_healthy();
  }
};

// Consequence: an emptied member never starts again under its old identity.
TEST_P(EtcdDataFacts, E1AnEmptiedMemberVotesAgainAndAnAcknowledgedWriteIsLost) {
  EtcdCluster cluster(options(3));
  auto before = header_of(cluster, 0);
  lose_data_of_m0_after_a_write_that_m2_missed(cluster);

  begin_anew_beside_m2(cluster);
  auto after = header_of(cluster, 0);
  EXPECT_EQ(after.member, before.member);
  EXPECT_EQ(after.cluster, before.cluster);
  EXPECT_EQ(agreed(cluster, 2, "acknowledged"), std::nullopt);
  EXPECT_EQ(agreed(cluster, 0, "acknowledged"), std::nullopt);
}

// E2: whether etcd protects anybody is a race. Each of its outcomes is forced by what comes first;
// they are the same in all versions.
//
// Consequence: the operator compares HashKV at one revision itself.
TEST_P(EtcdDataFacts, E2WhereAPeerAnswersFirstAnEmptiedMemberIsRefused) {
  EtcdCluster cluster(options(3));
  lose_data_of_m0_after_a_write_that_m2_missed(cluster);
  cluster[2].start();
  wait_until_it_answers_its_peers(cluster[2]);
  cluster[0].start();
  cluster[0].wait_for_exit(20s);
  EXPECT_TRUE(has_log(cluster[0], "has already been bootstrapped"));
}

TEST_P(EtcdDataFacts, E2AMemberThatHadTheWriteInItsLogAloneForgetsItToo) {
  auto cluster = return_m1_with_a_write_that_the_others_lost(OnDisk::kEntry);
  (*cluster)[1].wait_healthy();
  put(*cluster, 2, "later");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(agreed(*cluster, i, "acknowledged"), std::nullopt) << i;
    EXPECT_EQ(agreed(*cluster, i, "later"), "v") << i;
  }
  EXPECT_TRUE(same_data(*cluster, 1, 2));
  EXPECT_TRUE(no_alarm(*cluster, 1));
}

TEST_P(EtcdDataFacts, E2AMemberThatHadTheWriteInItsDatabaseDivergesInSilence) {
  auto cluster = return_m1_with_a_write_that_the_others_lost(OnDisk::kEntryAndDatabase);
  (*cluster)[1].wait_healthy();
  put(*cluster, 2, "later");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(agreed(*cluster, i, "later"), "v") << "all three work together: " << i;
    EXPECT_EQ(agreed(*cluster, i, "acknowledged").has_value(), i == 1) << "linearizable: " << i;
    EXPECT_TRUE((*cluster)[i].healthy()) << i;
    EXPECT_TRUE(no_alarm(*cluster, i)) << i;
  }
  EXPECT_TRUE(same_data(*cluster, 0, 2));
  EXPECT_FALSE(same_data(*cluster, 1, 2)) << "and only this tells";
}

// Its leader takes what m1 says it has for its own log, and never sends what is in its place.
TEST_P(EtcdDataFacts, E2AMemberThatKnowsTheWriteIsCommittedNeverServesAgain) {
  auto cluster = return_m1_with_a_write_that_the_others_lost(OnDisk::kEverything);
  EtcdMember &m1 = (*cluster)[1], &m2 = (*cluster)[2];
  eventually(20s, "m1 follows a leader",
             [&] { return Look(metric_of(m1, "etcd_server_has_leader") == 1); });
  put(*cluster, 2, "later");
  EXPECT_FALSE(m1.healthy()) << "a linearizable read of two seconds";
  const std::string applied = "etcd_server_proposals_applied_total";
  EXPECT_LT(metric_of(m1, applied), metric_of(m2, applied));
  EXPECT_TRUE(m1.running());
  EXPECT_TRUE(no_alarm(*cluster, 2));
  EXPECT_EQ(agreed(*cluster, 2, "later"), "v") << "the others go on";
}

// Consequence: `new` is rendered only until the cluster ID has been recorded once; equal cluster
// IDs and healthy members do not exclude a split.
TEST_P(EtcdDataFacts, E3ASeedOnAnEmptyFolderRejoinsOrForksUnderItsOldIdentity) {
  EtcdCluster cluster(options(1));
  auto before = header_of(cluster, 0);
  put(cluster, 0,
      "old");  // before the others: an entry of the log that the fork will take the place of
  grow(caller, cluster);
  grow(caller, cluster);
  auto restart_empty = [&] {
    cluster[0].kill();
    cluster[0].wipe_data();
    cluster[0].set_initial_cluster(alone(cluster[0]), "new");
    cluster[0].start();
    cluster[0].wait_healthy();
  };

  // Its peers do not answer in these seconds: it is a cluster of its own, and takes writes.
  cluster[1].pause();
  cluster[2].pause();
  restart_empty();
  auto forked = header_of(cluster, 0);
  EXPECT_EQ(forked.member, before.member);
  EXPECT_EQ(forked.cluster, before.cluster);
  put(cluster, 0, "fork");
  EXPECT_EQ(agreed(cluster, 0, "old"), std::nullopt);

  // They are back: one member list, one cluster ID, all healthy, and different data for good.
  cluster[1].resume();
  cluster[2].resume();
  eventually(30s, "all three agree on who they are", [&] {
    for (std::size_t i = 0; i < 3; ++i) {
      auto list = caller.list(target_of(cluster, cluster[i]));
      if (!list) return Look(false, list.error().text());
      if (list->members.size() != 3 || list->header.cluster != before.cluster)
        return Look(false, fmt::format("m{} lists {}", i, list->members.size()));
    }
    return Look(true);
  });
  put(cluster, 1, "later");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(agreed(cluster, i, "later"), "v") << i;
    EXPECT_EQ(agreed(cluster, i, "fork").has_value(), i == 0) << i;
    EXPECT_EQ(agreed(cluster, i, "old").has_value(), i != 0) << i;
  }
}

// Consequence: "not empty" never means "restored": restore aside, verify, rename.
TEST_P(EtcdDataFacts, E4AFailedRestoreLeavesAFolderThatStarts) {
  EtcdCluster cluster(options(1));
  for (int i = 0; i < 50; ++i) put(cluster, 0, fmt::format("k{}", i));
  auto bytes = support::read_file(save_snapshot(cluster));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);  // of the digest
  auto broken = cluster.folder() / "broken.db";
  support::write_file(broken, bytes);

  EtcdMember& restored = cluster.add_member();
  auto folder = cluster.folder() / "restored";
  EXPECT_FALSE(restore(cluster, restored, broken, folder).ok());
  EXPECT_TRUE(fs::exists(folder / "member" / "snap" / "db"));

  start_on(restored, folder);  // and is healthy
  auto read = caller.run(
      api().range(target_of(cluster, restored), {.range = KeyRange::one("k0")}, caller.within(2s)));
  if (!at_least("3.6")) {
    EXPECT_EQ(must(std::move(read)).kvs.size(), 1u) << "unverified data is served";
  } else {
    // Its log is younger than its database, so it never gets to publish itself, and serves nobody.
    EXPECT_FALSE(read);
    EXPECT_TRUE(restored.running() && restored.healthy());
  }
}

// Consequence: length and SHA-256 are verified by us, at save, after upload and before a restore.
TEST_P(EtcdDataFacts, E5TheToolsCheckLessThanTheySeemTo) {
  EtcdCluster cluster(options(1));
  for (int i = 0; i < 100; ++i) put(cluster, 0, fmt::format("k{}", i));
  auto whole = support::read_file(save_snapshot(cluster));
  int number = 0;
  auto file_of = [&](std::string_view bytes) {
    auto file = cluster.folder() / fmt::format("file{}.db", ++number);
    support::write_file(file, bytes);
    return file;
  };
  auto status = [&](std::string_view bytes) {
    return tool(cluster, {"snapshot", "status", file_of(bytes)});
  };
  auto try_restore = [&](std::string_view bytes, std::vector<std::string> more) {
    return restore(cluster, cluster[0], file_of(bytes),
                   cluster.folder() / fmt::format("out{}", number), std::move(more));
  };
  auto ours = [&](std::string_view bytes) {
    SnapshotCheck check;
    check.update(bytes);
    return check.finish().has_value();
  };
  const std::string_view all = whole;
  const auto stripped = all.substr(0, all.size() - 32);
  std::string flipped = whole;
  flipped[flipped.size() - 5] = static_cast<char>(flipped[flipped.size() - 5] ^ 1);

  EXPECT_TRUE(status(all).ok());
  EXPECT_TRUE(ours(all));
  EXPECT_TRUE(status(stripped).ok()) << "the digest is not looked at";
  EXPECT_FALSE(ours(stripped));
  EXPECT_FALSE(try_restore(flipped, {}).ok());
  EXPECT_TRUE(try_restore(flipped, {"--skip-hash-check"}).ok());
  EXPECT_FALSE(ours(flipped));
  for (std::size_t cut : {1u, 31u}) {
    auto output = try_restore(all.substr(0, all.size() - cut), {});
    EXPECT_FALSE(output.ok());
    EXPECT_THAT(output.err + output.out, HasSubstr("snapshot missing hash"));
    EXPECT_FALSE(ours(all.substr(0, all.size() - cut)));
  }
  EXPECT_FALSE(try_restore("", {}).ok());
  EXPECT_FALSE(ours(""));
  auto half = try_restore(all.substr(0, all.size() / 2), {"--skip-hash-check"});
  EXPECT_FALSE(half.ok());
  EXPECT_THAT(half.err + half.out, HasSubstr("panic"));
}

// Consequence: every restore uses a fresh token.
TEST_P(EtcdDataFacts, E12ARestoreKeepsTheClusterIdUnlessTheTokenIsNew) {
  EtcdCluster cluster(options(1));
  put(cluster, 0, "k");
  auto file = save_snapshot(cluster);
  auto before = header_of(cluster, 0).cluster;
  stop(cluster[0]);
  auto restored_id = [&](const std::string& name, std::vector<std::string> more) {
    auto folder = cluster.folder() / name;
    auto output = restore(cluster, cluster[0], file, folder, std::move(more));
    EXPECT_TRUE(output.ok()) << output.err;
    start_on(cluster[0], folder);
    EXPECT_EQ(agreed(cluster, 0, "k"), "v");
    auto id = header_of(cluster, 0).cluster;
    stop(cluster[0]);
    return id;
  };
  EXPECT_EQ(restored_id("same", {}), before);
  EXPECT_NE(restored_id("fresh", {"--initial-cluster-token=fresh"}), before);
}

// Consequence: a folder must also not be older than what the member was last seen to hold.
TEST_P(EtcdDataFacts, E15ExistingProtectsNothing) {
  for (bool older_copy : {false, true}) {
    EtcdCluster cluster(options(3));
    auto before = header_of(cluster, 0);
    const auto copy = cluster.folder() / "copy";
    stop(cluster[0]);
    cluster[0].save_data(copy);
    cluster[0].start();
    cluster[0].wait_healthy();
    stop(cluster[2]);
    put(cluster, 0, "acknowledged");
    cluster[0].kill();
    cluster[1].kill();
    if (older_copy) {
      cluster[0].replace_data(copy);
    } else {
      cluster[0].wipe_data();
    }
    cluster[0].set_initial_cluster(cluster.initial_cluster(), "existing");
    cluster[2].set_initial_cluster(cluster.initial_cluster(), "existing");
    cluster[2].start();
    wait_until_it_answers_its_peers(cluster[2]);
    cluster[0].start();
    cluster[0].wait_healthy();
    cluster[2].wait_healthy();
    EXPECT_EQ(header_of(cluster, 0).member, before.member);
    EXPECT_EQ(header_of(cluster, 0).cluster, before.cluster);
    EXPECT_EQ(agreed(cluster, 0, "acknowledged"), std::nullopt) << older_copy;
    EXPECT_EQ(agreed(cluster, 2, "acknowledged"), std::nullopt) << older_copy;
  }
}

Task<Result<PutAnswer>> put_one(Api& api, Target target, int number, rt::Deadline deadline) {
  co_return co_await api.put(std::move(target), {fmt::format("load/{}", number), "v", {}, false},
                             deadline);
}

// Consequence: survivors are ranked by their WAL, not by the database; a copy of the best is
// replayed, and restored under a fresh token (replaying keeps the cluster ID).
TEST_P(EtcdDataFacts, E16TheWalHoldsWhatTheDatabaseDoesNotYet) {
  // The database is written behind the WAL, by default every 100 ms; here the gap is made wide.
  auto slow = options(3);
  slow.flags.push_back("--backend-batch-interval=10s");
  EtcdCluster cluster(slow);
  auto leader = leader_of(caller, cluster);
  auto before = header_of(cluster, leader);
  std::vector<Task<Result<PutAnswer>>> load;
  for (int i = 0; i < 200; ++i)
    load.push_back(put_one(api(), target_of(cluster, cluster[leader]), i, caller.within(20s)));
  constexpr std::int64_t kAtOnce = 16;
  std::int64_t acknowledged = 0;
  for (auto& answer : caller.run(rt::all(caller.runtime(), std::move(load), kAtOnce)))
    acknowledged += answer.has_value();
  ASSERT_GT(acknowledged, 100);
  for (std::size_t i = 0; i < 3; ++i) cluster[i].kill();

  auto kept_by = [&](EtcdMember& member) {
    auto answer = must(
        caller.run(api().range(target_of(cluster, member),
                               {.range = KeyRange::prefix("load/"), .count_only = true}, soon())));
    return answer.count;
  };
  EtcdMember& restored = cluster.add_member();
  auto folder = cluster.folder() / "restored";
  auto output = restore(cluster, restored, cluster[leader].data() / "member" / "snap" / "db",
                        folder, {"--skip-hash-check"});
  ASSERT_TRUE(output.ok()) << output.err;
  start_on(restored, folder);
  EXPECT_LT(kept_by(restored), acknowledged);

  // Each survivor alone, from its WAL.
  std::int64_t best = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    cluster[i].set_flags({"--force-new-cluster"});
    cluster[i].start();
    cluster[i].wait_healthy();
    best = std::max(best, kept_by(cluster[i]));
    EXPECT_EQ(header_of(cluster, i).cluster, before.cluster);
    EXPECT_EQ(must(caller.list(target_of(cluster, cluster[i]))).members.size(), 1u);
    cluster[i].kill();
  }
  // What is not known to be committed is thrown away: the last batch, at most.
  EXPECT_GE(best, acknowledged - kAtOnce);
}

INSTANTIATE_TEST_SUITE_P(Each, EtcdDataFacts, ::testing::ValuesIn(versions()),
                         [](const auto& info) { return label(info.param); });

}  // namespace
}  // namespace quorate::etcd
