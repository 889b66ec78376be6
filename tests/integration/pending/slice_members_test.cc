#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "api/names.h"
#include "tests/integration/slice_application.h"
#include "tests/integration/slice_crash.h"

// Real etcd members on three nodes: what the operator makes of a declaration until it serves, and
// of what befalls it then.
namespace quorate::slice {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const char* const kMembers[] = {"c-0", "c-1", "c-2"};

std::string annotation(std::string_view name) {
  return "/metadata/annotations/" + json::escape_pointer(name);
}
std::string label(std::string_view name) {
  return "/metadata/labels/" + json::escape_pointer(name);
}

// ---- A formed cluster, which every test leaves ready ----

class Members : public ::testing::Test {
 protected:
  struct Formed {
    std::string ns;
    Ledger ledger;
    std::unique_ptr<OperatorProcess> process;
  };

  static void SetUpTestSuite() {
    if (!fabric_refusal().empty()) return;
    auto& world = World::with_nodes();
    formed_ = new Formed;
    formed_->ns = world.run(world.make_namespace("members"));
    world.run(world.create(kube::kEtcdClusters, formed_->ns, make_cluster("c")));
    start_operator();
  }
  static void TearDownTestSuite() {
    if (!formed_) return;
    World::with_nodes().run(formed_->process->kill());
    delete formed_;
    formed_ = nullptr;
  }
  void SetUp() override {
    if (!fabric_refusal().empty()) GTEST_SKIP() << "no fabric: " << fabric_refusal();
    ASSERT_TRUE(formed_ && formed_->process) << "the cluster was not declared";
    wait_until_ready();
  }

  static void start_operator() {
    auto& world = World::with_nodes();
    auto setup = world.setup(formed_->ns, {10s, 8s, 1s});
    setup.options.observer.ask_every = 1s;
    formed_->process =
        std::make_unique<OperatorProcess>(world.runtime(), std::move(setup), formed_->ledger);
    if (auto started = formed_->process->start(); !started)
      throw support::FixtureError(started.error().text());
  }

  World& world() { return World::with_nodes(); }
  ClusterKey key(const std::string& name) const { return ClusterKey{{formed_->ns, name}}; }
  json::Value get(kube::Resource resource, const std::string& name) {
    return world().run(world().get(resource, key(name)));
  }
  std::string text(kube::Resource resource, const std::string& name, std::string_view pointer) {
    return std::string(json::text_or(get(resource, name), pointer, ""));
  }
  std::string uid(kube::Resource resource, const std::string& name) {
    return text(resource, name, "/metadata/uid");
  }
  void wait_until_ready() {
    world().run(world().until(kube::kEtcdClusters, key("c"), 120s, "ready", is_ready));
  }
  void wait_for_looks(int times) {
    const auto before = process().counter("quorate_reconciles_total");
    world().run(world().until_seen(60s, "the operator looks again", [&] {
      return Look(process().counter("quorate_reconciles_total") >= before + times,
                  process().ended());
    }));
  }
  // Until the member runs as another process than this one.
  void wait_for_another_process(const std::string& member, std::optional<pid_t> before) {
    const auto cluster = uid(kube::kEtcdClusters, "c");
    world().run(world().until_seen(60s, member + " runs again", [&] {
      const auto now = find_member_process(cluster, member);
      return Look(now && now != before, now ? "the same" : "none");
    }));
  }
  Ledger& ledger() { return formed_->ledger; }
  OperatorProcess& process() { return *formed_->process; }

