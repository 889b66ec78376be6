#include "api/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "api/generators_test.h"

namespace quorate::api {
namespace {

using ::testing::HasSubstr;

json::Value parse(const char* text) { return *json::parse(text); }

std::string complaint(const char* text) {
  auto spec = decode_cluster_spec(parse(text));
  return spec ? "none" : spec.error().message();
}

TEST(ClusterCodec, TakesDefaultsForWhatIsNotSaid) {
  auto spec = decode_cluster_spec(parse("{}"));
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(*spec, ClusterSpec{});
  EXPECT_EQ(spec->replicas, 3);
  EXPECT_FALSE(spec->version);
  EXPECT_EQ(spec->storage.claim->size.text(), "1Gi");
  EXPECT_EQ(spec->resources.requests.memory.text(), "128Mi");
  EXPECT_EQ(spec->tls.peer.mode, TlsMode::kManaged);
  EXPECT_EQ(spec->tls.client.mode, TlsMode::kManaged);
  EXPECT_EQ(*decode_cluster_spec(parse(R"({"replicas":null})")), ClusterSpec{});
}

TEST(ClusterCodec, ReadsEveryField) {
  auto spec = decode_cluster_spec(parse(R"({
    "replicas": 5, "version": "3.5.35", "paused": true,
    "image": {"repository": "r/etcd", "tag": "t", "pullPolicy": "Never", "pullSecrets": ["a"]},
    "storage": {"emptyDir": {"medium": "Memory", "sizeLimit": 1073741824},
                "retention": {"whenDeleted": "Delete"}},
    "resources": {"requests": {"cpu": 1}, "limits": {"memory": "1Gi"}},
    "tls": {"peer": {"mode": "Disabled"}}})"));
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->replicas, 5);
  EXPECT_EQ(spec->version->text(), "3.5.35");
  EXPECT_TRUE(spec->paused);
  EXPECT_EQ(spec->image.pull_policy, PullPolicy::kNever);
  EXPECT_EQ(spec->image.pull_secrets, std::vector<std::string>{"a"});
  EXPECT_FALSE(spec->storage.claim);
  EXPECT_EQ(spec->storage.empty_dir->medium, Medium::kMemory);
  EXPECT_EQ(spec->storage.empty_dir->size_limit, Quantity::of(Bytes(1 << 30)));
  EXPECT_EQ(spec->storage.retention.when_deleted, Retention::kDelete);
  EXPECT_EQ(spec->resources.requests.cpu.text(), "1");
  EXPECT_EQ(spec->resources.requests.memory.text(), "128Mi") << "each has its own default";
  EXPECT_EQ(spec->tls.peer.mode, TlsMode::kDisabled);
  EXPECT_EQ(spec->tls.client.mode, TlsMode::kManaged);
}

TEST(ClusterCodec, NamesFieldAndRule) {
  EXPECT_EQ(complaint(R"({"replica":3})"),
            "spec.replica: there is no such field; did you mean replicas?");
  EXPECT_EQ(complaint(R"({"zzz":3})"), "spec.zzz: there is no such field");
  EXPECT_EQ(complaint(R"({"replicas":"3"})"),
            "spec.replicas: must be a whole number, not a string");
  EXPECT_EQ(complaint(R"({"replicas":1.5})"), "spec.replicas: 1.5 must be a whole number");
  EXPECT_EQ(complaint(R"({"replicas":2147483648})"),
            "spec.replicas: 2147483648 does not fit into 32 bits");
  EXPECT_EQ(complaint(R"({"storage":{"claim":{"size":"NaN"}}})").substr(0, 24),
            "spec.storage.claim.size:");
  EXPECT_EQ(complaint(R"({"resources":{"requests":{"cpu":0.1}}})"),
            "spec.resources.requests.cpu: must be a string or a whole number, not a number");
  EXPECT_EQ(complaint(R"({"tls":{"peer":{"mode":"Off"}}})"),
            "spec.tls.peer.mode: \"Off\" must be one of Managed, Disabled");
  EXPECT_EQ(complaint(R"({"image":{"pullSecrets":["a",1]}})"),
            "spec.image.pullSecrets[1]: must be a string, not an integer");
  EXPECT_EQ(complaint(R"({"version":"v3.5.16"})"),
            "spec.version: \"v3.5.16\" is not a version: write 3.5.16");
  EXPECT_EQ(complaint(R"([])"), "spec: must be an object, not an array");
}

TEST(ClusterCodec, SaysAllThatIsWrong) {
  auto text = complaint(R"({"replicas":"x","paused":1,"nonsense":{}})");
  EXPECT_THAT(text, HasSubstr("spec.replicas:"));
  EXPECT_THAT(text, HasSubstr("spec.paused:"));
  EXPECT_THAT(text, HasSubstr("spec.nonsense:"));
}

// Fields that come later are refused, not ignored.
TEST(ClusterCodec, RefusesWhatItWouldNotHonour) {
  for (const char* later : {R"({"bootstrap":{}})", R"({"auth":{}})", R"({"maintenance":{}})",
                            R"({"storage":{"claim":{},"retention":{"whenEmpty":"Delete"}}})",
                            R"({"recovery":{"quorumLoss":"Manual"}})",
                            R"({"tls":{"peer":{"authentication":"ServerOnly"}}})"})
    EXPECT_THAT(complaint(later), HasSubstr("there is no such field")) << later;
}

TEST(ClusterCodec, ReadsBackWhatItWrote) {
  EXPECT_TRUE(rc::check("spec", [] {
    auto spec = any_cluster_spec();
    auto again = decode_cluster_spec(encode(spec));
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == spec);
  }));
  EXPECT_TRUE(rc::check("status", [] {
    auto status = any_cluster_status();
    RC_ASSERT(decode_cluster_status(encode(status)) == status);
  }));
  EXPECT_TRUE(rc::check("member", [] {
    auto spec = any_member_spec();
    auto again = decode_member_spec(encode(spec));
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == spec);
  }));
}

