#include "kube/object.h"

#include <gtest/gtest.h>

#include "json/timestamp.h"

namespace quorate::kube {
namespace {

constexpr const char* kPod = R"({
  "kind": "Pod", "apiVersion": "v1",
  "metadata": {
    "name": "c-0", "namespace": "n", "uid": "u1", "resourceVersion": "42", "generation": 3,
    "creationTimestamp": "2026-01-02T15:04:05Z", "deletionTimestamp": "2026-01-02T15:05:05Z",
    "labels": {"app": "etcd", "quorate.io/cluster": "c"},
    "managedFields": [{"manager": "x", "fieldsV1": {"f:a": {}}}],
    "ownerReferences": [
      {"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "u8"},
      {"apiVersion": "quorate.io/v1alpha1", "kind": "EtcdCluster", "name": "c", "uid": "u9",
       "controller": true}]},
  "spec": {"containers": []}})";

TEST(Meta, ReadsWhatEveryObjectHas) {
  auto meta = Object(kPod).meta();
  ASSERT_TRUE(meta) << meta.error().text();
  EXPECT_EQ(meta->key, (ObjectKey{"n", "c-0"}));
  EXPECT_EQ(meta->uid, Uid("u1"));
  EXPECT_EQ(meta->resource_version, ResourceVersion("42"));
  EXPECT_EQ(meta->generation, 3);
  EXPECT_EQ(json::render_time(meta->created.value()), "2026-01-02T15:04:05Z");
  EXPECT_TRUE(meta->deleting());
  EXPECT_EQ(meta->label("quorate.io/cluster"), "c");
  EXPECT_FALSE(meta->label("absent"));
  ASSERT_EQ(meta->owners().size(), 2u);
  ASSERT_TRUE(meta->controller());
  EXPECT_EQ(meta->controller()->uid, Uid("u9"));
}

TEST(Meta, IsEmptyWhereNothingIsSaid) {
  auto meta = Object(R"({"metadata":{"name":"x","labels":null,"ownerReferences":[]}})").meta();
  ASSERT_TRUE(meta) << meta.error().text();
  EXPECT_TRUE(meta->labels().empty());
  EXPECT_TRUE(meta->owners().empty());
  EXPECT_EQ(meta->controller(), nullptr);
  EXPECT_FALSE(meta->deleting());
}

TEST(Meta, SaysWhereItIsWrong) {
  auto number = Object(R"({"metadata":{"labels":{"a":1}}})").meta();
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().code(), Code::kInvalid);
  EXPECT_NE(number.error().text().find("metadata.labels.a"), std::string::npos)
      << number.error().text();
  auto time = Object(R"({"metadata":{"creationTimestamp":"yesterday"}})").meta();
  ASSERT_FALSE(time);
  EXPECT_NE(time.error().text().find("metadata.creationTimestamp"), std::string::npos)
      << time.error().text();
}

TEST(MakeObject, NamesKindAndPlace) {
  EXPECT_EQ(json::render(make_object(kLeases, {"n", "x"})),
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
            R"("metadata":{"name":"x","namespace":"n"}})");
  EXPECT_EQ(json::render(make_object(kNamespaces, {"", "x"})),
            R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"x"}})");
}

TEST(MakeOwnerReference, NamesTheOwnerByUid) {
  Meta owner;
  owner.key = {"n", "c"};
  owner.uid = Uid("u9");
  EXPECT_EQ(json::render(make_owner_reference(kEtcdClusters, owner, true)),
            R"({"apiVersion":"quorate.io/v1alpha1","kind":"EtcdCluster","name":"c","uid":"u9",)"
            R"("controller":true})");
  EXPECT_EQ(make_owner_reference(kPods, owner, false).as_object().if_contains("controller"),
            nullptr);
}

}  // namespace
}  // namespace quorate::kube
