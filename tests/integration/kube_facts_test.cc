// Facts about Kubernetes on which the operator's safety rests (E23), kept as tests so that a
// version that differs is noticed.

#include "tests/integration/kube_harness.h"

namespace quorate::kube {
namespace {

using ::testing::HasSubstr;

class KubeFacts : public KubeTest {
 protected:
  json::Value claim(const std::string& name) {
    auto out = make_object(kPersistentVolumeClaims, key(name));
    out.as_object()["spec"] = parse(R"({"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}}})");
    return out;
  }
  Result<Object> apply(Resource resource, const std::string& name, json::Value object) {
    return run(client().apply(resource, key(name), std::move(object), soon(), {.force = true}));
  }
  // Claims in use are protected by a finalizer; nobody uses these.
  void remove_claim(const std::string& name) {
    must(run(client().remove(kPersistentVolumeClaims, key(name), soon())));
    ask_until("the claim is gone", [&] { return !get(kPersistentVolumeClaims, name); });
  }
};

TEST_F(KubeFacts, ApplyOfADeletedClaimMakesAnotherOne) {
  const auto first = must(must(apply(kPersistentVolumeClaims, "data", claim("data"))).meta());
  remove_claim("data");
  const auto second = must(must(apply(kPersistentVolumeClaims, "data", claim("data"))).meta());
  EXPECT_NE(second.uid, first.uid);
}

TEST_F(KubeFacts, ApplyWithTheUidOfADeletedClaimFails) {
  const auto first = must(must(apply(kPersistentVolumeClaims, "data", claim("data"))).meta());
  remove_claim("data");
  auto named = claim("data");
  must(json::put(named, "/metadata/uid", json::Value(first.uid.value())));
  const auto error = refused(apply(kPersistentVolumeClaims, "data", named), Code::kConflict);
  EXPECT_THAT(error.text(), HasSubstr(first.uid.value()));
  expect_refused(get(kPersistentVolumeClaims, "data"), Code::kNotFound);
}

TEST_F(KubeFacts, ApplyWithTheUidOfAnotherObjectOfThatNameFails) {
  const auto first = must(must(apply(kPersistentVolumeClaims, "data", claim("data"))).meta());
  remove_claim("data");
  const auto second = must(must(apply(kPersistentVolumeClaims, "data", claim("data"))).meta());
  auto named = claim("data");
  must(json::put(named, "/metadata/uid", json::Value(first.uid.value())));
  must(json::put(named, "/metadata/labels/touched", "yes"));
  expect_refused(apply(kPersistentVolumeClaims, "data", named), Code::kConflict);
  const auto now = must(must(get(kPersistentVolumeClaims, "data")).meta());
  EXPECT_EQ(now.uid, second.uid);
  EXPECT_FALSE(now.label("touched"));
}

TEST_F(KubeFacts, APodsSpecIsFixedButForImageAndMetadata) {
  wait_for_service_account();
  const auto applied = must(must(apply(kPods, "p", pod("p"))).meta());
  auto command = pod("p");
  must(json::put(command, "/spec/containers/0/command", json::Array{"other"}));
  EXPECT_EQ(refused(apply(kPods, "p", command), Code::kInvalid).status(), 422);
  auto resources = pod("p");
  must(json::put(resources, "/spec/priorityClassName", "system-node-critical"));
  EXPECT_EQ(refused(apply(kPods, "p", resources), Code::kInvalid).status(), 422);

  auto image = pod("p", {{"l", "x"}});
  must(json::put(image, "/spec/containers/0/image", "example/two"));
  must(json::put(image, "/metadata/annotations/a", "y"));
  const auto changed = must(apply(kPods, "p", image));
  EXPECT_EQ(must(changed.meta()).uid, applied.uid);
  EXPECT_EQ(json::text_or(must(changed.document()), "/spec/containers/0/image", ""), "example/two");
  EXPECT_EQ(must(changed.meta()).label("l"), "x");
}

TEST_F(KubeFacts, DeletingAnOwnerDeletesItsDependents) {
  wait_for_service_account();
  install_widgets(kube_);
  const auto owner = must(must(create(kWidgets, make_object(kWidgets, key("w")))).meta());
  const auto owned = [&](json::Value object) {
    must(json::put(object, "/metadata/ownerReferences",
                   json::Array{make_owner_reference(kWidgets, owner, true)}));
    return object;
  };
  must(create(kPods, owned(pod("p"))));
  must(create(kConfigMaps, owned(config_map("c"))));
  must(create(kConfigMaps, config_map("free")));
  must(run(client().remove(kWidgets, key("w"), soon(), {.uid = owner.uid})));
  ask_until("the map is gone", [&] { return !get(kConfigMaps, "c"); });
  ask_until("the Pod is told to go", [&] {
    auto found = get(kPods, "p");
    return !found || must(found->meta()).deleting();
  });
  must(get(kConfigMaps, "free"));
}

