#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

#include "api/names.h"
#include "tests/integration/slice_clients.h"

// Real etcd members that lose their data: as many as a cluster can bear, and more.
namespace quorate::slice {
namespace {

using ::testing::IsEmpty;

class Loss : public SliceOnNodes {
 protected:
  // Its volume is still there, and empty.
  void wipe(const std::string& member) {
    const auto process = find_member_process(uid_of(kube::kEtcdClusters, "c"), member);
    ASSERT_TRUE(process) << member;
    std::filesystem::remove_all(data_folder(world(), ns_, member));
    ASSERT_EQ(::kill(*process, SIGKILL), 0);
  }
  std::string member_id(const std::string& member) {
    return std::string(json::text_or(get(kube::kEtcdMembers, member), "/spec/memberID", ""));
  }
  std::vector<std::string> deletions_since(std::size_t written) {
    std::vector<std::string> out;
    for (auto i = written; i < ledger_.writes().size(); ++i)
      if (ledger_.writes()[i].what.starts_with("DELETE ")) out.push_back(ledger_.writes()[i].what);
    return out;
  }
  // What this member itself has of a key, whatever the others say.
  Task<Result<void>> until_stored(Application& application, std::string member, std::string key,
                                  std::string value) {
    CO_TRY(const auto pod, co_await world().get(kube::kPods, {ns_, member}));
    auto target = application.target();
    target.endpoint =
        fmt::format("https://{}:{}", json::text_or(pod, "/status/podIP", ""), api::kClientPort);
    const auto deadline = world().runtime().in(30s);
    const etcd::RangeRequest request{.range = etcd::KeyRange::one(key),
                                     .consistency = etcd::Consistency::kSerializable};
    for (;;) {
      CO_TRY(const auto got, co_await application.api().range(target, request, deadline));
      if (!got.kvs.empty() && got.kvs.front().value == value) co_return Result<void>();
      CO_TRY(co_await world().runtime().clock->sleep_until(world().runtime().in(50ms).at));
    }
  }
};

TEST_F(Loss, OfTwoMembersOutOfFiveIsMadeGoodWhileClientsWork) {
  declare("c", R"({"replicas": 5})");
  wait_until_ready("c");
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  clients.wait_for_writes(10);
  const auto cluster = application.members().header.cluster;
  clients.during("lose two of five", [&] {
    wipe("c-1");
    wipe("c-3");
    wait_until_members_in(world(), key("c"), {"c-0", "c-2", "c-4", "c-5", "c-6"});
  });
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  EXPECT_EQ(application.members().voters(), 5U);
  EXPECT_EQ(application.members().header.cluster, cluster);
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

TEST_F(Loss, OfAPodThatHeldItsDataIsMadeGoodAtOnceByAnotherMember) {
  declare("c", R"({"storage": {"emptyDir": {}}})");
  wait_until_ready("c");
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  clients.wait_for_writes(10);
  const auto lost = member_id("c-1");
  clients.during("lose a Pod-bound member", [&] {
    world().run(world().remove(kube::kPods, key("c-1")));
    wait_until_members_in(world(), key("c"), {"c-0", "c-2", "c-3"});
  });
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  const auto list = application.members();
  EXPECT_EQ(list.voters(), 3U);
  for (const auto& member : list.members) EXPECT_NE(member.id.text(), lost);
  EXPECT_EQ(ledger_.count_effects("POST pods c-1"), 1) << "no second one under the old name";
}

// Whether the third member's data is all there is, is for a person to say.
TEST_F(Loss, OfAMajorityIsToldAndNothingIsTouched) {
  declare("c");
  wait_until_ready("c");
  Application application(world(), key("c"));
  application.put("acknowledged", "yes");
  world().run(until_stored(application, "c-0", "acknowledged", "yes"));
  const auto survivor = find_member_process(uid_of(kube::kEtcdClusters, "c"), "c-0");
  std::map<std::string, std::string> volumes;
  for (const char* claim : {"data-c-0", "data-c-1", "data-c-2"})
    volumes[claim] = uid_of(kube::kPersistentVolumeClaims, claim);
  const auto written = ledger_.writes().size();
  wipe("c-1");
  wipe("c-2");
  world().run(
      world().until(kube::kEtcdClusters, key("c"), 90s, "is told", [](const json::Value& live) {
        const auto quorum = waits_for(live, "NoQuorum", {});
        return quorum.holds ? waits_for(live, "MemberDataLost", {"c-1", "c-2"}) : quorum;
      }));
  wait_for_looks(*process_, 5);
  EXPECT_THAT(deletions_since(written), IsEmpty());
  for (const auto& [claim, uid] : volumes)
    EXPECT_EQ(uid_of(kube::kPersistentVolumeClaims, claim), uid);
  EXPECT_FALSE(world().run(world().look(ns_)).contains("EtcdMember c-3"));
  const auto cluster = uid_of(kube::kEtcdClusters, "c");
  EXPECT_EQ(find_member_process(cluster, "c-0"), survivor) << "it is not restarted";
  for (const char* member : {"c-1", "c-2"}) EXPECT_FALSE(find_member_process(cluster, member));
  world().run(until_stored(application, "c-0", "acknowledged", "yes"));
}

}  // namespace
}  // namespace quorate::slice
