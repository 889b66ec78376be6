// Membership through etcd::Api, and what a learner refuses, on every version.

#include "tests/integration/etcd_harness.h"

namespace quorate::etcd {
namespace {

using ::testing::ElementsAre;

class EtcdMembership : public OnEachVersion {
 protected:
  rt::Deadline soon() { return caller.within(10s); }
};

TEST_P(EtcdMembership, AMemberIsAddedAsLearnerPromotedUpdatedAndRemoved) {
  EtcdCluster cluster(options(1));
  Api& api = caller.api();
  auto first = target_of(cluster, cluster[0]);
  must(caller.put(first, "k", "v"));

  EtcdMember& joining = cluster.add_member();
  auto added = must(caller.run(api.add_learner(first, {joining.peer_url()}, soon())));
  EXPECT_TRUE(added.member.learner);
  EXPECT_FALSE(added.member.started());
  EXPECT_THAT(added.member.peer_urls, ElementsAre(joining.peer_url()));
  EXPECT_EQ(added.list.members.size(), 2u);
  EXPECT_EQ(added.list.voters(), 1u);
  const MemberId id = added.member.id;

  // Not before it runs and is in sync.
  EXPECT_EQ(refused(caller.run(api.promote_learner(first, id, soon())), Code::kUnavailable),
            Reason::kLearnerNotReady);
  joining.start();
  auto second = target_of(cluster, joining);
  eventually(20s, "the learner knows its leader", [&] {
    auto status = caller.status(second);
    return Look(status && status->leader, status ? "no leader" : status.error().text());
  });
  auto status = must(caller.status(second));
  EXPECT_TRUE(status.learner);
  EXPECT_EQ(status.header.member, id);

  promote_eventually(caller, first, id);
  auto list = must(caller.list(first));
  EXPECT_EQ(list.voters(), 2u);
  EXPECT_EQ(refused(caller.run(api.promote_learner(first, id, soon())), Code::kConflict),
            Reason::kMemberNotLearner);
  EXPECT_EQ(must(caller.get(second, "k")), "v");

  const std::string moved = "http://127.0.0.1:1";
  auto updated = must(caller.run(api.update_member(first, id, {moved}, soon())));
  EXPECT_THAT(updated.find(id)->peer_urls, ElementsAre(moved));
  must(caller.run(api.update_member(first, id, {joining.peer_url()}, soon())));

  std::optional<MemberList> removed;
  eventually(20s, "the member is removed", [&] {
    auto result = caller.run(api.remove_member(first, id, soon()));
    if (!result && reason(result.error()) != Reason::kUnhealthyCluster) must(std::move(result));
    if (result) removed = std::move(*result);
    return Look(removed.has_value(), "unhealthy cluster");
  });
  EXPECT_EQ(removed->members.size(), 1u);
  EXPECT_FALSE(removed->find(id));
  EXPECT_EQ(refused(caller.run(api.remove_member(first, id, soon())), Code::kNotFound),
            Reason::kMemberNotFound);
  EXPECT_EQ(refused(caller.run(api.promote_learner(first, id, soon())), Code::kNotFound),
            Reason::kMemberNotFound);
}

TEST_P(EtcdMembership, WrongRequestsAreRefusedByName) {
  EtcdCluster cluster(options(1));
  auto first = target_of(cluster, cluster[0]);
  Api& api = caller.api();
  EXPECT_EQ(refused(caller.run(api.add_learner(first, {"not a url"}, soon())), Code::kInvalid),
            Reason::kBadPeerUrls);
  EXPECT_EQ(
      refused(caller.run(api.update_member(first, MemberId(1), {"http://127.0.0.1:1"}, soon())),
              Code::kNotFound),
      Reason::kMemberNotFound);
  auto self = must(caller.status(first)).header.member;
  EXPECT_EQ(refused(caller.run(api.promote_learner(first, self, soon())), Code::kConflict),
            Reason::kMemberNotLearner);
}

INSTANTIATE_TEST_SUITE_P(Each, EtcdMembership, ::testing::ValuesIn(versions()),
                         [](const auto& info) { return label(info.param); });

}  // namespace
}  // namespace quorate::etcd
