// Every feature of kube::Client on a real kube-apiserver.

#include "tests/integration/kube_harness.h"

namespace quorate::kube {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class KubeClient : public KubeTest {};

std::string data_of(const Object& object) {
  return std::string(json::text_or(must(object.document()), "/data/k", ""));
}

TEST_F(KubeClient, CreatesReadsReplacesAndDeletes) {
  const auto made = must(create(kConfigMaps, config_map("a", "one")));
  const auto meta = must(made.meta());
  EXPECT_EQ(meta.key, key("a"));
  EXPECT_FALSE(meta.uid.value().empty());
  EXPECT_EQ(data_of(must(get(kConfigMaps, "a"))), "one");

  auto document = must(made.document());
  must(json::put(document, "/data/k", "two"));
  const auto replaced = must(run(client().update(kConfigMaps, key("a"), document, soon())));
  EXPECT_EQ(data_of(replaced), "two");
  EXPECT_NE(must(replaced.meta()).resource_version, meta.resource_version);

  must(run(client().remove(kConfigMaps, key("a"), soon())));
  EXPECT_EQ(reason_of(refused(get(kConfigMaps, "a"), Code::kNotFound)), "NotFound");
  expect_refused(run(client().remove(kConfigMaps, key("a"), soon())), Code::kNotFound);
}

TEST_F(KubeClient, TellsATakenNameFromAnObjectThatMovedOn) {
  const auto first = must(create(kConfigMaps, config_map("a")));
  const auto taken = refused(create(kConfigMaps, config_map("a")), Code::kConflict);
  EXPECT_TRUE(is_already_exists(taken));
  EXPECT_EQ(taken.message(), "configmaps \"a\" already exists");

  must(merge(kConfigMaps, "a", parse(R"({"data":{"k":"other"}})")));
  const auto stale = refused(
      run(client().update(kConfigMaps, key("a"), must(first.document()), soon())), Code::kConflict);
  EXPECT_EQ(reason_of(stale), "Conflict");
  EXPECT_FALSE(is_already_exists(stale));
  EXPECT_THAT(stale.text(), HasSubstr("the object has been modified"));
}

TEST_F(KubeClient, PatchesInThreeWays) {
  wait_for_service_account();
  must(create(kPods, pod("p", {{"a", "1"}})));
  const auto merged = must(merge(kPods, "p", parse(R"({"metadata":{"labels":{"b":"2"}}})")));
  EXPECT_EQ(must(merged.meta()).label("a"), "1");
  EXPECT_EQ(must(merged.meta()).label("b"), "2");

  const auto strategic = must(run(client().patch(
      kPods, key("p"), PatchKind::kStrategic,
      parse(R"({"spec":{"containers":[{"name":"c","image":"example/two"}]}})"), soon())));
  EXPECT_EQ(json::text_or(must(strategic.document()), "/spec/containers/0/image", ""),
            "example/two");

  const auto labels = R"([{"op":"test","path":"/metadata/labels/a","value":"1"},
                          {"op":"remove","path":"/metadata/labels/a"}])";
  const auto patched =
      must(run(client().patch(kPods, key("p"), PatchKind::kJson, parse(labels), soon())));
  EXPECT_FALSE(must(patched.meta()).label("a"));
  expect_refused(run(client().patch(kPods, key("p"), PatchKind::kJson, parse(labels), soon())),
                 Code::kInvalid);
}

TEST_F(KubeClient, PatchesOnlyTheObjectThatIsMeant) {
  const auto meta = must(must(create(kConfigMaps, config_map("a"))).meta());
  const auto with = [&](const std::string& field, const std::string& value) {
    return merge(kConfigMaps, "a",
                 json::Object{{"metadata", json::Object{{field, value}}},
                              {"data", json::Object{{"k", "changed"}}}});
  };
  // The server calls it invalid (422), since a UID cannot be changed.
  const auto other = refused(with("uid", "00000000-0000-0000-0000-000000000000"), Code::kConflict);
  EXPECT_EQ(other.status(), 422);
  must(with("uid", meta.uid.value()));
  expect_refused(with("resourceVersion", meta.resource_version.value()), Code::kConflict);
}

TEST_F(KubeClient, ReplacesOnlyTheObjectThatIsMeant) {
  const auto made = must(create(kConfigMaps, config_map("a")));
  auto other = must(made.document());
  must(json::put(other, "/metadata/uid", "00000000-0000-0000-0000-000000000000"));
  must(json::put(other, "/data/k", "changed"));
  expect_refused(run(client().update(kConfigMaps, key("a"), other, soon())), Code::kConflict);
  EXPECT_EQ(data_of(must(get(kConfigMaps, "a"))), "v");
}

