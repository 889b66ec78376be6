// What is known of etcd's membership, and what a client must make of it, version by version. Each
// test is named after its fact: one that fails says that a version behaves differently from what
// the operator's design assumes, and what follows from the fact has to be thought through again.

#include "etcd/codec.h"
#include "rt/group.h"
#include "tests/integration/etcd_harness.h"

namespace quorate::etcd {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;

class EtcdFacts : public OnEachVersion {
 protected:
  rt::Deadline soon() { return caller.within(10s); }
  Api& api() { return caller.api(); }
  Result<AddedMember> add(const Target& through, const std::string& url) {
    return caller.run(api().add_learner(through, {url}, soon()));
  }
  Result<MemberList> remove(const Target& through, MemberId id) {
    return caller.run(api().remove_member(through, id, soon()));
  }
  MemberId id_of(EtcdCluster& cluster, std::size_t index) {
    return must(caller.status(target_of(cluster, cluster[index]))).header.member;
  }
  // Waits for a line that the member logs after the moment at which its log was so long.
  static void wait_for_log(EtcdMember& member, const std::string& text, std::size_t from = 0) {
    eventually(20s, member.name() + " logs " + text, [&] {
      bool found = support::read_file(member.log()).find(text, from) != std::string::npos;
      return Look(found, support::log_tail(member.log(), 3));
    });
  }
  static std::size_t log_length(EtcdMember& member) {
    return support::read_file(member.log()).size();
  }
};

// Consequence: "unhealthy cluster" is a wait and no error. With three members a dead one is removed
// before another is added; with five or more the learner comes first.
TEST_P(EtcdFacts, E6AnAddNeedsAQuorumOfMembersConnectedForFiveSeconds) {
  EtcdCluster five(options(5));
  EtcdCluster three(options(3));
  auto through = target_of(three, three[0]);
  auto dead = id_of(three, 2), healthy = id_of(three, 1);

  // Right after a start.
  Result<AddedMember> early = fail(Code::kInternal, "not tried");
  std::size_t killed = 0, restarted = 0;  // how long the log was then
  eventually(60s, "an add within five seconds of a start", [&] {
    killed = log_length(three[0]);
    three[2].kill();
    wait_for_log(three[0], "became inactive", killed);
    restarted = log_length(three[0]);
    auto start = std::chrono::steady_clock::now();
    three[2].start();
    three[2].wait_healthy();
    early = add(through, "http://127.0.0.1:9");
    return Look(std::chrono::steady_clock::now() - start < 4s, "the machine is too busy");
  });
  EXPECT_EQ(refused(early, Code::kUnavailable), Reason::kUnhealthyCluster);

  // One of three is dead: nobody is added, no healthy member leaves, the dead one may.
  wait_for_log(three[0], "became active", restarted);
  killed = log_length(three[0]);
  three[2].kill();
  wait_for_log(three[0], "became inactive", killed);
  three[0].wait_healthy();  // what is proposed to a leader who has just died is lost
  EXPECT_EQ(refused(add(through, "http://127.0.0.1:9"), Code::kUnavailable),
            Reason::kUnhealthyCluster);
  EXPECT_EQ(refused(remove(through, healthy), Code::kUnavailable), Reason::kUnhealthyCluster);
  EXPECT_EQ(must(remove(through, dead)).members.size(), 2u);

  // One of five is dead: from 3.5 on a learner is taken in; 3.4 wants every member connected.
  auto through_five = target_of(five, five[0]);
  killed = log_length(five[0]);
  five[4].kill();
  wait_for_log(five[0], "became inactive", killed);
  five[0].wait_healthy();
  EtcdMember& joining = five.add_member();
  if (at_least("3.5")) {
    EXPECT_TRUE(add_learner_eventually(caller, through_five, joining).member.learner);
  } else {
    stays(6s, "the learner is refused", [&] {
      auto result = add(through_five, joining.peer_url());
      return !result && reason(result.error()) == Reason::kUnhealthyCluster;
    });
  }
}

// Consequence: where nobody writes, the operator has something proposed that changes nothing; the
// question for alarms is such a thing.
TEST_P(EtcdFacts, E25AMemberThatBeginsWithASnapshotCountsNothingAsAppliedUntilTheNextEntry) {
  constexpr int kMoreThanItsGap = 5400;  // between what is committed and what is applied
  auto chosen = options(1);
  chosen.flags.push_back("--snapshot-count=100");  // the log does not go back to its beginning
  EtcdCluster cluster(chosen);
  auto first = target_of(cluster, cluster[0]);
  std::vector<Task<Result<PutAnswer>>> puts;
  for (int i = 0; i < kMoreThanItsGap; ++i)
    puts.push_back(
        api().put(first, {"k" + std::to_string(i % 10), "v", {}, false}, caller.within(120s)));
  for (auto& put : caller.run(rt::all(caller.runtime(), std::move(puts), 32))) must(std::move(put));

  EtcdMember& joining = cluster.add_member();
  add_learner_eventually(caller, first, joining);
  joining.start();
  wait_for_log(joining, at_least("3.5") ? "applied snapshot" : "saved database snapshot");
  const auto before = must(caller.status(first));
  const auto learner = target_of(cluster, joining);
  const auto answers = [&] {
    return caller.run(api().status(learner, caller.within(1s))).has_value();
  };
  if (at_least("3.6")) {
    stays(4s, "the learner answers nobody", [&] { return !answers(); });
  } else {
    eventually(20s, "the learner answers", [&] { return Look(answers(), "it does not"); });
  }

  must(caller.run(api().alarms(first, soon())));
  eventually(20s, "the learner answers", [&] { return Look(answers(), "it does not"); });
  const auto after = must(caller.status(first));
  EXPECT_GT(after.applied_index, before.applied_index) << "it went through the log";
  EXPECT_EQ(after.header.revision, before.header.revision) << "and changed nothing";
}

// Consequence: members are added as learners alone; Api has no other way.
TEST_P(EtcdFacts, E7AVoterThatNeverStartsEndsAOneMemberCluster) {
  EtcdCluster cluster(options(1));
  auto target = target_of(cluster, cluster[0]);
  must(add(target, "http://127.0.0.1:9"));
  must(caller.put(target, "beside a learner", "v"));

  auto voter = cluster.etcdctl({"member", "add", "voter", "--peer-urls=http://127.0.0.1:8"});
  ASSERT_TRUE(voter.ok()) << voter.err;
  eventually(10s, "the leader steps down",
             [&] { return Look(!must(caller.status(target)).leader, "it still leads"); });
  EXPECT_EQ(refused(caller.put(target, "k", "v"), Code::kUnavailable), Reason::kNoLeader);
  auto removal =
      cluster.etcdctl({"--command-timeout=2s", "member", "remove", id_of(cluster, 0).text()});
  EXPECT_FALSE(removal.ok()) << removal.out;

  cluster[0].kill();
  cluster[0].start();
  stays(2s, "a restart does not help", [&] { return !cluster[0].healthy(); });
  EXPECT_FALSE(caller.run(api().put(target, {"k", "v", {}, false}, caller.within(1s))));
}

// Consequence: control calls go to voters; nothing is balanced over all members; backups are not
// taken from learners, though from 3.5 on they would be given.
TEST_P(EtcdFacts, E8ALearnerRefusesWhatNeedsAVoter) {
  EtcdCluster cluster(options(1));
  auto voter = target_of(cluster, cluster[0]);
  must(caller.put(voter, "k", "v"));
  EtcdMember& joining = cluster.add_member();
  add_learner_eventually(caller, voter, joining);
  joining.start();
  auto learner = target_of(cluster, joining);
  eventually(20s, "the learner has the data", [&] {
    auto value = caller.get(learner, "k", Consistency::kSerializable);
    return Look(value && *value == "v", value ? "not yet" : value.error().text());
  });

  const auto no = Code::kConflict;
  const auto reason_given = Reason::kRpcNotForLearner;
  EXPECT_EQ(refused(caller.list(learner), no), reason_given);
  EXPECT_EQ(refused(caller.get(learner, "k"), no), reason_given);
  EXPECT_EQ(refused(caller.put(learner, "k", "w"), no), reason_given);
  EXPECT_EQ(refused(caller.run(api().hash_kv(learner, {}, soon())), no), reason_given);
  EXPECT_EQ(refused(caller.run(api().alarms(learner, soon())), no), reason_given);
  EXPECT_EQ(refused(caller.run(api().defragment(learner, soon())), no), reason_given);
  EXPECT_EQ(
      refused(caller.run(api().watch(learner, {KeyRange::one("k"), {}, false, false}, soon())), no),
      reason_given);
  EXPECT_TRUE(must(caller.status(learner)).learner);

  auto snapshot = caller.run(api().snapshot(learner, soon()));
  if (at_least("3.5")) {
    EXPECT_TRUE(snapshot) << snapshot.error().text();
  } else {
    EXPECT_EQ(refused(snapshot, no), reason_given);
  }
}

// Consequence: a removed member's volume is not mounted again; one learner at a time.
TEST_P(EtcdFacts, E9ARemovedMemberStaysOutAndLearnersComeOneByOne) {
  EtcdCluster cluster(options(1));
  auto first = target_of(cluster, cluster[0]);
  EtcdMember& other = cluster.add_member();
  auto learner = add_learner_eventually(caller, first, other).member.id;
  EXPECT_EQ(refused(add(first, "http://127.0.0.1:9"), Code::kConflict), Reason::kTooManyLearners);
  EXPECT_EQ(refused(caller.run(api().promote_learner(first, learner, soon())), Code::kUnavailable),
            Reason::kLearnerNotReady);

  other.start();
  promote_eventually(caller, first, learner);
  other.wait_healthy();
  other.kill();
  wait_for_log(cluster[0], "became inactive");
  // Two voters, one of them gone: no quorum to remove it with. It must be back first.
  other.start();
  other.wait_healthy();
  eventually(20s, "the member is removed", [&] {
    auto result = remove(first, learner);
    if (!result && reason(result.error()) != Reason::kUnhealthyCluster) must(std::move(result));
    return Look(result.has_value(), "unhealthy cluster");
  });
  other.wait_for_exit(20s);  // it is told while it runs
  other.start();
  other.wait_for_exit(20s);
  EXPECT_THAT(support::log_tail(other.log(), 60),
              HasSubstr("data-dir used by this member must be removed"));
}

// Consequence: all of them mean "read the member list and match by peer URL"; where it is not there
// (the ID was removed within this second), add it again, later.
TEST_P(EtcdFacts, E10ARepeatedAddIsRefusedUnderSeveralNames) {
  EtcdCluster cluster(options(1));
  auto target = target_of(cluster, cluster[0]);
  // Within one second the ID, a hash of URL and second, is the same; also that of a member that has
  // been removed since, whose ID never comes back.
  Reason repeated = Reason::kNone, returned = Reason::kNone;
  for (int i = 0; repeated != Reason::kMemberExists || returned != Reason::kMemberNotFound; ++i) {
    ASSERT_LT(i, 20) << name(repeated) << ", " << name(returned);
    const auto url = fmt::format("http://127.0.0.1:{}", 100 + i);
    auto added = must(add(target, url));
    repeated = refused(add(target, url), Code::kConflict);
    EXPECT_THAT(repeated, AnyOf(Eq(Reason::kMemberExists), Eq(Reason::kPeerUrlExists)));
    must(remove(target, added.member.id));
    auto again = add(target, url);
    if (again) must(remove(target, again->member.id));
    returned = again ? Reason::kNone : refused(again, Code::kUnavailable);
  }

  // Later it is the URL that is known already.
  const std::string url = "http://127.0.0.1:9";
  auto added = must(add(target, url));
  eventually(10s, "the second is over", [&] {
    auto seen = refused(add(target, url), Code::kConflict);
    return Look(seen == Reason::kPeerUrlExists, std::string(name(seen)));
  });
  EXPECT_EQ(must(caller.list(target)).find_by_peer_urls({url})->id, added.member.id);
  must(remove(target, added.member.id));

  // Without enough started members nobody leaves, and nobody else comes.
  EXPECT_EQ(refused(remove(target, id_of(cluster, 0)), Code::kConflict), Reason::kNotEnoughStarted);
  ASSERT_TRUE(cluster.etcdctl({"member", "add", "one", "--peer-urls=http://127.0.0.1:8"}).ok());
  auto second = cluster.etcdctl({"member", "add", "two", "--peer-urls=http://127.0.0.1:7"});
  EXPECT_FALSE(second.ok());
  EXPECT_THAT(second.err, HasSubstr("re-configuration failed due to not enough started members"));
}

// Consequence: Api::member_list sets the flag, and reads through a quorum first, for 3.4.
TEST_P(EtcdFacts, E11AMemberListMayBeLocalAndOursIsNot) {
  EtcdCluster cluster(options(3));
  auto left = target_of(cluster, cluster[0]);
  EXPECT_EQ(must(caller.list(left)).members.size(), 3u);
  cluster[1].kill();
  cluster[2].kill();
  eventually(10s, "there is no leader",
             [&] { return Look(!must(caller.status(left)).leader, "it still names one"); });

  auto use = must(caller.run(caller.pool().use(left, soon())));
  auto raw_list = [&](bool linearizable) {
    return caller.run(use.channel().unary("/etcdserverpb.Cluster/MemberList",
                                          encode(wire::MemberListRequest{linearizable}), {},
                                          caller.within(1s)));
  };
  auto local = raw_list(false);
  ASSERT_TRUE(local) << local.error().text();
  EXPECT_EQ(must(decode<MemberList>(local->message)).members.size(), 3u);
  EXPECT_EQ(raw_list(true).has_value(), !at_least("3.5")) << "3.4 does not know the flag";

  EXPECT_EQ(refused(caller.list(left), Code::kUnavailable), Reason::kNoLeader);
}

// Consequence: initial-cluster is rendered from the live member list until there is a data folder.
TEST_P(EtcdFacts, E14ALearnerWithAStaleInitialClusterNeverBoots) {
  EtcdCluster cluster(options(1));
  auto target = target_of(cluster, cluster[0]);
  EtcdMember& joining = cluster.add_member();
  add_learner_eventually(caller, target, joining);
  const std::string self = joining.name() + "=" + joining.peer_url();

  joining.set_initial_cluster(self, "existing");
  joining.start();
  EXPECT_FALSE(joining.wait_for_exit(30s).ok());
  EXPECT_THAT(support::log_tail(joining.log(), 60),
              AnyOf(HasSubstr("could not retrieve cluster information"),
                    HasSubstr("cannot fetch cluster info from peer urls")));

  joining.wipe_data();
  joining.set_initial_cluster(cluster.initial_cluster() + ",gone=http://127.0.0.1:9", "existing");
  joining.start();
  EXPECT_FALSE(joining.wait_for_exit(30s).ok());
  EXPECT_THAT(support::log_tail(joining.log(), 60), HasSubstr("member count is unequal"));

  joining.wipe_data();
  joining.set_initial_cluster(cluster.initial_cluster(), "existing");
  joining.start();
  eventually(20s, "with the live list it boots", [&] {
    auto status = caller.status(target_of(cluster, joining));
    return Look(status && status->leader, status ? "no leader" : status.error().text());
  });
}

// Consequence: started means that client URLs are known.
TEST_P(EtcdFacts, E22AMemberThatNeverRanIsListedByName) {
  EtcdCluster cluster(options(3));
  for (std::size_t i = 0; i < 3; ++i) {
    cluster[i].kill();
    cluster[i].wipe_data();
  }
  cluster[0].start();
  cluster[1].start();
  cluster[0].wait_healthy();
  auto target = target_of(cluster, cluster[0]);
  eventually(20s, "the second has published itself", [&] {
    auto list = must(caller.list(target));
    return Look(list.find_by_peer_urls({cluster[1].peer_url()})->started(), "not yet");
  });
  auto list = must(caller.list(target));
  const Member* never = list.find_by_peer_urls({cluster[2].peer_url()});
  ASSERT_TRUE(never);
  EXPECT_EQ(never->name, cluster[2].name());
  EXPECT_FALSE(never->started());

  // It may still come, late and empty, as `existing`.
  cluster[2].set_initial_cluster(cluster.initial_cluster(), "existing");
  cluster[2].start();
  cluster[2].wait_healthy();
  EXPECT_EQ(id_of(cluster, 2), never->id);
}

INSTANTIATE_TEST_SUITE_P(Each, EtcdFacts, ::testing::ValuesIn(versions()),
                         [](const auto& info) { return label(info.param); });

}  // namespace
}  // namespace quorate::etcd