TEST_F(KubeFacts, OrphansStayWhenTheyAreMeantTo) {
  install_widgets(kube_);
  const auto owner = must(must(create(kWidgets, make_object(kWidgets, key("w")))).meta());
  auto dependent = config_map("c");
  must(json::put(dependent, "/metadata/ownerReferences",
                 json::Array{make_owner_reference(kWidgets, owner, true)}));
  must(create(kConfigMaps, dependent));
  must(run(client().remove(kWidgets, key("w"), soon(), {.propagation = Propagation::kOrphan})));
  ask_until("the owner is gone", [&] { return !get(kWidgets, "w"); });
  ask_until("the map has no owner",
            [&] { return must(must(get(kConfigMaps, "c")).meta()).owners().empty(); });
}

TEST_F(KubeFacts, AnOwnerInTheForegroundWaitsForItsDependents) {
  install_widgets(kube_);
  const auto owner = must(must(create(kWidgets, make_object(kWidgets, key("w")))).meta());
  auto dependent = config_map("c");
  must(json::put(dependent, "/metadata/ownerReferences",
                 json::Array{make_owner_reference(kWidgets, owner, true)}));
  must(json::put(dependent, "/metadata/finalizers", json::Array{"test.quorate.io/hold"}));
  must(json::put(dependent, "/metadata/ownerReferences/0/blockOwnerDeletion", true));
  must(create(kConfigMaps, dependent));
  must(run(client().remove(kWidgets, key("w"), soon(), {.propagation = Propagation::kForeground})));
  ask_until("the map is told to go",
            [&] { return must(must(get(kConfigMaps, "c")).meta()).deleting(); });
  EXPECT_TRUE(must(must(get(kWidgets, "w")).meta()).deleting());
  must(merge(kConfigMaps, "c", parse(R"({"metadata":{"finalizers":null}})")));
  ask_until("both are gone", [&] { return !get(kConfigMaps, "c") && !get(kWidgets, "w"); });
}

// A budget over Pods whose controller is not one of Kubernetes' own: only an integer minAvailable
// can be counted.
TEST_F(KubeFacts, ABudgetOverPodsOfACustomResourceCountsOnlyWithAnIntegerMinAvailable) {
  wait_for_service_account();
  (void)kube_.kubectl({"delete", "crd", "widgets.test.quorate.io", "--ignore-not-found"});
  install_widgets(kube_);
  kube_.apply("apiVersion: v1\nkind: Node\nmetadata: {name: nowhere}\n");
  kube_.apply(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plains.test.quorate.io}
spec:
  group: test.quorate.io
  scope: Namespaced
  names: {plural: plains, singular: plain, kind: Plain}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
)");
  constexpr Resource kPlains{"test.quorate.io", "v1", "plains", "Plain", true};
  Result<Object> made = fail(Code::kNotFound, "not yet");
  ask_until("plain things are served", [&] {
    made = create(kPlains, make_object(kPlains, key("w")));
    return made.has_value();
  });
  const auto owner = must(made->meta());
  for (const char* budget : {"minAvailable: 1", "maxUnavailable: 1"})
    kube_.apply(
        fmt::format("apiVersion: policy/v1\nkind: PodDisruptionBudget\n"
                    "metadata: {{name: {}, namespace: {}}}\n"
                    "spec: {{{}, selector: {{matchLabels: {{app: e}}}}}}\n",
                    std::string(budget).starts_with("min") ? "integer" : "share", ns_, budget));
  for (const char* name : {"p0", "p1"}) {
    auto one = pod(name, {{"app", "e"}});
    must(json::put(one, "/metadata/ownerReferences",
                   json::Array{make_owner_reference(kPlains, owner, true)}));
    must(create(kPods, one));
  }
  const auto status = [&](const char* name) {
    return must(must(get(kPodDisruptionBudgets, name)).document());
  };
  ask_until("the integer budget allows one", [&] {
    declare_running({"p0", "p1"});
    return json::integer_at(status("integer"), "/status/disruptionsAllowed").value_or(0) == 1;
  });
  // The controller learns of new kinds every half minute, has another reason until then, and looks
  // again ever more rarely: an edit makes it look.
  int edits = 0;
  support::eventually(90s, "the other budget says why it allows none", [&] {
    must(merge(kPodDisruptionBudgets, "share",
               parse(fmt::format(R"({{"metadata":{{"annotations":{{"edit":"{}"}}}}}})", ++edits))));
    std::string why(json::text_or(status("share"), "/status/conditions/0/message", ""));
    return support::Look(why.find("scale subresource") != std::string::npos, why);
  });
  EXPECT_EQ(json::integer_at(status("share"), "/status/disruptionsAllowed").value_or(0), 0);
}

}  // namespace
}  // namespace quorate::kube