TEST_F(KubeClient, DeletesOnlyTheObjectThatIsMeant) {
  const auto meta = must(must(create(kConfigMaps, config_map("a"))).meta());
  const auto remove = [&](DeleteOptions options) {
    return run(client().remove(kConfigMaps, key("a"), soon(), options));
  };
  const auto other =
      refused(remove({.uid = Uid("00000000-0000-0000-0000-000000000000")}), Code::kConflict);
  EXPECT_THAT(other.text(), HasSubstr(meta.uid.value()));
  must(merge(kConfigMaps, "a", parse(R"({"data":{"k":"v2"}})")));
  expect_refused(remove({.resource_version = meta.resource_version}), Code::kConflict);
  must(remove({.uid = meta.uid, .dry_run = true}));
  must(get(kConfigMaps, "a"));
  must(remove({.uid = meta.uid}));
  expect_refused(get(kConfigMaps, "a"), Code::kNotFound);
}

TEST_F(KubeClient, LetsAPodItsGrace) {
  wait_for_service_account();
  must(create(kPods, pod("p")));
  must(run(client().remove(kPods, key("p"), soon(), {.grace = 77s})));
  const auto leaving = must(get(kPods, "p"));
  EXPECT_TRUE(must(leaving.meta()).deleting());
  EXPECT_EQ(
      must(json::integer_at(must(leaving.document()), "/metadata/deletionGracePeriodSeconds")), 77);
  must(run(client().remove(kPods, key("p"), soon(), {.grace = 0s})));
  expect_refused(get(kPods, "p"), Code::kNotFound);
}

TEST_F(KubeClient, TriesWithoutDoing) {
  const auto tried =
      must(run(client().create(kConfigMaps, ns_, config_map("a"), soon(), {.dry_run = true})));
  EXPECT_FALSE(must(tried.meta()).uid.value().empty());
  expect_refused(get(kConfigMaps, "a"), Code::kNotFound);
}

TEST_F(KubeClient, RefusesUnknownFieldsUnlessToldToWarn) {
  auto odd = config_map("a");
  odd.as_object()["colour"] = "red";
  const auto strict = refused(create(kConfigMaps, odd), Code::kInvalid);
  EXPECT_THAT(strict.text(), HasSubstr("unknown field \"colour\""));

  const auto warnings = client().counters().warnings;
  must(run(client().create(kConfigMaps, ns_, odd, soon(), {.strict = false})));
  EXPECT_EQ(client().counters().warnings, warnings + 1);
  EXPECT_THAT(log_lines_, ::testing::Contains(AllOf(HasSubstr("the API server warns"),
                                                    HasSubstr("unknown field"))));
}

TEST_F(KubeClient, SaysWhatIsInvalid) {
  install_widgets(kube_);
  auto widget = make_object(kWidgets, key("w"));
  widget.as_object()["spec"] = json::Object{{"replicas", 99}};
  const auto error = refused(create(kWidgets, widget), Code::kInvalid);
  EXPECT_EQ(error.status(), 422);
  EXPECT_THAT(error.text(), HasSubstr("spec.replicas"));
  EXPECT_THAT(error.text(), HasSubstr("less than or equal to 9"));
  auto nameless = make_object(kConfigMaps, key("UPPER"));
  EXPECT_THAT(refused(create(kConfigMaps, nameless), Code::kInvalid).text(),
              HasSubstr("metadata.name"));
}

TEST_F(KubeClient, KeepsStatusAndScaleApart) {
  install_widgets(kube_);
  auto widget = make_object(kWidgets, key("w"));
  widget.as_object()["spec"] = json::Object{{"replicas", 3}, {"color", "red"}};
  must(create(kWidgets, widget));

  const auto status = must(run(
      client().patch(kWidgets, key("w"), PatchKind::kMerge,
                     parse(R"({"status":{"phase":"Ready","replicas":3},"spec":{"color":"blue"}})"),
                     soon(), {.part = Part::kStatus})));
  EXPECT_EQ(json::text_or(must(status.document()), "/status/phase", ""), "Ready");
  EXPECT_EQ(json::text_or(must(status.document()), "/spec/color", ""), "red");

  const auto scale = must(run(client().get(kWidgets, key("w"), soon(), Part::kScale)));
  EXPECT_EQ(json::text_or(must(scale.document()), "/kind", ""), "Scale");
  EXPECT_EQ(must(json::integer_at(must(scale.document()), "/status/replicas")), 3);
  must(run(client().patch(kWidgets, key("w"), PatchKind::kMerge,
                          parse(R"({"spec":{"replicas":5}})"), soon(), {.part = Part::kScale})));
  const auto now = must(must(get(kWidgets, "w")).document());
  EXPECT_EQ(must(json::integer_at(now, "/spec/replicas")), 5);
  EXPECT_EQ(json::text_or(now, "/status/phase", ""), "Ready");
}

