#include "apiserver/controllers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "apiserver/metadata.h"
#include "apiserver/registry.h"
#include "json/timestamp.h"
#include "rt/group.h"
#include "rt/virtual_loop.h"

namespace quorate::apiserver {
namespace {

using namespace std::chrono_literals;

// An API with its controllers in virtual time; the test plays users and kubelets.
class ControllersTest : public testing::Test {
 protected:
  ControllersTest()
      : loop_(7),
        runtime_(loop_.actor("control")),
        storage_(runtime_, 10000),
        verbs_(runtime_, registry_, storage_, {"198.19.0.0/16"}),
        controllers_(runtime_, verbs_, {}),
        group_(runtime_) {
    group_.spawn("controllers", controllers_.run());
    create(ns(), "", {{"metadata", {{"name", "default"}}}});
    create(ns(), "", {{"metadata", {{"name", "kube-node-lease"}}}});
    settle();
  }
  ~ControllersTest() override { loop_.tear_down(); }

  void settle() { loop_.run_for(1s); }
  void pass(Duration time) { loop_.run_for(time); }

  const Registry::BuiltIn& kinds() const { return registry_.built_in(); }
  const Kind& ns() const { return *kinds().namespaces; }
  const Kind& pods() const { return *kinds().pods; }

  json::Value create(const Kind& kind, const std::string& in, json::Value object) {
    auto made = verbs_.create(kind, in, std::move(object));
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->object : json::Value(json::Object{});
  }
  bool there(const Kind& kind, const std::string& in, const std::string& name) {
    return storage_.find(kind, {in, name}) != nullptr;
  }
  json::Value get(const Kind& kind, const std::string& in, const std::string& name) {
    const auto record = storage_.find(kind, {in, name});
    EXPECT_TRUE(record) << kind.kind << " " << name;
    return record ? record->value() : json::Value(json::Object{});
  }
  void set_status(const Kind& kind, const std::string& in, const std::string& name,
                  json::Object status) {
    WriteOptions options;
    options.subresource = "status";
    const auto done =
        verbs_.patch(kind, {in, name}, PatchType::kMerge, {{"status", std::move(status)}}, options);
    EXPECT_TRUE(done) << done.error().message;
  }
  void merge(const Kind& kind, const std::string& in, const std::string& name, json::Value patch) {
    const auto done = verbs_.patch(kind, {in, name}, PatchType::kMerge, patch);
    EXPECT_TRUE(done) << done.error().message;
  }
  void remove(const Kind& kind, const std::string& in, const std::string& name,
              std::optional<Propagation> propagation = {}) {
    DeleteOptions options;
    options.propagation = propagation;
    EXPECT_TRUE(verbs_.remove(kind, {in, name}, options));
  }

