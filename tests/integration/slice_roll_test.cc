#include <gmock/gmock.h>

#include <csignal>

#include "api/names.h"
#include "tests/integration/slice_clients.h"

// Real etcd members that are restarted because something else is declared, while somebody writes.
namespace quorate::slice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kMoreMemory = R"({"spec": {"resources": {"requests": {"memory": "160Mi"}}}})";

class Roll : public SliceOnNodes {
 protected:
  std::map<std::string, std::string> pods() {
    std::map<std::string, std::string> out;
    for (const auto& [name, object] : world().run(world().look(ns_)))
      if (name.starts_with("Pod ")) out[name] = json::text_or(object, "/metadata/uid", "");
    return out;
  }
  // While clients work: ready, and this declaration is wholly in place.
  void roll(Clients& clients, const std::string& operation, const std::string& patch) {
    clients.during(operation, [&] {
      edit(patch);
      wait_until_ready("c", 240s);
    });
  }
  // How many of a cluster's Pods were stopped by us, in the order of the ledger.
  std::vector<std::string> stopped() {
    std::vector<std::string> out;
    for (const auto& write : ledger_.writes())
      if (write.what.starts_with("DELETE pods ")) out.push_back(write.what.substr(12));
    return out;
  }
};

TEST_F(Roll, GivesEveryMemberAnotherShapeAndKeepsItsDataAndIdentity) {
  declare("c");
  wait_until_ready("c");
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  clients.wait_for_writes(10);
  const auto before = pods();
  const auto list = application.members();
  roll(clients, "roll", kMoreMemory);
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  for (const auto& [name, uid] : pods()) {
    EXPECT_NE(before.at(name), uid) << name << " has another Pod";
    const auto pod = get(kube::kPods, name.substr(4));
    EXPECT_EQ(json::text_or(pod, "/spec/containers/0/resources/requests/memory", ""), "160Mi");
  }
  EXPECT_THAT(stopped(), SizeIs(3)) << "each once";
  const auto after = application.members();
  ASSERT_EQ(after.members.size(), list.members.size());
  for (std::size_t i = 0; i < list.members.size(); ++i)
    EXPECT_EQ(after.members[i].id, list.members[i].id);
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

TEST_F(Roll, GoesToAnotherPatchVersionAndBackInPlace) {
  declare("c", R"({"version": "3.6.15"})");
  wait_until_ready("c");
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  clients.wait_for_writes(10);
  const auto before = pods();
  for (const std::string version : {"3.6.16", "3.6.15"}) {
    SCOPED_TRACE(version);
    roll(clients, "roll to " + version, R"({"spec": {"version": ")" + version + R"("}})");
    EXPECT_EQ(json::text_or(get(kube::kEtcdClusters, "c"), "/status/version/current", ""), version);
    EXPECT_EQ(pods(), before) << "the Pods stay";
    for (const char* member : {"c-0", "c-1", "c-2"})
      EXPECT_EQ(json::text_or(get(kube::kEtcdMembers, member), "/spec/version", ""), version);
  }
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  EXPECT_THAT(stopped(), IsEmpty());
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

// A declaration that no member can run with costs one member, and no more; it goes on when it is
// corrected.
TEST_F(Roll, StopsAtAnImageThatDoesNotExistAndGoesOnWhenThatIsCorrected) {
  declare("c");
  wait_until_ready("c");
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  clients.wait_for_writes(10);
  edit(R"({"spec": {"image": {"repository": "localhost/nowhere"}}})");
  world().run(world().until(
      kube::kEtcdClusters, key("c"), 120s, "it says why", [](const json::Value& live) {
        return waits_for(live, "ErrImagePull", {"localhost/nowhere"}).holds
                   ? Look(true, "")
                   : waits_for(live, "ImagePullBackOff", {"localhost/nowhere"});
      }));
  clients.wait_for_writes(20);
  EXPECT_THAT(stopped(), SizeIs(1)) << "the others run on";
  roll(clients, "correct the image", R"({"spec": {"image": null}})");
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  EXPECT_THAT(stopped(), SizeIs(2)) << "the one that was stopped, and nobody else, once more";
}

// Data that goes with its Pod: members are replaced, the new one before the old one.
TEST_F(Roll, ReplacesMembersWhoseDataGoesWithTheirPods) {
  declare("c", R"({"storage": {"emptyDir": {}}})");
  wait_until_ready("c");
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  clients.wait_for_writes(10);
  roll(clients, "roll by replacement", kMoreMemory);
  wait_until_members_in(world(), key("c"), {"c-3", "c-4", "c-5"});
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  EXPECT_EQ(application.members().voters(), 3U);
}

}  // namespace
}  // namespace quorate::slice
