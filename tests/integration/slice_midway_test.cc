#include <gmock/gmock.h>

#include "api/names.h"
#include "tests/integration/slice_clients.h"

// Somebody changes his mind while real members are added or restarted: right after a certain write
// of the operator, before it is told the answer.
namespace quorate::slice {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class Midway : public SliceOnNodes {
 protected:
  void edit_after(const std::string& write, const std::string& patch) {
    ledger_.interrupt(begins_with(write), [this, patch] { return edit_now(patch); });
  }
  void delete_after(const std::string& write) {
    ledger_.interrupt(begins_with(write),
                      [this] { return world().remove(kube::kEtcdClusters, key("c")); });
  }
  // Of the cluster that is deleted midway these claims are left, and nobody runs. Another one under
  // its name has nothing of it.
  void expect_begins_anew(const std::vector<std::string>& claims, const std::string& member) {
    const auto all = claims_alone(claims);
    declare("c", R"({"replicas": 1})");
    wait_until_members_in(world(), key("c"), {member}, true);
    Application application(world(), key("c"));
    EXPECT_EQ(application.get("of the old one"), std::nullopt);
    EXPECT_EQ(application.members().members.size(), 1U);
    for (const auto& [claim, uid] : all)
      EXPECT_EQ(uid_of(kube::kPersistentVolumeClaims, claim), uid);
    EXPECT_THAT(ledger_.denied(), IsEmpty());
  }
  std::vector<std::string> stopped() {
    std::vector<std::string> out;
    for (const auto& write : ledger_.writes())
      if (write.what.starts_with("DELETE pods ")) out.push_back(write.what.substr(12));
    return out;
  }

 private:
  static std::function<bool(const Write&)> begins_with(const std::string& what) {
    return [what](const Write& write) { return write.what.starts_with(what); };
  }
  Task<Result<void>> edit_now(std::string patch) {
    CO_TRY(co_await world().patch(kube::kEtcdClusters, key("c"), patch));
    co_return Result<void>();
  }
  // Waits until nothing else is left; their UIDs.
  std::map<std::string, std::string> claims_alone(const std::vector<std::string>& claims) {
    std::map<std::string, std::string> out;
    world().run(world().until_all(ns_, 90s, "only volumes are left", [&](const Snapshot& all) {
      out.clear();
      for (const auto& [name, object] : all)
        out[name.substr(name.find(' ') + 1)] = json::text_or(object, "/metadata/uid", "");
      bool alone = out.size() == claims.size();
      for (const auto& claim : claims) alone = alone && out.contains(claim);
      return Look(alone, ::testing::PrintToString(out));
    }));
    return out;
  }
};

TEST_F(Midway, AGrowthThatIsTakenBackEndsWithTheMembersThatWereThere) {
  declare("c");
  wait_until_ready("c");
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  const auto before = application.members().members;
  edit_after("POST pods c-3", R"({"spec": {"replicas": 3}})");
  clients.during("grow to 5 and back midway", [&] {
    edit(R"({"spec": {"replicas": 5}})");
    wait_until_members_in(world(), key("c"), {"c-0", "c-1", "c-2"});
  });
  EXPECT_EQ(ledger_.count_effects("POST pods c-3"), 1);
  EXPECT_EQ(ledger_.count_effects("POST etcdmembers c-4"), 0);
  EXPECT_EQ(application.members().members, before);
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

TEST_F(Midway, ARollGoesOnWithWhatIsDeclaredMeanwhile) {
  declare("c");
  wait_until_ready("c");
  Application application(world(), key("c"));
  Clients clients(application, "w/");
  const auto before = application.members().members;
  edit_after("DELETE pods ", R"({"spec": {"resources": {"requests": {"memory": "192Mi"}}}})");
  clients.during("roll, edited midway", [&] {
    edit(R"({"spec": {"resources": {"requests": {"memory": "160Mi"}}}})");
    wait_until_ready("c", 240s);
  });
  for (const char* member : {"c-0", "c-1", "c-2"})
    EXPECT_EQ(
        json::text_or(get(kube::kPods, member), "/spec/containers/0/resources/requests/memory", ""),
        "192Mi");
  EXPECT_THAT(stopped(), SizeIs(::testing::Le(4U))) << "only the first one may be stopped again";
  EXPECT_EQ(application.members().members, before);
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

TEST_F(Midway, AGrowingClusterThatIsDeletedLeavesItsVolumesToNobody) {
  declare("c", R"({"replicas": 1})");
  wait_until_ready("c");
  Application(world(), key("c")).put("of the old one", "yes");
  delete_after("POST pods c-1");
  edit(R"({"spec": {"replicas": 3}})");
  expect_begins_anew({"data-c-0", "data-c-1"}, "c-2");
}

TEST_F(Midway, ARollingClusterThatIsDeletedLeavesItsVolumesToNobody) {
  declare("c");
  wait_until_ready("c");
  Application(world(), key("c")).put("of the old one", "yes");
  delete_after("DELETE pods ");
  edit(R"({"spec": {"resources": {"requests": {"memory": "160Mi"}}}})");
  expect_begins_anew({"data-c-0", "data-c-1", "data-c-2"}, "c-3");
  EXPECT_THAT(stopped(), SizeIs(1)) << "nothing is done any more";
}

}  // namespace
}  // namespace quorate::slice