  static Formed* formed_;
};

Members::Formed* Members::formed_ = nullptr;

TEST_F(Members, FormOneClusterAndEveryWitnessKnowsIt) {
  const auto all = world().run(world().look(formed_->ns));
  const auto& cluster = all.at("EtcdCluster c");
  const std::string id(json::text_or(cluster, "/status/clusterID", ""));
  ASSERT_NE(id, "");
  EXPECT_EQ(json::text_or(cluster, "/status/ready", ""), "3/3");
  EXPECT_NE(json::text_or(cluster, "/status/leader", ""), "");
  EXPECT_EQ(json::text_or(cluster, "/status/version/current", ""), api::kDefaultEtcdVersion);
  std::map<std::string, std::string> recorded;
  for (const std::string member : kMembers) {
    SCOPED_TRACE(member);
    const auto& record = all.at("EtcdMember " + member);
    const auto& claim = all.at("PersistentVolumeClaim data-" + member);
    const auto& pod = all.at("Pod " + member);
    recorded[member] = json::text_or(record, "/spec/memberID", "");
    EXPECT_EQ(json::text_or(record, "/spec/clusterID", ""), id);
    EXPECT_EQ(json::text_or(claim, annotation(api::kAnnotationClusterId), ""), id);
    EXPECT_EQ(json::text_or(pod, annotation(api::kAnnotationClusterId), ""), id);
    EXPECT_EQ(json::text_or(claim, annotation(api::kAnnotationMemberId), ""), recorded[member]);
    EXPECT_EQ(json::text_or(pod, annotation(api::kAnnotationMemberId), ""), recorded[member]);
    EXPECT_EQ(json::text_or(pod, annotation(api::kAnnotationFormation), ""), "closed");
    EXPECT_EQ(json::text_or(pod, label(api::kLabelServing), ""), "true");
    EXPECT_EQ(json::text_or(record, "/spec/volumeUID", ""),
              json::text_or(claim, "/metadata/uid", ""));
  }
  // etcd's own word.
  Application application(world(), key("c"));
  const auto listed = application.members();
  EXPECT_EQ(listed.header.cluster.text(), id);
  std::map<std::string, std::string> actual;
  for (const auto& member : listed.members) actual[member.name] = member.id.text();
  EXPECT_EQ(actual, recorded);
}

TEST_F(Members, EverythingWasMadeOnceUnderTheOperatorsOwnRights) {
  for (const auto& write : ledger().writes())
    if (write.creates() && !write.what.starts_with("POST pods "))
      EXPECT_EQ(ledger().count_effects(write.what), 1) << write.what;
  EXPECT_THAT(ledger().denied(), IsEmpty());
  EXPECT_EQ(process().counter("quorate_broken_invariants_total"), 0);
}

TEST_F(Members, AreReachedThroughTheClientServiceByWhoeverHasACertificate) {
  Application application(world(), key("c"));
  application.put("greeting", "hello");
  EXPECT_EQ(application.get("greeting"), "hello");
  EXPECT_NE(application.read_without_certificate(), "");
}

TEST_F(Members, LookingAgainWritesNothing) {
  const auto written = ledger().writes().size();
  wait_for_looks(4);
  for (auto i = written; i < ledger().writes().size(); ++i)
    ADD_FAILURE() << ledger().writes()[i].what << json::render(ledger().writes()[i].body);
}

TEST_F(Members, AKilledOneReturnsUnderItsId) {
  Application application(world(), key("c"));
  application.put("before", "1");
  const auto id = text(kube::kEtcdMembers, "c-0", "/spec/memberID");
  const auto pod = uid(kube::kPods, "c-0");
  const auto process = find_member_process(uid(kube::kEtcdClusters, "c"), "c-0");
  ASSERT_TRUE(process);
  ASSERT_EQ(::kill(*process, SIGKILL), 0);
  application.put("meanwhile", "2");
  wait_for_another_process("c-0", process);
  wait_until_ready();
  EXPECT_EQ(application.get("before"), "1");
  EXPECT_EQ(application.get("meanwhile"), "2");
  EXPECT_EQ(text(kube::kEtcdMembers, "c-0", "/spec/memberID"), id);
  EXPECT_EQ(uid(kube::kPods, "c-0"), pod);
  EXPECT_EQ(application.members().members.size(), 3U);
}

TEST_F(Members, OneWhosePodIsDeletedReturnsOnItsVolume) {
  Application application(world(), key("c"));
  application.put("kept", "yes");
  const auto id = text(kube::kEtcdMembers, "c-1", "/spec/memberID");
  const auto pod = uid(kube::kPods, "c-1");
  const auto claim = uid(kube::kPersistentVolumeClaims, "data-c-1");
  world().run(world().remove(kube::kPods, key("c-1")));
  world().run(world().until(kube::kPods, key("c-1"), 90s, "is another", [&](const auto& live) {
    return Look(json::text_or(live, "/metadata/uid", "") != pod, "the old one");
  }));
  wait_until_ready();
  EXPECT_EQ(uid(kube::kPersistentVolumeClaims, "data-c-1"), claim);
  EXPECT_EQ(text(kube::kEtcdMembers, "c-1", "/spec/memberID"), id);
  EXPECT_EQ(application.get("kept"), "yes");
  EXPECT_EQ(application.members().members.size(), 3U);
}

TEST_F(Members, SurviveTheOperatorAndAFreshOneWritesNothing) {
  const auto before = find_member_process(uid(kube::kEtcdClusters, "c"), "c-2");
  world().run(process().stop(world().runtime().in(30s)));
  Application application(world(), key("c"));
  application.put("without operator", "works");
  const auto written = ledger().writes().size();
  start_operator();
  world().run(world().until_seen(60s, "it looks", [&] {
    return Look(process().counter("quorate_reconciles_total") >= 3, process().ended());
  }));
  for (auto i = written; i < ledger().writes().size(); ++i)
    ADD_FAILURE() << ledger().writes()[i].what << json::render(ledger().writes()[i].body);
  EXPECT_EQ(find_member_process(uid(kube::kEtcdClusters, "c"), "c-2"), before);
}

Task<Result<std::string>> try_to_edit(World& world, ClusterKey cluster, std::string patch) {
  auto edited = co_await world.patch(kube::kEtcdClusters, cluster, std::move(patch));
  if (edited) co_return "accepted";
  co_return edited.error().text();
}

TEST_F(Members, ReplicasAndVersionOfTheirClusterAreNotEdited) {
  EXPECT_THAT(world().run(try_to_edit(world(), key("c"), R"({"spec": {"replicas": 5}})")),
              HasSubstr("spec.replicas cannot be changed yet once the cluster has formed"));
  EXPECT_THAT(world().run(try_to_edit(world(), key("c"), R"({"spec": {"version": "3.5.35"}})")),
              HasSubstr("spec.version cannot be changed yet once the cluster has formed"));
  EXPECT_EQ(world().run(try_to_edit(world(), key("c"),
                                    R"({"metadata": {"annotations": {"edited": "yes"}}})")),
            "accepted");
}

// ---- Clusters that come to harm ----

class MembersInTrouble : public SliceTest {
 protected:
  void SetUp() override {
    if (!fabric_refusal().empty()) GTEST_SKIP() << "no fabric: " << fabric_refusal();
    set_up_in(World::with_nodes());
    auto setup = world().setup(ns_, kPatient);
    setup.options.observer.ask_every = 1s;
    start_operator(ledger_, std::move(setup));
  }

