#include "apiserver/controllers_test.h"

namespace quorate::apiserver {
namespace {

class VolumeTest : public ControllersTest {
 protected:
  explicit VolumeTest(Controllers::Options options = {}) : ControllersTest(options) {}
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

// Pods that wait for their volumes count where they will be: a provisioner takes its time.
class OutsideProvisionerTest : public VolumeTest {
 protected:
  OutsideProvisionerTest() : VolumeTest({.provisions = false}) {}
};

TEST_F(OutsideProvisionerTest, PodsAreSpreadBeforeTheirVolumesAreThere) {
  add_class("local", "WaitForFirstConsumer");
  for (const char* node : {"n1", "n2", "n3"}) add_node(node);
  for (const char* name : {"a", "b", "c"}) {
    create(*kinds().claims, "default", claim(name, "local"));
    create(pods(), "default", user(name, name));
  }
  settle();
  std::set<std::string> chosen;
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(phase(*kinds().claims, "default", name), "Pending") << "nobody made a volume";
    EXPECT_EQ(node_of_pod(name), "");
    chosen.emplace(json::text_or(get(*kinds().claims, "default", name),
                                 "/metadata/annotations/volume.kubernetes.io~1selected-node", ""));
  }
  EXPECT_EQ(chosen, (std::set<std::string>{"n1", "n2", "n3"}));
}

}  // namespace
}  // namespace quorate::apiserver