TEST_F(KubeClient, AppliesWhatItOwns) {
  const auto apply = [&](const std::string& manager, const std::string& value, bool force) {
    auto object = make_object(kConfigMaps, key("a"));
    object.as_object()["data"] = json::Object{{"k", value}};
    return run(client().apply(kConfigMaps, key("a"), object, soon(),
                              {.force = force, .field_manager = manager}));
  };
  must(apply("one", "v1", false));
  must(apply("one", "v2", false));
  const auto conflict = refused(apply("two", "v3", false), Code::kConflict);
  EXPECT_THAT(conflict.text(), AllOf(HasSubstr("conflict with \"one\""), HasSubstr(".data.k")));
  EXPECT_EQ(data_of(must(get(kConfigMaps, "a"))), "v2");
  must(apply("two", "v3", true));
  EXPECT_EQ(data_of(must(get(kConfigMaps, "a"))), "v3");
  expect_refused(apply("one", "v4", false), Code::kConflict);

  // What a manager no longer says goes, if nobody else owns it.
  auto less = make_object(kConfigMaps, key("a"));
  must(run(client().apply(kConfigMaps, key("a"), less, soon(), {.field_manager = "two"})));
  EXPECT_EQ(data_of(must(get(kConfigMaps, "a"))), "");
}

TEST_F(KubeClient, AppliesStatusUnderItsOwnName) {
  install_widgets(kube_);
  must(create(kWidgets, make_object(kWidgets, key("w"))));
  auto status = make_object(kWidgets, key("w"));
  status.as_object()["status"] = json::Object{{"phase", "Fine"}};
  must(run(client().apply(kWidgets, key("w"), status, soon(), {.part = Part::kStatus})));
  const auto now = must(must(get(kWidgets, "w")).document());
  EXPECT_EQ(json::text_or(now, "/status/phase", ""), "Fine");
  const auto* fields = must(json::array_at(now, "/metadata/managedFields"));
  const auto ours = std::find_if(fields->begin(), fields->end(), [](const json::Value& entry) {
    return json::text_or(entry, "/operation", "") == "Apply";
  });
  ASSERT_NE(ours, fields->end());
  EXPECT_EQ(json::text_or(*ours, "/manager", ""), "quorate");
  EXPECT_EQ(json::text_or(*ours, "/subresource", ""), "status");
}

TEST_F(KubeClient, ListsAThousandObjectsPageByPage) {
  std::vector<Task<Result<Object>>> work;
  for (int i = 0; i < 1000; ++i)
    work.push_back(
        client().create(kConfigMaps, ns_, config_map(fmt::format("m-{:04}", i)), here_.in(5min)));
  for (const auto& made : run(rt::all(here_, std::move(work), 32))) must(made);

  std::set<std::string> names;
  EachItem each = [&](json::PaddedView item) -> Result<void> {
    TRY(auto meta, Object(std::string(item.text())).meta());
    names.insert(meta.key.name);
    return {};
  };
  const auto before = client().counters().requests;
  const ListOptions what{.ns = ns_, .page_size = 90};
  const auto version = must(run(client().list(kConfigMaps, what, 30s, each)));
  EXPECT_FALSE(version.value().empty());
  const auto requests = client().counters().requests - before;
  EXPECT_EQ(requests, (names.size() + 89) / 90);  // the controller manager may have added its own
  EXPECT_EQ(std::count_if(names.begin(), names.end(),
                          [](const auto& name) { return name.starts_with("m-"); }),
            1000);

  names.clear();
  ListOptions some{.ns = ns_, .field_selector = "metadata.name=m-0500", .metadata_only = true};
  must(run(client().list(kConfigMaps, some, 30s, each)));
  EXPECT_EQ(names, std::set<std::string>{"m-0500"});
}

TEST_F(KubeClient, SaysThatAListHasExpired) {
  for (int i = 0; i < 3; ++i) must(create(kConfigMaps, config_map("m" + std::to_string(i))));
  PageRequest page{{.ns = ns_, .page_size = 1}, "bm9uc2Vuc2U"};
  EachItem ignore = [](json::PaddedView) { return Result<void>(); };
  expect_refused(run(client().list_page(kConfigMaps, page, soon(), ignore)), Code::kInvalid);
}

TEST_F(KubeClient, DoesWhatItsRoleAllowsAndNoMore) {
  kube_.apply(fmt::format(R"(
apiVersion: v1
kind: ServiceAccount
metadata: {{name: reader, namespace: {0}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: reader, namespace: {0}}}
rules: [{{apiGroups: [""], resources: [configmaps], verbs: [get, list]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: reader, namespace: {0}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}}
subjects: [{{kind: ServiceAccount, name: reader, namespace: {0}}}]
)",
                          ns_));
  must(create(kConfigMaps, config_map("a")));
  Connection reader(loop_, kube_.kubeconfig(ns_ + "-reader",
                                            {.token = kube_.service_account_token(ns_, "reader")}));
  must(run(reader.client().get(kConfigMaps, key("a"), soon())));
  const auto denied =
      refused(run(reader.client().remove(kConfigMaps, key("a"), soon())), Code::kForbidden);
  EXPECT_THAT(denied.text(), AllOf(HasSubstr("system:serviceaccount:" + ns_ + ":reader"),
                                   HasSubstr("cannot delete resource \"configmaps\"")));
  expect_refused(run(reader.client().get(kSecrets, key("a"), soon())), Code::kForbidden);
}

