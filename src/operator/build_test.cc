#include "operator/build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/metadata.h"
#include "api/names.h"
#include "base/launch_contract.h"
#include "json/patch.h"
#include "operator/facts.h"
#include "operator/views.h"
#include "pki/authority.h"
#include "plan/pods.h"

namespace quorate::op {
namespace {

using ::testing::Contains;

const Owner kOwner{ClusterKey{{"ns", "c"}}, Uid("cluster-uid")};

api::Identity identity() {
  api::Identity out;
  out.cluster_uid = kOwner.uid;
  out.ordinal = Ordinal(1);
  out.formation = {1, Ordinal(0), 3};
  return out;
}

plan::CreatePod pod_step() {
  plan::CreatePod step;
  step.shape.name = "c-1";
  step.shape.peer_url = "https://c-1.c-peer.ns.svc:2380";
  step.shape.token = "token";
  step.shape.image = "etcd:v3.6.16";
  step.shape.launch_image = "quorate:dev";
  step.shape.etcd_arguments = {"--listen-client-urls=https://0.0.0.0:2379"};
  step.shape.readiness_path = "/readyz";
  step.shape.claim = "data-c-1";
  step.state.formation_open = true;
  step.state.initial_cluster = "c-0=https://a:2380";
  step.state.identity = identity();
  step.first_pod = true;
  step.rendered = "abc";
  return step;
}

// What the API server would send back: our document with server-side metadata.
template <class View>
View seen(json::Value object) {
  auto& metadata = object.as_object()["metadata"].as_object();
  metadata["uid"] = "object-uid";
  metadata["resourceVersion"] = "7";
  json::Projector projector;
  auto view = json::project<View>(projector, json::render(object));
  EXPECT_TRUE(view) << view.error().text();
  return *view;
}

TEST(BuildPod, IsReadBackAsTheFactsItWasMadeFrom) {
  const auto step = pod_step();
  auto facts = pod_facts(seen<PodView>(build_pod(kOwner, step)), "c");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->ordinal, Ordinal(1));
  EXPECT_EQ(facts->controller, kOwner.uid);
  EXPECT_EQ(facts->identity, step.state.identity);
  EXPECT_TRUE(facts->formation_open);
  EXPECT_TRUE(facts->first_pod);
  EXPECT_TRUE(facts->voter);
  EXPECT_FALSE(facts->serving);
  EXPECT_TRUE(plan::shows(*facts, step.state));
  EXPECT_EQ(facts->rendered, "abc");
}

TEST(BuildPod, ArgumentsAndFixedEnvironmentCarryNoState) {
  auto open = pod_step();
  auto closed = open;
  closed.state.formation_open = false;
  closed.state.initial_cluster = "other";
  closed.state.identity.started = true;
  closed.state.identity.cluster_id = ClusterId(1);
  closed.state.identity.member_id = MemberId(2);
  auto a = build_pod(kOwner, open), b = build_pod(kOwner, closed);
  EXPECT_EQ(*json::find(a, "/spec"), *json::find(b, "/spec"));
  EXPECT_NE(*json::find(a, "/metadata/annotations"), *json::find(b, "/metadata/annotations"));
}

// Whether it lives does not depend on quorum or on a long defragmentation; whether it is ready,
// etcd says.
TEST(BuildPod, IsProbedOnTheMetricsPort) {
  const auto pod = build_pod(kOwner, pod_step());
  const std::string at = "/spec/containers/0";
  for (const char* probe : {"/startupProbe", "/livenessProbe"}) {
    EXPECT_EQ(json::integer_at(pod, at + probe + "/tcpSocket/port").value(), api::kMetricsPort);
    EXPECT_EQ(json::find(pod, at + probe + "/httpGet"), nullptr) << probe;
  }
  EXPECT_GE(json::integer_at(pod, at + "/startupProbe/periodSeconds").value() *
                json::integer_at(pod, at + "/startupProbe/failureThreshold").value(),
            600)
      << "a large database takes long to open";
  EXPECT_EQ(json::text_or(pod, at + "/readinessProbe/httpGet/path", ""), "/readyz");
  EXPECT_EQ(json::integer_at(pod, at + "/readinessProbe/httpGet/port").value(), api::kMetricsPort);
  EXPECT_EQ(json::text_or(pod, at + "/ports/2/name", ""), api::kMetricsPortName);
  EXPECT_EQ(json::integer_at(pod, at + "/ports/2/containerPort").value(), api::kMetricsPort);
}

TEST(BuildPod, IsRestrictedAndHasNoToken) {
  auto pod = build_pod(kOwner, pod_step());
  EXPECT_EQ(*json::find(pod, "/spec/automountServiceAccountToken"), false);
  EXPECT_EQ(*json::find(pod, "/spec/securityContext/runAsNonRoot"), true);
  EXPECT_EQ(*json::find(pod, "/spec/securityContext/seccompProfile/type"), "RuntimeDefault");
  for (const char* container : {"/spec/containers/0", "/spec/initContainers/0"}) {
    const std::string at(container);
    EXPECT_EQ(*json::find(pod, at + "/securityContext/allowPrivilegeEscalation"), false);
    EXPECT_EQ(*json::find(pod, at + "/securityContext/readOnlyRootFilesystem"), true);
    EXPECT_EQ(*json::find(pod, at + "/securityContext/capabilities/drop/0"), "ALL");
  }
}

TEST(BuildPod, KeepsItsDataInTheClaimOrInAnEmptyDir) {
  auto step = pod_step();
  auto pod = build_pod(kOwner, step);
  EXPECT_EQ(*json::find(pod, "/spec/volumes/0/persistentVolumeClaim/claimName"), "data-c-1");
  step.shape.claim.reset();
  step.shape.empty_dir = api::EmptyDirStorage{api::Medium::kMemory, std::nullopt};
  pod = build_pod(kOwner, step);
  EXPECT_EQ(*json::find(pod, "/spec/volumes/0/emptyDir/medium"), "Memory");
}

std::string variable(const json::Value& pod, std::string_view name) {
  for (const auto& one : json::find(pod, "/spec/containers/0/env")->as_array())
    if (json::text_or(one, "/name", "") == name)
      return std::string(json::text_or(one, "/value", ""));
  return "";
}

TEST(BuildPod, TellsGoOfTheLimits) {
  auto step = pod_step();
  EXPECT_EQ(variable(build_pod(kOwner, step), "GOMAXPROCS"), "");
  EXPECT_EQ(variable(build_pod(kOwner, step), "GOMEMLIMIT"), "");
  step.shape.resources.limits = {*api::Quantity::parse("1500m"), *api::Quantity::parse("1000Mi")};
  EXPECT_EQ(variable(build_pod(kOwner, step), "GOMAXPROCS"), "2");
  EXPECT_EQ(variable(build_pod(kOwner, step), "GOMEMLIMIT"), "943718400");
}

TEST(BuildPod, IsRatherNotBesideAnotherMemberUnlessToldOtherwise) {
  auto step = pod_step();
  auto pod = build_pod(kOwner, step);
  EXPECT_EQ(json::find(pod, "/spec/topologySpreadConstraints")->as_array().size(), 1U)
      << "a constraint on zones would keep nodes without zones out of the count";
  EXPECT_TRUE(json::find(pod, "/spec/affinity/podAntiAffinity"));
  const auto selector = "/spec/topologySpreadConstraints/0/labelSelector/matchLabels/" +
                        json::escape_pointer(api::kLabelClusterUid);
  EXPECT_EQ(*json::find(pod, selector), "cluster-uid");
  EXPECT_EQ(*json::find(pod, "/spec/topologySpreadConstraints/0/whenUnsatisfiable"),
            "ScheduleAnyway");
  auto& strict = step.shape.placement.spread.emplace_back();
  strict.topology_key = "rack";
  pod = build_pod(kOwner, step);
  EXPECT_EQ(json::find(pod, "/spec/topologySpreadConstraints")->as_array().size(), 1U);
  EXPECT_EQ(*json::find(pod, selector), "cluster-uid") << "the members are meant";
  EXPECT_FALSE(json::find(pod, "/spec/affinity")) << "who says where, says all of it";
}

TEST(BuildPod, RunsWhereItIsTold) {
  auto step = pod_step();
  auto& placement = step.shape.placement;
  placement.node_selector = {{"disk", "fast"}};
  placement.priority_class = "high";
  placement.tolerations.push_back({"dedicated", api::TolerationOperator::kExists, {}, {}, {}});
  placement.affinity.emplace().anti_pod.emplace().required.push_back(
      {{}, "kubernetes.io/hostname", {}, {}});
  const auto pod = build_pod(kOwner, step);
  EXPECT_EQ(*json::find(pod, "/spec/nodeSelector/disk"), "fast");
  EXPECT_EQ(*json::find(pod, "/spec/priorityClassName"), "high");
  EXPECT_EQ(*json::find(pod, "/spec/tolerations/0/operator"), "Exists");
  EXPECT_EQ(*json::find(pod,
                        "/spec/affinity/podAntiAffinity/"
                        "requiredDuringSchedulingIgnoredDuringExecution/0/labelSelector/"
                        "matchLabels/" +
                            json::escape_pointer(api::kLabelClusterUid)),
            "cluster-uid");
}

TEST(BuildPod, TakesWhatTheTemplateAddsAndKeepsTheRest) {
  auto step = pod_step();
  const auto plain = build_pod(kOwner, step);
  step.shape.pod_template.spec.text =
      R"({"containers":[{"env":[{"name":"GOGC","value":"50"}],"name":"etcd"},)"
      R"({"image":"i","name":"side"}],"dnsPolicy":"Default",)"
      R"("volumes":[{"emptyDir":{},"name":"extra"}]})";
  const auto pod = build_pod(kOwner, step);
  EXPECT_EQ(*json::find(pod, "/spec/dnsPolicy"), "Default");
  EXPECT_EQ(variable(pod, "GOGC"), "50");
  EXPECT_EQ(variable(pod, launch::kEnvMember), "c-1");
  EXPECT_EQ(*json::find(pod, "/spec/containers/0/args"),
            *json::find(plain, "/spec/containers/0/args"));
  EXPECT_EQ(*json::find(pod, "/spec/containers/1/name"), "side");
  EXPECT_EQ(*json::find(pod, "/spec/containers/1/securityContext/allowPrivilegeEscalation"), false);
  EXPECT_EQ(*json::find(pod, "/spec/containers/1/securityContext/capabilities/drop/0"), "ALL");
  EXPECT_EQ(json::find(pod, "/spec/volumes")->as_array().size(),
            json::find(plain, "/spec/volumes")->as_array().size() + 1);
}

TEST(BuildPod, CarriesWhatPeopleWantToFindAndOursWin) {
  auto owner = kOwner;
  owner.metadata = {{{"team", "a"}, {std::string(api::kLabelCluster), "x"}}, {{"note", "n"}}};
  auto step = pod_step();
  step.shape.pod_template.metadata = {{{"team", "b"}}, {}};
  const auto pod = build_pod(owner, step);
  EXPECT_EQ(*json::find(pod, "/metadata/labels/team"), "b");
  EXPECT_EQ(*json::find(pod, "/metadata/annotations/note"), "n");
  EXPECT_EQ(*json::find(pod, "/metadata/labels/" + json::escape_pointer(api::kLabelCluster)), "c");
  const auto facts = pod_facts(seen<PodView>(pod), "c");
  EXPECT_EQ(facts->added,
            api::added_text(api::join_metadata(owner.metadata, step.shape.pod_template.metadata)));
}

TEST(BuildMetadata, PatchTakesAwayWhatIsNotWantedAnyMore) {
  plan::SetMetadata step;
  step.before = api::added_text({{{"team", "a"}, {"old", "x"}}, {{"note", "n"}}});
  step.metadata = {{{"team", "b"}}, {}};
  const json::Value patch = build_metadata_patch(step);
  EXPECT_EQ(*json::find(patch, "/metadata/labels/team"), "b");
  EXPECT_TRUE(json::find(patch, "/metadata/labels/old")->is_null());
  EXPECT_TRUE(json::find(patch, "/metadata/annotations/note")->is_null());
  step.metadata = {};
  const json::Value none = build_metadata_patch(step);
  EXPECT_TRUE(json::find(none, "/metadata/labels/team")->is_null());
  EXPECT_TRUE(
      json::find(none, "/metadata/annotations/" + json::escape_pointer(api::kAnnotationAdded))
          ->is_null());
}

TEST(BuildService, PatchRemovesWhatIsNotDeclaredAnyMore) {
  plan::ApplyShared step;
  step.which = plan::Shared::kClientService;
  auto& spec = step.services.client.spec;
  spec.type = api::ServiceType::kLoadBalancer;
  spec.load_balancer_source_ranges = {"10.0.0.0/8"};
  spec.node_port = 30000;
  auto owner = kOwner;
  owner.metadata = {{{"team", "a"}}, {}};
  const auto service = build_client_service(owner, step);
  EXPECT_EQ(*json::find(service, "/spec/ports/0/nodePort"), 30000);
  EXPECT_EQ(*json::find(service, "/spec/externalTrafficPolicy"), "Cluster");
  EXPECT_FALSE(seen<ServiceView>(service).drifted);
  const auto added = seen<ServiceView>(service).added;
  step.services = {};
  const json::Value patch = build_shared_patch(build_client_service(kOwner, step), added);
  EXPECT_EQ(*json::find(patch, "/spec/type"), "ClusterIP");
  EXPECT_TRUE(json::find(patch, "/spec/loadBalancerSourceRanges")->is_null());
  EXPECT_TRUE(json::find(patch, "/metadata/labels/team")->is_null());
  EXPECT_FALSE(seen<ServiceView>(json::apply_merge_patch(service, patch)).drifted);
}

TEST(BuildService, LeadsNowhereUntilItIsOpened) {
  plan::ApplyShared step;
  step.which = plan::Shared::kClientService;
  step.open = false;
  const auto shut = build_client_service(kOwner, step);
  const auto label = "/spec/selector/" + json::escape_pointer(api::kLabelServing);
  EXPECT_NE(json::text_or(shut, label, api::kTrue), api::kTrue);
  EXPECT_FALSE(seen<ServiceView>(shut).drifted);
  step.open = true;
  const json::Value patch = build_shared_patch(build_client_service(kOwner, step), "");
  const auto open = json::apply_merge_patch(shut, patch);
  EXPECT_EQ(json::text_or(open, label, ""), api::kTrue);
  EXPECT_FALSE(seen<ServiceView>(open).drifted);
}

TEST(BuildClaim, HasTheMetadataAndSelectorThatAreDeclared) {
  plan::CreateClaim step;
  step.name = "data-c-1";
  step.identity = identity();
  step.storage.metadata = {{{"tier", "1"}}, {}};
  step.storage.selector.emplace().match_labels = {{"disk", "fast"}};
  const auto claim = build_claim(kOwner, step);
  EXPECT_EQ(*json::find(claim, "/metadata/labels/tier"), "1");
  EXPECT_EQ(*json::find(claim, "/spec/selector/matchLabels/disk"), "fast");
}

TEST(BuildClaim, IsOwnedOnlyIfItsDataMayGoWithTheCluster) {
  plan::CreateClaim step;
  step.name = "data-c-1";
  step.identity = identity();
  auto kept = claim_facts(seen<ClaimView>(build_claim(kOwner, step)), "c");
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->owners.empty());
  EXPECT_EQ(kept->identity, step.identity);
  step.owned = true;
  auto owned = claim_facts(seen<ClaimView>(build_claim(kOwner, step)), "c");
  EXPECT_THAT(owned->owners, Contains(kOwner.uid));
}