  Ledger ledger_;
};

// The amnesiac: its volume is still there, and empty. It must not vote again under its old name.
TEST_F(MembersInTrouble, OneWhoseDataDirectoryWasEmptiedIsNotStartedAndIsNamed) {
  declare("c");
  wait_until_ready("c");
  Application application(world(), key("c"));
  application.put("acknowledged", "yes");
  const auto claim = get(kube::kPersistentVolumeClaims, "data-c-1");
  const auto volume = world().run(world().get(
      kube::kPersistentVolumes, {"", std::string(json::text_or(claim, "/spec/volumeName", ""))}));
  const std::filesystem::path folder(json::text_or(volume, "/spec/local/path", ""));
  ASSERT_TRUE(std::filesystem::exists(folder)) << folder;

  const auto process = find_member_process(uid_of(kube::kEtcdClusters, "c"), "c-1");
  ASSERT_TRUE(process);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    std::filesystem::remove_all(entry);
  ASSERT_EQ(::kill(*process, SIGKILL), 0);

  world().run(
      world().until(kube::kEtcdClusters, key("c"), 90s, "names it", [](const auto& cluster) {
        return waits_for(cluster, "MemberDataLost", {"c-1 has lost its data"});
      }));
  const auto pod = get(kube::kPods, "c-1");
  const auto refused = [&](const char* state) {
    return json::integer_at(
               pod, fmt::format("/status/containerStatuses/0/{}/terminated/exitCode", state))
               .value_or(0) == launch::kExitLost;
  };
  EXPECT_TRUE(refused("state") || refused("lastState")) << json::render(pod);
  EXPECT_FALSE(find_member_process(uid_of(kube::kEtcdClusters, "c"), "c-1"));
  EXPECT_EQ(application.get("acknowledged"), "yes");  // the other two are a quorum
  const auto cluster = get(kube::kEtcdClusters, "c");
  EXPECT_EQ(json::text_or(cluster, "/status/ready", ""), "2/3");
}

TEST_F(MembersInTrouble, DeletionEndsThemAndKeepsTheirVolumes) {
  declare("c", R"({"replicas": 1})");
  wait_until_ready("c");
  const auto cluster = uid_of(kube::kEtcdClusters, "c");
  ASSERT_TRUE(find_member_process(cluster, "c-0"));
  world().run(world().remove(kube::kEtcdClusters, key("c")));
  world().run(world().until_all(ns_, 90s, "only the volume is left", [](const Snapshot& all) {
    return Look(all.size() == 1 && all.contains("PersistentVolumeClaim data-c-0"),
                fmt::format("{} objects", all.size()));
  }));
  EXPECT_FALSE(find_member_process(cluster, "c-0"));
}

// ---- Crashes while a cluster forms ----

class MembersCrash : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fabric_refusal().empty()) GTEST_SKIP() << "no fabric: " << fabric_refusal();
  }

  // The writes after all Pods were made: with those before, no etcd runs yet, and slice_crash_test
  // has them.
  static std::vector<Write> writes_after_pods(const std::vector<Write>& writes) {
    std::size_t last_pod = 0;
    for (std::size_t i = 0; i < writes.size(); ++i)
      if (writes[i].what.starts_with("POST pods ")) last_pod = i;
    return {writes.begin() + static_cast<std::ptrdiff_t>(last_pod) + 1, writes.end()};
  }

  // Both ways of dying at these of the reference's writes.
  static std::vector<Fault> crashes_at(const Outcome& reference,
                                       const std::function<bool(const Write&)>& wanted) {
    const auto later = writes_after_pods(reference.writes).size();
    std::vector<Fault> out;
    for (auto kind : {Fault::Kind::kCrashBefore, Fault::Kind::kCrashAfter}) {
      const auto all = faults_at(reference.writes, kind);
      for (auto i = all.size() - later; i < all.size(); ++i)
        if (wanted(reference.writes[i])) out.push_back(all[i]);
    }
    return out;
  }

  static void try_all(const CrashPlan& plan, const std::function<bool(const Write&)>& wanted) {
    auto& world = World::with_nodes();
    const auto reference = world.run(run_case(world, plan, std::nullopt));
    const auto faults = crashes_at(reference, wanted);
    ASSERT_THAT(faults, ::testing::Not(IsEmpty()));
    expect_no_trace(reference, faults, world.run(run_cases(world, plan, faults)));
  }
};

TEST_F(MembersCrash, AtAnyWriteWhileAClusterOfOneFormsLeavesNoTrace) {
  try_all({.spec = R"({"replicas": 1})", .done = is_ready, .side_by_side = 8},
          [](const Write&) { return true; });
}

// Those of the member in the middle stand for all: before and after them, others know what it does
// not.
TEST_F(MembersCrash, AtAWriteForOneOfThreeMembersLeavesNoTrace) {
  try_all({.done = is_ready, .side_by_side = 4},
          [](const Write& write) { return write.what.ends_with("c-1") && !write.is_status(); });
}

}  // namespace
}  // namespace quorate::slice
