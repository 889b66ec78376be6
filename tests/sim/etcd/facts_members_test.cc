// What is known of etcd's membership, on simulated members: the mirror of the tests of the same
// names on real ones.

#include <gmock/gmock.h>

#include "tests/sim/etcd/lab_test.h"

namespace quorate::etcdsim {
namespace {

using etcd::Reason;
using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;

class SimFacts : public OnEachVersion {
 protected:
  Result<etcd::AddedMember> add(const etcd::Target& through, const std::string& url) {
    return lab.run(lab.api.add_learner(through, {url}, lab.within(10s)));
  }
  Result<etcd::MemberList> remove(const etcd::Target& through, MemberId id) {
    return lab.run(lab.api.remove_member(through, id, lab.within(10s)));
  }
  Result<etcd::MemberList> promote(const etcd::Target& through, MemberId id) {
    return lab.run(lab.api.promote_learner(through, id, lab.within(10s)));
  }
};

TEST_P(SimFacts, E6AnAddNeedsAQuorumOfMembersConnectedForFiveSeconds) {
  TestCluster three(lab, version(), 3);
  auto through = three[0].target();
  lab.pass(6s);
  auto dead = three.id_of(2), healthy = three.id_of(1);
  if (auto leader = three.leader(); leader == 2)
    must(lab.run(lab.api.move_leader(three[2].target(), healthy, lab.within(5s))));

  // Right after a start.
  three[2].kill();
  three[2].start();
  three[2].wait_healthy();
  EXPECT_EQ(refused(add(through, "http://x:9"), Code::kUnavailable), Reason::kUnhealthyCluster);

  // One of three is dead: nobody is added, no healthy member leaves, the dead one may.
  lab.pass(6s);
  three[2].kill();
  lab.pass(100ms);
  EXPECT_EQ(refused(add(through, "http://x:9"), Code::kUnavailable), Reason::kUnhealthyCluster);
  EXPECT_EQ(refused(remove(through, healthy), Code::kUnavailable), Reason::kUnhealthyCluster);
  EXPECT_EQ(must(remove(through, dead)).members.size(), 2u);
}

TEST_P(SimFacts, E6WithFiveMembersALearnerComesBeforeTheDeadOneGoes) {
  TestCluster five(lab, version(), 5);
  lab.pass(6s);
  five[4].kill();
  lab.pass(100ms);
  TestMember& joining = five.add_member();
  if (at_least(5)) {
    EXPECT_TRUE(five.add_learner_eventually(joining).member.learner);
  } else {
    lab.stays(6s, "the learner is refused", [&] {
      auto result = add(five[0].target(), joining.peer_url());
      return !result && etcd::reason(result.error()) == Reason::kUnhealthyCluster;
    });
  }
}

TEST_P(SimFacts, E7AVoterThatNeverStartsEndsAOneMemberCluster) {
  TestCluster cluster(lab, version(), 1);
  auto target = cluster[0].target();
  auto self = cluster.id_of(0);
  must(add(target, "http://x:9"));
  must(lab.put(target, "beside a learner", "v"));

  must(lab.run(lab.api.add_voter(target, {"http://x:8"}, lab.within(5s))));
  lab.eventually(10s, "the leader steps down", [&] { return !must(lab.status(target)).leader; });
  EXPECT_EQ(refused(lab.put(target, "k", "v"), Code::kUnavailable), Reason::kNoLeader);
  EXPECT_FALSE(remove(target, self));

  cluster[0].kill();
  cluster[0].start();
  lab.stays(5s, "a restart does not help", [&] { return !cluster[0].healthy(); });
}

TEST_P(SimFacts, E8ALearnerRefusesWhatNeedsAVoter) {
  TestCluster cluster(lab, version(), 1);
  must(lab.put(cluster[0].target(), "k", "v"));
  TestMember& joining = cluster.add_member();
  cluster.add_learner_eventually(joining);
  joining.start();
  auto learner = joining.target();
  lab.eventually(20s, "the learner has the data", [&] {
    auto value = lab.get(learner, "k", etcd::Consistency::kSerializable);
    return value && *value == "v";
  });

  const auto no = Code::kConflict;
  const auto given = Reason::kRpcNotForLearner;
  EXPECT_EQ(refused(lab.list(learner), no), given);
  EXPECT_EQ(refused(lab.get(learner, "k"), no), given);
  EXPECT_EQ(refused(lab.put(learner, "k", "w"), no), given);
  EXPECT_EQ(refused(lab.run(lab.api.hash_kv(learner, {}, lab.within(5s))), no), given);
  EXPECT_EQ(refused(lab.run(lab.api.alarms(learner, lab.within(5s))), no), given);
  EXPECT_EQ(refused(lab.run(lab.api.defragment(learner, lab.within(5s))), no), given);
  EXPECT_EQ(refused(lab.run(lab.api.watch(learner, {etcd::KeyRange::one("k"), {}, false, false},
                                          lab.within(5s))),
                    no),
            given);
  EXPECT_TRUE(must(lab.status(learner)).learner);
  auto snapshot = lab.run(lab.api.snapshot(learner, lab.within(5s)));
  if (at_least(5)) {
    EXPECT_TRUE(snapshot) << snapshot.error().text();
  } else {
    EXPECT_EQ(refused(snapshot, no), given);
  }
}

TEST_P(SimFacts, E9ARemovedMemberStaysOutAndLearnersComeOneByOne) {
  TestCluster cluster(lab, version(), 1);
  auto first = cluster[0].target();
  TestMember& other = cluster.add_member();
  auto learner = cluster.add_learner_eventually(other).member.id;
  EXPECT_EQ(refused(add(first, "http://x:9"), Code::kConflict), Reason::kTooManyLearners);
  EXPECT_EQ(refused(promote(first, learner), Code::kUnavailable), Reason::kLearnerNotReady);

  other.start();
  cluster.promote_eventually(learner);
  other.wait_healthy();
  lab.eventually(20s, "the member is removed", [&] {
    auto result = remove(first, learner);
    if (!result && etcd::reason(result.error()) != Reason::kUnhealthyCluster)
      must(std::move(result));
    return result.has_value();
  });
  other.wait_for_exit(20s);  // it is told while it runs
  other.start();
  EXPECT_THAT(other.wait_for_exit(20s).log,
              HasSubstr("data-dir used by this member must be removed"));
  must(lab.put(first, "k", "v"));
}

TEST_P(SimFacts, E10ARepeatedAddIsRefusedUnderSeveralNames) {
  TestCluster cluster(lab, version(), 1);
  auto target = cluster[0].target();
  const std::string url = "http://x:9";
  auto whole_second = [&] {
    auto since = lab.world.runtime().clock->wall().time_since_epoch() % 1s;
    lab.pass(1s - since + 1ms);
  };
  whole_second();
  auto added = must(add(target, url));
  EXPECT_EQ(refused(add(target, url), Code::kConflict), Reason::kMemberExists);
  must(remove(target, added.member.id));
  EXPECT_EQ(refused(add(target, url), Code::kUnavailable), Reason::kMemberNotFound);

  whole_second();
  added = must(add(target, url));
  whole_second();
  EXPECT_EQ(refused(add(target, url), Code::kConflict), Reason::kPeerUrlExists);
  EXPECT_EQ(must(lab.list(target)).find_by_peer_urls({url})->id, added.member.id);
  must(remove(target, added.member.id));

  EXPECT_EQ(refused(remove(target, cluster.id_of(0)), Code::kConflict), Reason::kNotEnoughStarted);
  must(lab.run(lab.api.add_voter(target, {"http://x:8"}, lab.within(5s))));
  auto second = lab.run(lab.api.add_voter(target, {"http://x:7"}, lab.within(5s)));
  EXPECT_EQ(refused(second, Code::kConflict), Reason::kNotEnoughStarted);
}

TEST_P(SimFacts, E11AMemberListMayBeLocalAndOursIsNot) {
  TestCluster cluster(lab, version(), 3);
  auto left = cluster[0].target();
  EXPECT_EQ(must(lab.list(left)).members.size(), 3u);
  cluster[1].kill();
  cluster[2].kill();
  lab.eventually(10s, "there is no leader", [&] { return !must(lab.status(left)).leader; });
  EXPECT_EQ(must(lab.run(lab.api.local_member_list(left, lab.within(1s)))).members.size(), 3u);
  EXPECT_EQ(refused(lab.list(left), Code::kUnavailable), Reason::kNoLeader);
}

TEST_P(SimFacts, E14ALearnerWithAStaleInitialClusterNeverBoots) {
  TestCluster cluster(lab, version(), 1);
  TestMember& joining = cluster.add_member();
  cluster.add_learner_eventually(joining);

  joining.set_initial_cluster(joining.name() + "=" + joining.peer_url(), "existing");
  joining.start();
  EXPECT_EQ(joining.wait_for_exit().code, 1);
  EXPECT_THAT(joining.process().exit()->log, HasSubstr("could not retrieve cluster information"));
  EXPECT_EQ(joining.volume().data.folder(), datadir::Folder::kNoLog);

  joining.wipe();
  joining.set_initial_cluster(cluster.initial_cluster() + ",gone=http://gone:2380", "existing");
  joining.start();
  EXPECT_EQ(joining.wait_for_exit().code, 1);
  EXPECT_THAT(joining.process().exit()->log, HasSubstr("member count is unequal"));

  joining.wipe();
  joining.set_initial_cluster(cluster.initial_cluster(), "existing");
  joining.start();
  lab.eventually(20s, "with the live list it boots", [&] {
    auto status = lab.status(joining.target());
    return status && status->leader;
  });
}

TEST_P(SimFacts, E22AMemberThatNeverRanIsListedByName) {
  TestCluster cluster(lab, version(), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    cluster[i].kill();
    cluster[i].wipe();
  }
  cluster[0].start();
  cluster[1].start();
  cluster[0].wait_healthy();
  auto target = cluster[0].target();
  lab.eventually(20s, "the second has published itself", [&] {
    return must(lab.list(target)).find_by_peer_urls({cluster[1].peer_url()})->started();
  });
  auto list = must(lab.list(target));
  const etcd::Member* never = list.find_by_peer_urls({cluster[2].peer_url()});
  ASSERT_TRUE(never);
  EXPECT_EQ(never->name, cluster[2].name());
  EXPECT_FALSE(never->started());

  cluster[2].set_initial_cluster(cluster.initial_cluster(), "existing");
  cluster[2].start();
  cluster[2].wait_healthy();
  EXPECT_EQ(cluster.id_of(2), never->id);
}

// The IDs of a static bootstrap are etcd's own: these were seen on a real one with the same URLs.
TEST(SimIds, OfAStaticBootstrapAreEtcds) {
  EXPECT_EQ(static_member_id({"http://localhost:2380"}, "etcd-cluster").text(), "8e9e05c52164694d");
  EXPECT_EQ(cluster_id_of({MemberId(0x8e9e05c52164694d)}).text(), "cdf818194e3a8c32");
}

INSTANTIATE_TEST_SUITE_P(Each, SimFacts, ::testing::ValuesIn(versions()), [](const auto& info) {
  std::string text = "v" + info.param;
  std::ranges::replace(text, '.', '_');
  return text;
});

}  // namespace
}  // namespace quorate::etcdsim