TEST(BuildRecord, IsReadBackAsTheSpecItWasMadeFrom) {
  plan::CreateRecord step;
  step.name = "c-1";
  step.spec.cluster_name = "c";
  step.spec.identity = identity();
  step.spec.version = {3, 6, 16};
  step.spec.peer_url = "https://c-1.c-peer.ns.svc:2380";
  auto facts = record_facts(seen<RecordView>(build_record(kOwner, step)));
  ASSERT_TRUE(facts) << facts.error().text();
  EXPECT_EQ(facts->spec, step.spec);
  EXPECT_EQ(facts->controller, kOwner.uid);
}

TEST(BuildService, ClientsReachOnlyServingMembersOfThisVeryCluster) {
  plan::ApplyShared step;
  step.which = plan::Shared::kClientService;
  auto service = build_client_service(kOwner, step);
  EXPECT_EQ(*json::find(service, "/spec/selector/" + json::escape_pointer(api::kLabelServing)),
            "true");
  EXPECT_EQ(*json::find(service, "/spec/selector/" + json::escape_pointer(api::kLabelClusterUid)),
            "cluster-uid");
}

TEST(BuildService, PeersFindEachOtherBeforeAnyIsReady) {
  auto service = build_peer_service(kOwner, {});
  EXPECT_EQ(*json::find(service, "/spec/publishNotReadyAddresses"), true);
  EXPECT_EQ(*json::find(service, "/spec/clusterIP"), "None");
  EXPECT_EQ(json::find(service, "/spec/selector/" + json::escape_pointer(api::kLabelServing)),
            nullptr);
}