  // A node that is ready, with room.
  void add_node(const std::string& name, const char* cpu = "4") {
    create(*kinds().nodes, "",
           {{"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}}});
    beat(name, cpu);
    create(*kinds().leases, "kube-node-lease", {{"metadata", {{"name", name}}}});
    renew(name);
  }
  void beat(const std::string& name, const char* cpu = "4") {
    const auto now = json::render_time(runtime_.clock->wall());
    set_status(*kinds().nodes, "", name,
               {{"allocatable", {{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "110"}}},
                {"conditions", json::Array{{{"type", "Ready"},
                                            {"status", "True"},
                                            {"lastHeartbeatTime", now},
                                            {"lastTransitionTime", now}}}}});
  }
  void renew(const std::string& name) {
    merge(*kinds().leases, "kube-node-lease", name,
          {{"spec", {{"renewTime", json::render_micro_time(runtime_.clock->wall())}}}});
  }

  static json::Value pod(const std::string& name, json::Object labels = {}) {
    return {{"metadata", {{"name", name}, {"labels", std::move(labels)}}},
            {"spec",
             {{"automountServiceAccountToken", false},
              {"containers",
               json::Array{{{"name", "c"},
                            {"image", "i"},
                            {"ports", json::Array{{{"name", "client"}, {"containerPort", 2379}}}},
                            {"resources", {{"requests", {{"cpu", "1"}}}}}}}}}}};
  }
  void make_ready(const std::string& name, const char* address) {
    set_status(pods(), "default", name,
               {{"phase", "Running"},
                {"podIP", address},
                {"conditions", json::Array{{{"type", "Ready"}, {"status", "True"}}}}});
  }
  void finish(const std::string& name, const char* phase) {
    set_status(pods(), "default", name, {{"phase", phase}});
  }
  std::string node_of_pod(const std::string& name) {
    return std::string(json::text_or(get(pods(), "default", name), "/spec/nodeName", ""));
  }
  std::vector<std::string> names(const Kind& kind, const std::string& in) {
    std::vector<std::string> out;
    for (const auto& [key, record] : storage_.objects(kind))
      if (key.ns == in) out.push_back(key.name);
    return out;
  }
  static json::Value owned(json::Value object, const json::Value& owner, bool blocks = false) {
    auto& metadata = object.as_object()["metadata"].as_object();
    if (!metadata.contains("ownerReferences")) metadata["ownerReferences"] = json::Array{};
    metadata["ownerReferences"].as_array().push_back(
        {{"apiVersion", json::text_or(owner, "/apiVersion", "")},
         {"kind", json::text_or(owner, "/kind", "")},
         {"name", name_of(owner)},
         {"uid", uid_of(owner)},
         {"blockOwnerDeletion", blocks}});
    return object;
  }
  json::Value map(const std::string& name) { return {{"metadata", {{"name", name}}}}; }

  rt::VirtualLoop loop_;
  rt::Runtime runtime_;
  Registry registry_;
  Storage storage_;
  Verbs verbs_;
  Controllers controllers_;
  rt::TaskGroup group_;
};

class GarbageTest : public ControllersTest {
 protected:
  const Kind& maps() const { return *kinds().config_maps; }
};

TEST_F(GarbageTest, DependentsGoWithTheirOwner) {
  const auto owner = create(maps(), "default", map("owner"));
  const auto child = create(maps(), "default", owned(map("child"), owner));
  create(maps(), "default", owned(map("grandchild"), child));
  remove(maps(), "default", "owner");
  settle();
  EXPECT_TRUE(names(maps(), "default").empty());
}

TEST_F(GarbageTest, AnotherObjectOfTheSameNameIsNotTheOwner) {
  auto stranger = create(maps(), "default", map("owner"));
  (void)json::put(stranger, "/metadata/uid", "00000000-0000-4000-8000-000000000000");
  create(maps(), "default", owned(map("child"), stranger));
  settle();
  EXPECT_EQ(names(maps(), "default"), std::vector<std::string>{"owner"});
}

TEST_F(GarbageTest, AnOwnerThatIsGoneIsStruckFromOneThatHasOthers) {
  const auto one = create(maps(), "default", map("one"));
  const auto two = create(maps(), "default", map("two"));
  create(maps(), "default", owned(owned(map("child"), one), two));
  remove(maps(), "default", "one");
  settle();
  const auto child = get(maps(), "default", "child");
  ASSERT_EQ(json::array_at(child, "/metadata/ownerReferences").value()->size(), 1U);
  EXPECT_EQ(json::text_or(child, "/metadata/ownerReferences/0/name", ""), "two");
}

TEST_F(GarbageTest, AnOwnerInTheForegroundWaitsForThoseThatBlockIt) {
  const auto owner = create(maps(), "default", map("owner"));
  auto child = owned(map("child"), owner, true);
  (void)json::put(child, "/metadata/finalizers", json::Array{"example.com/keep"});
  create(maps(), "default", child);
  remove(maps(), "default", "owner", Propagation::kForeground);
  settle();
  EXPECT_TRUE(there(maps(), "default", "owner"));
  EXPECT_TRUE(is_deleting(get(maps(), "default", "child")));
  merge(maps(), "default", "child", {{"metadata", {{"finalizers", nullptr}}}});
  settle();
  EXPECT_TRUE(names(maps(), "default").empty());
}

TEST_F(GarbageTest, AnOwnerInTheForegroundDoesNotWaitForOthers) {
  const auto owner = create(maps(), "default", map("owner"));
  auto child = owned(map("child"), owner, false);
  (void)json::put(child, "/metadata/finalizers", json::Array{"example.com/keep"});
  create(maps(), "default", child);
  remove(maps(), "default", "owner", Propagation::kForeground);
  settle();
  EXPECT_FALSE(there(maps(), "default", "owner"));
}

TEST_F(GarbageTest, OrphansStay) {
  const auto owner = create(maps(), "default", map("owner"));
  create(maps(), "default", owned(map("child"), owner));
  remove(maps(), "default", "owner", Propagation::kOrphan);
  settle();
  EXPECT_EQ(names(maps(), "default"), std::vector<std::string>{"child"});
  const auto child = get(maps(), "default", "child");
  EXPECT_FALSE(json::find(child, "/metadata/ownerReferences"));
}

TEST_F(GarbageTest, OwnersOfUnknownKindsAreLeftAlone) {
  auto child = map("child");
  (void)json::put(
      child, "/metadata/ownerReferences",
      json::Array{
          {{"apiVersion", "example.com/v1"}, {"kind", "Thing"}, {"name", "x"}, {"uid", "1"}}});
  create(maps(), "default", child);
  settle();
  EXPECT_TRUE(there(maps(), "default", "child"));
}

using NamespaceTest = ControllersTest;

TEST_F(NamespaceTest, HasAServiceAccountFromTheStart) {
  EXPECT_TRUE(there(*kinds().service_accounts, "default", "default"));
}

TEST_F(NamespaceTest, GoesOnceItIsEmpty) {
  create(ns(), "", map("team"));
  auto kept = map("kept");
  (void)json::put(kept, "/metadata/finalizers", json::Array{"example.com/keep"});
  create(*kinds().config_maps, "team", kept);
  create(*kinds().config_maps, "team", map("plain"));
  settle();
  remove(ns(), "", "team");
  settle();
  EXPECT_EQ(names(*kinds().config_maps, "team"), std::vector<std::string>{"kept"});
  ASSERT_TRUE(there(ns(), "", "team"));
  EXPECT_EQ(json::text_or(get(ns(), "", "team"), "/status/phase", ""), "Terminating");
  merge(*kinds().config_maps, "team", "kept", {{"metadata", {{"finalizers", nullptr}}}});
  settle();
  EXPECT_FALSE(there(ns(), "", "team"));
}

class SchedulerTest : public ControllersTest {
 protected:
  static json::Value member(const std::string& name) {
    auto made = pod(name, {{"app", "etcd"}});
    (void)json::put(
        made, "/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution",
        json::Array{{{"weight", 100},
                     {"podAffinityTerm",
                      {{"topologyKey", "kubernetes.io/hostname"},
                       {"labelSelector", {{"matchLabels", {{"app", "etcd"}}}}}}}}});
    return made;
  }
};

TEST_F(SchedulerTest, PutsMembersOnDifferentNodesWhileItCan) {
  for (const char* name : {"n1", "n2", "n3"}) add_node(name);
  settle();
  std::set<std::string> nodes;
  for (const char* name : {"a", "b", "c"}) {
    create(pods(), "default", member(name));
    settle();
    nodes.insert(node_of_pod(name));
  }
  EXPECT_EQ(nodes, (std::set<std::string>{"n1", "n2", "n3"}));
  create(pods(), "default", member("d"));
  settle();
  EXPECT_FALSE(node_of_pod("d").empty());
}

TEST_F(SchedulerTest, SaysWhyAPodHasNoNodeAndTriesAgain) {
  create(pods(), "default", pod("a"));
  settle();
  auto waiting = get(pods(), "default", "a");
  EXPECT_EQ(json::text_or(waiting, "/status/conditions/0/reason", ""), "Unschedulable");
  EXPECT_EQ(json::text_or(waiting, "/status/conditions/0/message", ""),
            "0/0 nodes are available: no nodes available to schedule pods.");
  EXPECT_EQ(names(*kinds().events, "default").size(), 1U);
  add_node("n1", "500m");
  settle();
  waiting = get(pods(), "default", "a");
  EXPECT_EQ(json::text_or(waiting, "/status/conditions/0/message", ""),
            "0/1 nodes are available: 1 Insufficient cpu.");
  beat("n1", "1");
  settle();
  EXPECT_EQ(node_of_pod("a"), "n1");
}

TEST_F(SchedulerTest, KeepsOutOfNodesThatAreTaintedCordonedOrFull) {
  for (const char* name : {"n1", "n2", "n3"}) add_node(name, "1");
  settle();
  merge(*kinds().nodes, "", "n1", {{"spec", {{"unschedulable", true}}}});
  merge(*kinds().nodes, "", "n2",
        {{"spec", {{"taints", json::Array{{{"key", "x"}, {"effect", "NoSchedule"}}}}}}});
  settle();
  create(pods(), "default", pod("a"));
  settle();
  EXPECT_EQ(node_of_pod("a"), "n3");
  create(pods(), "default", pod("b"));
  settle();
  EXPECT_EQ(node_of_pod("b"), "");
}

class VolumeTest : public ControllersTest {
 protected:
  void add_class(const char* name, const char* mode, bool grows = false,
                 const char* reclaim = "Delete") {
    create(*kinds().storage_classes, "",
           {{"metadata", {{"name", name}}},
            {"provisioner", "example.com/disk"},
            {"volumeBindingMode", mode},
            {"reclaimPolicy", reclaim},
            {"allowVolumeExpansion", grows}});
  }
  static json::Value claim(const std::string& name, const char* storage_class) {
    return {{"metadata", {{"name", name}}},
            {"spec",
             {{"accessModes", json::Array{"ReadWriteOnce"}},
              {"storageClassName", storage_class},
              {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}};
  }
  static json::Value user(const std::string& name, const char* claim_name) {
    auto made = pod(name);
    (void)json::put(
        made, "/spec/volumes",
        json::Array{{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", claim_name}}}}});
    return made;
  }
  std::string phase(const Kind& kind, const std::string& in, const std::string& name) {
    return std::string(json::text_or(get(kind, in, name), "/status/phase", ""));
  }
  std::string volume_of(const std::string& name) {
    return std::string(
        json::text_or(get(*kinds().claims, "default", name), "/spec/volumeName", ""));
  }
};

TEST_F(VolumeTest, AClassThatBindsAtOnceGivesAMovableVolume) {
  add_class("fast", "Immediate");
  create(*kinds().claims, "default", claim("c", "fast"));
  settle();
  EXPECT_EQ(phase(*kinds().claims, "default", "c"), "Bound");
  const auto volume = get(*kinds().volumes, "", volume_of("c"));
  EXPECT_EQ(json::text_or(volume, "/status/phase", ""), "Bound");
  EXPECT_FALSE(json::find(volume, "/spec/nodeAffinity"));
}

TEST_F(VolumeTest, AClassThatWaitsFollowsTheFirstPodAndHoldsItsSuccessors) {
  add_class("local", "WaitForFirstConsumer");
  create(*kinds().claims, "default", claim("c", "local"));
  add_node("n1");
  add_node("n2");
  settle();
  EXPECT_EQ(phase(*kinds().claims, "default", "c"), "Pending");
  create(pods(), "default", user("first", "c"));
  settle();
  const auto node = node_of_pod("first");
  ASSERT_FALSE(node.empty());
  EXPECT_EQ(phase(*kinds().claims, "default", "c"), "Bound");
  finish("first", "Succeeded");
  merge(*kinds().nodes, "", node, {{"spec", {{"unschedulable", true}}}});
  settle();
  create(pods(), "default", user("second", "c"));
  settle();
  EXPECT_EQ(node_of_pod("second"), "");
  merge(*kinds().nodes, "", node, {{"spec", {{"unschedulable", nullptr}}}});
  settle();
  EXPECT_EQ(node_of_pod("second"), node);
}

TEST_F(VolumeTest, AClaimInUseStaysUntilItsPodHasEnded) {
  add_class("fast", "Immediate");
  create(*kinds().claims, "default", claim("c", "fast"));
  add_node("n1");
  create(pods(), "default", user("p", "c"));
  settle();
  remove(*kinds().claims, "default", "c");
  settle();
  EXPECT_TRUE(there(*kinds().claims, "default", "c"));
  finish("p", "Succeeded");
  settle();
  EXPECT_FALSE(there(*kinds().claims, "default", "c"));
  EXPECT_TRUE(names(*kinds().volumes, "").empty());
}

TEST_F(VolumeTest, ARetainedVolumeOutlivesItsClaim) {
  add_class("kept", "Immediate", false, "Retain");
  create(*kinds().claims, "default", claim("c", "kept"));
  settle();
  const auto volume = volume_of("c");
  remove(*kinds().claims, "default", "c");
  settle();
  EXPECT_EQ(phase(*kinds().volumes, "", volume), "Released");
  create(*kinds().claims, "default", claim("c", "kept"));
  settle();
  EXPECT_NE(volume_of("c"), volume);
}

TEST_F(VolumeTest, AClaimGrowsWhereItsClassAllowsIt) {
  add_class("grows", "Immediate", true);
  add_class("fixed", "Immediate", false);
  for (const char* name : {"grows", "fixed"}) {
    create(*kinds().claims, "default", claim(name, name));
    settle();
    const auto asked =
        verbs_.patch(*kinds().claims, {"default", name}, PatchType::kMerge,
                     {{"spec", {{"resources", {{"requests", {{"storage", "2Gi"}}}}}}}});
    EXPECT_EQ(asked.has_value(), std::string_view(name) == "grows");
    settle();
  }
  const auto size = [&](const char* name) {
    return std::string(
        json::text_or(get(*kinds().claims, "default", name), "/status/capacity/storage", ""));
  };
  EXPECT_EQ(size("grows"), "2Gi");
  EXPECT_EQ(size("fixed"), "1Gi");
}

TEST_F(VolumeTest, AClaimWhoseVolumeIsGoneIsLost) {
  add_class("fast", "Immediate");
  create(*kinds().claims, "default", claim("c", "fast"));
  settle();
  const auto volume = volume_of("c");
  remove(*kinds().volumes, "", volume);
  merge(*kinds().volumes, "", volume, {{"metadata", {{"finalizers", nullptr}}}});
  settle();
  EXPECT_EQ(phase(*kinds().claims, "default", "c"), "Lost");
}

class EndpointTest : public ControllersTest {
 protected:
  void add_service(bool publishes) {
    create(*kinds().services, "default",
           {{"metadata", {{"name", "s"}}},
            {"spec",
             {{"clusterIP", "None"},
              {"publishNotReadyAddresses", publishes},
              {"selector", {{"app", "etcd"}}},
              {"ports",
               json::Array{{{"name", "client"}, {"port", 2379}, {"targetPort", "client"}}}}}}});
  }
  json::Value slice() {
    const auto all = names(*kinds().endpoint_slices, "default");
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? json::Value(json::Object{})
                       : get(*kinds().endpoint_slices, "default", all.front());
  }
  bool flag(const char* name) {
    return json::flag_at(slice(), std::string("/endpoints/0/conditions/") + name).value_or(false);
  }
};

TEST_F(EndpointTest, FollowsThePodsOfAService) {
  add_service(false);
  settle();
  const auto empty = slice();
  EXPECT_TRUE(json::find(empty, "/endpoints")->is_null());
  EXPECT_TRUE(name_of(empty).starts_with("s-"));
  add_node("n1");
  create(pods(), "default", pod("p", {{"app", "etcd"}}));
  create(pods(), "default", pod("other", {{"app", "web"}}));
  settle();
  make_ready("p", "10.0.0.1");
  make_ready("other", "10.0.0.2");
  settle();
  EXPECT_EQ(json::text_or(slice(), "/endpoints/0/addresses/0", ""), "10.0.0.1");
  EXPECT_EQ(json::integer_at(slice(), "/ports/0/port").value_or(0), 2379);
  EXPECT_TRUE(flag("ready"));
  EXPECT_EQ(json::array_at(slice(), "/endpoints").value()->size(), 1U);

  remove(pods(), "default", "p");
  settle();
  EXPECT_FALSE(flag("ready"));
  EXPECT_TRUE(flag("serving"));
  EXPECT_TRUE(flag("terminating"));
}

TEST_F(EndpointTest, PublishesThoseThatAreNotReadyWhenAsked) {
  add_service(true);
  add_node("n1");
  create(pods(), "default", pod("p", {{"app", "etcd"}}));
  settle();
  set_status(pods(), "default", "p", {{"phase", "Running"}, {"podIP", "10.0.0.1"}});
  settle();
  EXPECT_TRUE(flag("ready"));
  EXPECT_FALSE(flag("serving"));
}

using BudgetTest = ControllersTest;

TEST_F(BudgetTest, CountsWhoMayGo) {
  create(*kinds().disruption_budgets, "default",
         {{"metadata", {{"name", "b"}}},
          {"spec", {{"minAvailable", 2}, {"selector", {{"matchLabels", {{"app", "etcd"}}}}}}}});
  add_node("n1");
  for (const char* name : {"a", "b", "c"}) create(pods(), "default", pod(name, {{"app", "etcd"}}));
  settle();
  const auto number = [&](const char* name) {
    return json::integer_at(get(*kinds().disruption_budgets, "default", "b"),
                            std::string("/status/") + name)
        .value_or(-1);
  };
  EXPECT_EQ(number("expectedPods"), 3);
  EXPECT_EQ(number("disruptionsAllowed"), 0);
  for (const char* name : {"a", "b", "c"}) make_ready(name, "10.0.0.1");
  settle();
  EXPECT_EQ(number("currentHealthy"), 3);
  EXPECT_EQ(number("desiredHealthy"), 2);
  EXPECT_EQ(number("disruptionsAllowed"), 1);
  EXPECT_EQ(number("observedGeneration"), 1);
  ASSERT_TRUE(verbs_.evict({"default", "a"}, {}));
  const auto second = verbs_.evict({"default", "b"}, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, 429);
  settle();
  EXPECT_EQ(number("currentHealthy"), 2);
  EXPECT_EQ(number("disruptionsAllowed"), 0);
}

class JobTest : public ControllersTest {
 protected:
  void add_job(json::Object more) {
    json::Object spec{{"template",
                       {{"spec",
                         {{"restartPolicy", "Never"},
                          {"containers", json::Array{{{"name", "c"}, {"image", "i"}}}}}}}}};
    for (auto& [key, value] : more) spec[key] = value;
    create(*kinds().jobs, "default", {{"metadata", {{"name", "j"}}}, {"spec", std::move(spec)}});
    settle();
  }
  std::vector<std::string> running() {
    std::vector<std::string> out;
    for (const auto& name : names(pods(), "default")) {
      const auto found = get(pods(), "default", name);
      const auto phase = json::text_or(found, "/status/phase", "");
      if (phase == "Pending" || phase == "Running") out.push_back(name);
    }
    return out;
  }
  std::string condition(std::string_view type) {
    const auto job = get(*kinds().jobs, "default", "j");
    const auto list = json::array_at(job, "/status/conditions");
    for (const auto& one : list ? **list : json::Array{})
      if (json::text_or(one, "/type", "") == type)
        return std::string(json::text_or(one, "/reason", ""));
    return "";
  }
};

TEST_F(JobTest, RunsUntilEnoughHaveSucceeded) {
  add_job({{"completions", 2}, {"parallelism", 1}});
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(running().size(), 1U);
    finish(running().front(), "Succeeded");
    settle();
  }
  EXPECT_TRUE(running().empty());
  EXPECT_EQ(condition("Complete"), "CompletionsReached");
  EXPECT_EQ(json::integer_at(get(*kinds().jobs, "default", "j"), "/status/succeeded").value_or(0),
            2);
}

TEST_F(JobTest, TriesAgainWithPausesAndGivesUp) {
  add_job({{"backoffLimit", 1}});
  ASSERT_EQ(running().size(), 1U);
  finish(running().front(), "Failed");
  settle();
  EXPECT_TRUE(running().empty());
  pass(15s);
  ASSERT_EQ(running().size(), 1U);
  finish(running().front(), "Failed");
  settle();
  EXPECT_EQ(condition("Failed"), "BackoffLimitExceeded");
}

TEST_F(JobTest, EndsAtItsDeadlineAndGoesAfterItsTimeToLive) {
  add_job({{"activeDeadlineSeconds", 30}, {"ttlSecondsAfterFinished", 60}});
  pass(40s);
  EXPECT_EQ(condition("Failed"), "DeadlineExceeded");
  EXPECT_TRUE(running().empty());
  pass(70s);
  EXPECT_FALSE(there(*kinds().jobs, "default", "j"));
}

TEST_F(JobTest, ItsPodsGoWithItThoughNobodyCountedThem) {
  add_job({});
  ASSERT_EQ(running().size(), 1U);
  remove(*kinds().jobs, "default", "j", Propagation::kForeground);
  settle();
  EXPECT_TRUE(names(pods(), "default").empty());
  EXPECT_FALSE(there(*kinds().jobs, "default", "j"));
}

class NodeTest : public ControllersTest {
 protected:
  std::string ready(const std::string& name) {
    const auto node = get(*kinds().nodes, "", name);
    const auto list = json::array_at(node, "/status/conditions");
    for (const auto& one : list ? **list : json::Array{})
      if (json::text_or(one, "/type", "") == "Ready")
        return std::string(json::text_or(one, "/status", ""));
    return "";
  }
  bool tainted(const std::string& name, std::string_view key) {
    const auto node = get(*kinds().nodes, "", name);
    const auto list = json::array_at(node, "/spec/taints");
    const auto& taints = list ? **list : json::Array{};
    return std::any_of(taints.begin(), taints.end(), [&](const json::Value& taint) {
      return json::text_or(taint, "/key", "") == key;
    });
  }
};

TEST_F(NodeTest, LosesItsFirstTaintOnceItIsReady) {
  create(*kinds().nodes, "", map("n1"));
  settle();
  EXPECT_TRUE(tainted("n1", "node.kubernetes.io/not-ready"));
  beat("n1");
  settle();
  EXPECT_FALSE(tainted("n1", "node.kubernetes.io/not-ready"));
}

TEST_F(NodeTest, IsUnknownWithoutALeaseAndItsPodsAreEvictedInTime) {
  add_node("n1");
  create(pods(), "default", pod("p"));
  settle();
  make_ready("p", "10.0.0.1");
  for (int i = 0; i < 6; ++i) {
    pass(20s);
    renew("n1");
  }
  EXPECT_EQ(ready("n1"), "True");
  pass(60s);
  EXPECT_EQ(ready("n1"), "Unknown");
  EXPECT_TRUE(tainted("n1", "node.kubernetes.io/unreachable"));
  EXPECT_FALSE(is_deleting(get(pods(), "default", "p")));
  pass(300s);
  // Nobody is there to end it.
  ASSERT_TRUE(there(pods(), "default", "p"));
  EXPECT_TRUE(is_deleting(get(pods(), "default", "p")));
  pass(3600s);
  EXPECT_TRUE(there(pods(), "default", "p"));
  merge(*kinds().nodes, "", "n1",
        {{"spec",
          {{"taints",
            json::Array{{{"key", "node.kubernetes.io/out-of-service"}, {"effect", "NoExecute"}},
                        {{"key", "node.kubernetes.io/unreachable"}, {"effect", "NoExecute"}}}}}}});
  settle();
  EXPECT_FALSE(there(pods(), "default", "p"));
}

TEST_F(NodeTest, ThatIsDeletedTakesItsPodsWithIt) {
  add_node("n1");
  create(pods(), "default", pod("p"));
  settle();
  ASSERT_EQ(node_of_pod("p"), "n1");
  remove(*kinds().nodes, "", "n1");
  settle();
  EXPECT_TRUE(there(pods(), "default", "p"));
  pass(60s);
  EXPECT_FALSE(there(pods(), "default", "p"));
}

TEST_F(NodeTest, ComesBackWithItsPods) {
  add_node("n1");
  create(pods(), "default", pod("p"));
  pass(100s);
  EXPECT_EQ(ready("n1"), "Unknown");
  renew("n1");
  beat("n1");
  pass(30s);
  EXPECT_EQ(ready("n1"), "True");
  EXPECT_FALSE(tainted("n1", "node.kubernetes.io/unreachable"));
  EXPECT_FALSE(is_deleting(get(pods(), "default", "p")));
}

// --- events

TEST_F(ControllersTest, EventsGoAnHourAfterTheyWereLastWritten) {
  const auto& events = *kinds().events;
  create(events, "default",
         {{"metadata", {{"name", "e"}}},
          {"involvedObject", {{"kind", "Pod"}, {"name", "p"}, {"namespace", "default"}}}});
  pass(40min);
  merge(events, "default", "e", {{"count", 2}});
  pass(40min);
  EXPECT_TRUE(there(events, "default", "e"));
  pass(21min);
  EXPECT_FALSE(there(events, "default", "e"));
}

}  // namespace
}  // namespace quorate::apiserver
