#include "node/claims.h"

#include <gtest/gtest.h>

namespace quorate::node {
namespace {

template <class T>
T parse(const std::string& text) {
  json::Projector projector;
  auto out = json::project<T>(projector, text);
  EXPECT_TRUE(out) << out.error().text();
  return std::move(*out);
}

class ClaimsTest : public testing::Test {
 protected:
  ClaimsTest() {
    class_ = parse<ClassView>(json::render(make_storage_class()));
    claim_ = parse<ClaimView>(R"({"metadata":{"name":"data","namespace":"n","uid":"u",
        "annotations":{"volume.kubernetes.io/selected-node":"node-1"}},
        "spec":{"storageClassName":"local","accessModes":["ReadWriteOnce"],
                "resources":{"requests":{"storage":"1Gi"}}},"status":{"phase":"Pending"}})");
  }
  std::vector<ClaimStep> decide(const std::string& node = "node-1") {
    ClaimFacts facts;
    facts.node = node;
    facts.volumes = "/d/volumes";
    facts.claims = {&claim_};
    facts.classes = {&class_};
    if (volume_) facts.persistent_volumes = {&*volume_};
    return decide_claims(facts);
  }
  // The API takes the volume and binds it.
  void provision() {
    auto steps = decide();
    ASSERT_EQ(steps.size(), 1u);
    volume_ = parse<VolumeView>(json::render(std::get<Provision>(steps[0]).volume));
    volume_->meta.uid = Uid("v");
    volume_->phase = "Bound";
    claim_.volume_name = volume_->meta.key.name;
    claim_.phase = "Bound";
    claim_.capacity = volume_->capacity;
  }

  ClassView class_;
  ClaimView claim_;
  std::optional<VolumeView> volume_;
};

TEST_F(ClaimsTest, AClaimIsProvisionedOnTheNodeThatTheSchedulerChose) {
  auto steps = decide();
  ASSERT_EQ(steps.size(), 1u);
  const auto& step = std::get<Provision>(steps[0]);
  EXPECT_EQ(step.directory, "/d/volumes/pvc-u");
  EXPECT_EQ(json::text_or(step.volume, "/spec/local/path", ""), "/d/volumes/pvc-u");
  EXPECT_EQ(json::text_or(step.volume, "/spec/claimRef/uid", ""), "u");
  EXPECT_EQ(json::text_or(step.volume, "/spec/capacity/storage", ""), "1Gi");
  EXPECT_TRUE(decide("node-2").empty());
  claim_.selected_node.clear();
  EXPECT_TRUE(decide().empty()) << "it waits for its first consumer";
}

TEST_F(ClaimsTest, OnceIsEnough) {
  provision();
  EXPECT_EQ(volume_->node, "node-1");
  EXPECT_TRUE(decide().empty());
}

TEST_F(ClaimsTest, ClaimsOfOtherClassesAreNotOurs) {
  claim_.class_name = "other";
  EXPECT_TRUE(decide().empty());
}

TEST_F(ClaimsTest, AReleasedVolumeIsReclaimedByPolicyAndOnItsNodeAlone) {
  provision();
  volume_->phase = "Released";
  claim_ = ClaimView{};
  auto steps = decide();
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(std::get<Reclaim>(steps[0]).directory, "/d/volumes/pvc-u");
  EXPECT_TRUE(decide("node-2").empty());
  volume_->reclaim_policy = "Retain";
  EXPECT_TRUE(decide().empty());
}

TEST_F(ClaimsTest, ADirectoryThatIsNotOursIsNeverRemoved) {
  provision();
  claim_ = ClaimView{};
  volume_->phase = "Released";
  volume_->path = "/home";
  EXPECT_TRUE(decide().empty());
  volume_->path = "/d/volumes/pvc-u";
  volume_->provisioned_by = "somebody";
  EXPECT_TRUE(decide().empty());
}

TEST_F(ClaimsTest, ALargerRequestGrowsTheVolume) {
  provision();
  claim_.request = *json::Quantity::parse("2Gi");
  auto steps = decide();
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(std::get<Grow>(steps[0]).size.text(), "2Gi");
  claim_.capacity = claim_.request;
  EXPECT_TRUE(decide().empty());
}

}  // namespace
}  // namespace quorate::node