TEST(SharedView, DriftsWhenAnOwnedFieldIsEditedAndNotWhenTheServerAddsSome) {
  auto service = build_client_service(kOwner, {});
  EXPECT_FALSE(seen<ServiceView>(service).drifted);
  auto& spec = service.as_object()["spec"].as_object();
  spec["clusterIP"] = "10.0.0.7";
  spec["ipFamilies"] = json::Array{"IPv4"};
  EXPECT_FALSE(seen<ServiceView>(service).drifted);
  spec["selector"].as_object()["extra"] = "x";
  EXPECT_TRUE(seen<ServiceView>(service).drifted);

  plan::ApplyShared step;
  step.which = plan::Shared::kDisruptionBudget;
  step.min_available = 2;
  auto budget = build_budget(kOwner, step);
  EXPECT_FALSE(seen<BudgetView>(budget).drifted);
  budget.as_object()["spec"].as_object()["minAvailable"] = 1;
  EXPECT_TRUE(seen<BudgetView>(budget).drifted);
}

TEST(SecretView, KnowsTheCertificateAndItsAuthorityAndNoKey) {
  pki::SeededKeys keys(1);
  const WallTime now(std::chrono::hours(24 * 365 * 50));
  auto authority = pki::Authority::make(keys, "ca", {now, now + std::chrono::hours(24)});
  ASSERT_TRUE(authority);
  pki::LeafRequest request;
  request.names.dns = {"c.ns.svc"};
  request.names.ips = {"127.0.0.1"};
  request.validity = {now, now + std::chrono::hours(1)};
  auto leaf = authority->issue(keys, request);
  ASSERT_TRUE(leaf);
  const auto ca_pem = authority->certificate().pem();
  auto ca = seen<SecretView>(build_tls_secret(kOwner, plan::Shared::kClientCa, "r", ca_pem, ca_pem,
                                              authority->key().pem()));
  auto tls = seen<SecretView>(build_tls_secret(kOwner, plan::Shared::kServerTls, "r", ca_pem,
                                               leaf->certificate_pem(), leaf->key.pem()));
  ASSERT_TRUE(ca.certificate && tls.certificate);
  EXPECT_FALSE(tls.certificate->authority.empty());
  EXPECT_EQ(tls.certificate->authority, ca.certificate->authority);
  EXPECT_EQ(tls.certificate->not_after, now + std::chrono::hours(1));
}

}  // namespace
}  // namespace quorate::op
