#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "api/names.h"
#include "tests/integration/slice_clients.h"
#include "tests/integration/slice_crash.h"

// Real etcd members on three nodes: what the operator makes of a declaration until it serves, and
// of what befalls it then.
namespace quorate::slice {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const char* const kMembers[] = {"c-0", "c-1", "c-2"};

std::string annotation(std::string_view name) {
  return "/metadata/annotations/" + json::escape_pointer(name);
}
std::string label(std::string_view name) {
  return "/metadata/labels/" + json::escape_pointer(name);
}

ino_t inode_of(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) support::throw_errno("stat " + path.string());
  return found.st_ino;
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
  // Which cluster it is: never another one.
  std::string formation_of(const std::string& name) {
    const auto cluster = get(kube::kEtcdClusters, name);
    return fmt::format("{} of formation {}", json::text_or(cluster, "/status/clusterID", "?"),
                       json::integer_at(cluster, "/status/formation").value_or(0));
  }
  std::map<std::string, std::optional<pid_t>> processes() {
    const auto cluster = uid(kube::kEtcdClusters, "c");
    std::map<std::string, std::optional<pid_t>> out;
    for (const std::string member : kMembers) out[member] = find_member_process(cluster, member);
    return out;
  }
  // The last that the operator wrote before it knew of a cluster.
  json::Value status_before_formation() {
    const json::Value* last = nullptr;
    for (const auto& write : ledger().writes()) {
      if (!write.is_status() || !write.what.ends_with(" c")) continue;
      if (json::text_or(write.body, "/status/clusterID", "") != "") break;
      last = json::find(write.body, "/status");
    }
    if (!last) throw support::FixtureError("no status of a forming cluster was written");
    return *last;
  }
  void expect_rebuilt(const json::Value& before, std::size_t written) {
    const auto after = get(kube::kEtcdClusters, "c");
    for (const char* field : {"/status/clusterID", "/status/formation", "/status/operator",
                              "/status/target", "/status/version", "/status/replicas"}) {
      ASSERT_NE(json::find(before, field), nullptr) << field;
      ASSERT_NE(json::find(after, field), nullptr) << field;
      EXPECT_EQ(json::render(*json::find(after, field)), json::render(*json::find(before, field)));
    }
    EXPECT_GT(ledger().writes().size(), written) << "it was not noticed";
    for (auto i = written; i < ledger().writes().size(); ++i)
      EXPECT_TRUE(ledger().writes()[i].is_status()) << ledger().writes()[i].what;
  }
  static Look is_same_member(const json::Value& before, const json::Value& live) {
    const auto same = [&](const char* field) {
      return json::text_or(before, field, "") == json::text_or(live, field, "?");
    };
    return Look(!same("/metadata/uid") && same("/spec/memberID") && same("/spec/clusterID") &&
                    same("/spec/volumeUID"),
                json::render(live));
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

// Tests of this suite delete them by hand.
bool is_made_again(const Write& write) {
  return write.what.starts_with("POST pods ") || write.what.starts_with("POST etcdmembers ");
}

TEST_F(Members, EverythingWasMadeOnceUnderTheOperatorsOwnRights) {
  for (const auto& write : ledger().writes())
    if (write.creates() && !is_made_again(write))
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

// What the clients of these tests are for.
TEST_F(Members, ClientsNoticeWritesThatAreGoneAndTimesWithoutAny) {
  Application application(world(), key("c"));
  Clients clients(application, "noticed/");
  clients.wait_for_writes(150);  // they have gone on to another key
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  application.remove_all("noticed/");
  EXPECT_THAT(clients.find_faults(), Contains(HasSubstr("noticed/0000")));
  EXPECT_NONFATAL_FAILURE(clients.during("nothing", [] {}), "nobody could write");
}

TEST_F(Members, LookingAgainWritesNothing) {
  const auto written = ledger().writes().size();
  wait_for_looks(4);
  for (auto i = written; i < ledger().writes().size(); ++i)
    ADD_FAILURE() << ledger().writes()[i].what << json::render(ledger().writes()[i].body);
}

TEST_F(Members, AKilledOneReturnsUnderItsIdOnItsOwnData) {
  Application application(world(), key("c"));
  Clients clients(application, "killed/");
  clients.wait_for_writes(20);
  const auto id = text(kube::kEtcdMembers, "c-0", "/spec/memberID");
  const auto pod = uid(kube::kPods, "c-0");
  const auto data = data_folder(world(), formed_->ns, "c-0");
  const auto directory = inode_of(data / "member");
  const auto process = find_member_process(uid(kube::kEtcdClusters, "c"), "c-0");
  ASSERT_TRUE(process);
  ASSERT_EQ(::kill(*process, SIGKILL), 0);
  clients.wait_for_writes(20);
  wait_for_another_process("c-0", process);
  wait_until_ready();
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  EXPECT_EQ(text(kube::kEtcdMembers, "c-0", "/spec/memberID"), id);
  EXPECT_EQ(uid(kube::kPods, "c-0"), pod);
  EXPECT_EQ(inode_of(data / "member"), directory);
  std::set<std::string> listed;
  for (const auto& member : application.members().members) listed.insert(member.id.text());
  EXPECT_EQ(listed.size(), 3U);
  EXPECT_TRUE(listed.contains(id));
}

TEST_F(Members, KeepEveryAcknowledgedWriteWhenAllAreKilledAtOnce) {
  Application application(world(), key("c"));
  Clients clients(application, "all killed/");
  clients.wait_for_writes(50);
  const auto formation = formation_of("c");
  std::map<std::string, std::optional<pid_t>> before;
  for (const std::string member : kMembers) {
    before[member] = find_member_process(uid(kube::kEtcdClusters, "c"), member);
    ASSERT_TRUE(before[member]) << member;
  }
  for (const auto& [member, process] : before) ASSERT_EQ(::kill(*process, SIGKILL), 0) << member;
  for (const auto& [member, process] : before) wait_for_another_process(member, process);
  wait_until_ready();
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  EXPECT_EQ(formation_of("c"), formation);
  clients.wait_for_writes(1);
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

// ---- Witnesses that are lost ----

TEST_F(Members, AWipedStatusIsRebuiltAndNothingElseIsWritten) {
  const auto before = get(kube::kEtcdClusters, "c");
  const auto running = processes();
  const auto written = ledger().writes().size();
  world().run(
      world().patch(kube::kEtcdClusters, key("c"), R"({"status": null})", kube::Part::kStatus));
  wait_until_ready();
  expect_rebuilt(before, written);
  EXPECT_EQ(processes(), running);
}

// As a restored backup of the API server's data brings one back: from when nothing had formed.
TEST_F(Members, AStatusFromBeforeTheyFormedIsNotBelieved) {
  const auto before = get(kube::kEtcdClusters, "c");
  const auto running = processes();
  auto rewound = before;
  rewound.as_object()["status"] = status_before_formation();
  const auto written = ledger().writes().size();
  world().run(world().put_status(kube::kEtcdClusters, key("c"), rewound));
  wait_until_ready();
  expect_rebuilt(before, written);
  EXPECT_EQ(processes(), running);
}

TEST_F(Members, RecordsDeletedByHandAreWrittenAgainAndNobodyIsStopped) {
  Application application(world(), key("c"));
  Clients clients(application, "records/");
  const auto running = processes();
  const auto listed = application.members().members;
  std::map<std::string, json::Value> before;
  for (const std::string member : kMembers) before[member] = get(kube::kEtcdMembers, member);
  const auto written = ledger().writes().size();
  clients.during("delete every record", [&] {
    for (const std::string member : kMembers)
      world().run(world().remove(kube::kEtcdMembers, key(member)));
    for (const std::string member : kMembers)
      world().run(world().until(
          kube::kEtcdMembers, key(member), 60s, "is written again",
          [&](const json::Value& live) { return is_same_member(before[member], live); }));
    wait_until_ready();
  });
  EXPECT_EQ(processes(), running);
  EXPECT_EQ(application.members().members, listed);
  for (auto i = written; i < ledger().writes().size(); ++i) {
    const auto& what = ledger().writes()[i].what;
    EXPECT_FALSE(what.starts_with("DELETE ") || what.starts_with("POST pods ")) << what;
  }
  EXPECT_THAT(clients.find_faults(), IsEmpty());
}

Task<Result<std::string>> try_to_edit(World& world, ClusterKey cluster, std::string patch) {
  auto edited = co_await world.patch(kube::kEtcdClusters, cluster, std::move(patch));
  if (edited) co_return "accepted";
  co_return edited.error().text();
}

TEST_F(Members, TheMinorVersionOfTheirClusterIsNotEdited) {
  EXPECT_THAT(world().run(try_to_edit(world(), key("c"), R"({"spec": {"version": "3.5.35"}})")),
              HasSubstr("to another patch version of the same minor release alone"));
  EXPECT_EQ(world().run(try_to_edit(world(), key("c"),
                                    R"({"metadata": {"annotations": {"edited": "yes"}}})")),
            "accepted");
}

// ---- Clusters that come to harm ----

class MembersInTrouble : public SliceOnNodes {
 protected:
  std::string text_of(kube::Resource resource, const std::string& name, std::string_view pointer) {
    return std::string(json::text_or(get(resource, name), pointer, ""));
  }
  // Ready, with exactly these members and nothing left of others.
  void wait_until_members(std::vector<std::string> members) {
    wait_until_members_in(world(), key("c"), std::move(members));
  }
};

// The amnesiac: its volume is still there, and empty. It must not vote again under its old name,
// and nobody may take that for a reason to begin anew: another one takes its place.
TEST_F(MembersInTrouble, OneWhoseDataDirectoryWasEmptiedNeverVotesAgainAndIsReplaced) {
  declare("c");
  wait_until_ready("c");
  Application application(world(), key("c"));
  Clients clients(application, "acknowledged/");
  clients.wait_for_writes(20);
  const auto id = text_of(kube::kEtcdClusters, "c", "/status/clusterID");
  const auto lost = text_of(kube::kEtcdMembers, "c-1", "/spec/memberID");
  const auto process = find_member_process(uid_of(kube::kEtcdClusters, "c"), "c-1");
  ASSERT_TRUE(process);

  clients.during("replace an emptied member", [&] {
    std::filesystem::remove_all(data_folder(world(), ns_, "c-1"));
    ASSERT_EQ(::kill(*process, SIGKILL), 0);
    wait_until_members({"c-0", "c-2", "c-3"});
  });

  EXPECT_FALSE(find_member_process(uid_of(kube::kEtcdClusters, "c"), "c-1"));
  EXPECT_EQ(text_of(kube::kEtcdClusters, "c", "/status/clusterID"), id);
  clients.wait_for_writes(20);
  EXPECT_THAT(clients.find_faults(), IsEmpty());
  const auto listed = application.members();
  EXPECT_EQ(listed.header.cluster.text(), id);
  EXPECT_EQ(listed.voters(), 3U);
  for (const auto& member : listed.members) EXPECT_NE(member.id.text(), lost);
  EXPECT_THAT(ledger_.denied(), IsEmpty());
}

// Without a volume that outlives it, the data of a Pod goes with it: the same, by another way.
TEST_F(MembersInTrouble, OneWhoseClaimIsDeletedIsReplacedAndNoEmptyOneIsMadeInItsPlace) {
  declare("c");
  wait_until_ready("c");
  Application application(world(), key("c"));
  application.put("acknowledged", "yes");
  world().run(world().remove(kube::kPersistentVolumeClaims, key("data-c-2")));
  world().run(world().remove(kube::kPods, key("c-2")));
  wait_until_members({"c-0", "c-1", "c-3"});
  EXPECT_EQ(ledger_.count_effects("POST persistentvolumeclaims data-c-2"), 1);
  EXPECT_EQ(application.get("acknowledged"), "yes");
  EXPECT_EQ(application.members().voters(), 3U);
}

// One is a cluster, too.
TEST_F(MembersInTrouble, AClusterOfOneFormsServesAndIsDeletedButForItsVolume) {
  declare("c", R"({"replicas": 1})");
  wait_until_ready("c");
  {
    Application application(world(), key("c"));
    Clients clients(application, "one/");
    clients.wait_for_writes(10);
    EXPECT_THAT(clients.find_faults(), IsEmpty());
    EXPECT_EQ(application.members().members.size(), 1U);
  }
  const auto cluster = uid_of(kube::kEtcdClusters, "c");
  const auto data = data_folder(world(), ns_, "c-0");
  ASSERT_TRUE(find_member_process(cluster, "c-0"));
  world().run(world().remove(kube::kEtcdClusters, key("c")));
  world().run(world().until_all(ns_, 90s, "only the volume is left", [](const Snapshot& all) {
    return Look(all.size() == 1 && all.contains("PersistentVolumeClaim data-c-0"),
                fmt::format("{} objects", all.size()));
  }));
  EXPECT_FALSE(find_member_process(cluster, "c-0"));
  EXPECT_TRUE(std::filesystem::exists(data / "member" / "wal"));
}

TEST_F(MembersInTrouble, ThreeAreDeletedButForTheirVolumes) {
  declare("c");
  wait_until_ready("c");
  const auto cluster = uid_of(kube::kEtcdClusters, "c");
  world().run(world().remove(kube::kEtcdClusters, key("c")));
  world().run(world().until_all(ns_, 90s, "only the volumes are left", [](const Snapshot& all) {
    std::vector<std::string> names;
    for (const auto& [name, object] : all) names.push_back(name);
    const std::vector<std::string> claims = {"PersistentVolumeClaim data-c-0",
                                             "PersistentVolumeClaim data-c-1",
                                             "PersistentVolumeClaim data-c-2"};
    return Look(names == claims, ::testing::PrintToString(names));
  }));
  for (const std::string member : kMembers) {
    EXPECT_FALSE(find_member_process(cluster, member)) << member;
    EXPECT_TRUE(std::filesystem::exists(data_folder(world(), ns_, member) / "member" / "wal"));
  }
}

}  // namespace
}  // namespace quorate::slice