TEST(StatusCodec, ReadsPastWhatItDoesNotUnderstand) {
  auto status = decode_cluster_status(parse(R"({
    "phase": "Ready", "clusterID": "cafe", "replicas": "three", "future": {"x": 1},
    "members": [{"name": "c-0", "role": "Voter", "ready": true}, {"name": 1}, "x"],
    "target": {"replicas": 5, "storage": "wrong"}, "conditions": 7})"));
  EXPECT_EQ(status.phase, "Ready");
  EXPECT_EQ(status.cluster_id, ClusterId(0xcafe));
  EXPECT_EQ(status.replicas, 0);
  ASSERT_EQ(status.members.size(), 1u);
  EXPECT_EQ(status.members[0].name, "c-0");
  EXPECT_FALSE(status.target) << "half a target is none";
  EXPECT_EQ(decode_cluster_status(parse("[]")), ClusterStatus{});
}

TEST(MemberCodec, IsFlatInTheResource) {
  MemberSpec spec;
  spec.cluster_name = "c";
  spec.identity.cluster_uid = Uid("u");
  spec.identity.ordinal = Ordinal(1);
  spec.identity.formation = {1, Ordinal(0), 3};
  spec.version = {3, 6, 16};
  spec.peer_url = "https://c-1.c-peer.n.svc:2380";
  EXPECT_EQ(
      json::render_sorted(encode(spec)),
      R"({"clusterName":"c","clusterUID":"u","formation":{"firstOrdinal":0,"number":1,"size":3},)"
      R"("incarnation":1,"ordinal":1,"peerURL":"https://c-1.c-peer.n.svc:2380","role":"Voter",)"
      R"("version":"3.6.16"})");
  EXPECT_THAT(decode_member_spec(parse("{}")).error().message(),
              HasSubstr("spec.clusterUID: must be given"));
}

}  // namespace
}  // namespace quorate::api