TEST_F(KubeClient, IsNotBelievedWithoutCredentials) {
  Connection nobody(loop_, kube_.kubeconfig(ns_ + "-nobody", {.token = "wrong"}));
  EXPECT_EQ(
      refused(run(nobody.client().get(kConfigMaps, key("a"), soon())), Code::kForbidden).status(),
      401);
}

TEST_F(KubeClient, DiscoversWhatIsServed) {
  EXPECT_TRUE(must(run(client().serves(kLeases, soon()))));
  EXPECT_TRUE(must(run(client().serves(kPods, soon()))));
  constexpr Resource kAbsent{"cert-manager.io", "v1", "certificates", "Certificate", true};
  EXPECT_FALSE(must(run(client().serves(kAbsent, soon()))));
  const auto core = must(run(client().served("", "v1", soon())));
  const auto eviction = std::find_if(core.begin(), core.end(), [](const auto& resource) {
    return resource.plural == "pods/eviction";
  });
  ASSERT_NE(eviction, core.end());
  EXPECT_EQ(eviction->kind, "Eviction");
  EXPECT_EQ(must(run(client().server_version(soon()))), "v1.34.4");
}

TEST_F(KubeClient, KnowsThePathsOfEveryKindOfTheTable) {
  for (const auto& resource :
       {kPods, kServices, kSecrets, kConfigMaps, kServiceAccounts, kPersistentVolumeClaims,
        kPersistentVolumes, kNodes, kNamespaces, kJobs, kStorageClasses, kEvents, kLeases,
        kPodDisruptionBudgets, kEndpointSlices, kCustomResourceDefinitions}) {
    const auto all = must(
        run(client().served(std::string(resource.group), std::string(resource.version), soon())));
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& one) { return one.plural == resource.plural; });
    ASSERT_NE(found, all.end()) << resource.text();
    EXPECT_EQ(found->kind, resource.kind);
    EXPECT_EQ(found->namespaced, resource.namespaced) << resource.text();
  }
}

TEST_F(KubeClient, SendsAnyRequest) {
  const auto ready = must(run(client().raw({"GET", "/readyz", {}, ""}, soon())));
  EXPECT_EQ(ready.body, "ok");
  expect_refused(run(client().raw({"GET", "/no/such/path", {}, ""}, soon())), Code::kNotFound);
}

TEST_F(KubeClient, EvictsOnlyThePodThatIsMeant) {
  wait_for_service_account();
  must(create(kPods, pod("p")));
  expect_refused(run(client().evict(key("p"), soon(), {.uid = Uid("another")})), Code::kConflict);
  EXPECT_FALSE(must(must(get(kPods, "p")).meta()).deleting());
  expect_refused(run(client().evict(key("absent"), soon())), Code::kNotFound);
}

TEST_F(KubeClient, EvictsWhileTheBudgetAllows) {
  wait_for_service_account();
  kube_.apply("apiVersion: v1\nkind: Node\nmetadata: {name: nowhere}\n");
  kube_.apply(
      fmt::format("apiVersion: policy/v1\nkind: PodDisruptionBudget\n"
                  "metadata: {{name: b, namespace: {}}}\n"
                  "spec: {{minAvailable: 1, selector: {{matchLabels: {{app: e}}}}}}\n",
                  ns_));
  for (const char* name : {"p0", "p1"}) {
    must(create(kPods, pod(name, {{"app", "e"}})));
  }
  ask_until("the budget allows one", [&] {
    declare_running({"p0", "p1"});
    const auto budget = must(must(get(kPodDisruptionBudgets, "b")).document());
    return json::integer_at(budget, "/status/disruptionsAllowed").value_or(0) == 1;
  });
  const auto uid = must(must(get(kPods, "p0")).meta()).uid;
  must(run(client().evict(key("p0"), soon(), {.uid = uid})));
  EXPECT_TRUE(must(must(get(kPods, "p0")).meta()).deleting());
  const auto protects = refused(run(client().evict(key("p1"), soon())), Code::kThrottled);
  EXPECT_TRUE(is_budget_exhausted(protects)) << protects.text();
  EXPECT_THAT(protects.text(), HasSubstr("disruption budget"));
  EXPECT_FALSE(must(must(get(kPods, "p1")).meta()).deleting());
}

}  // namespace
}  // namespace quorate::kube
