#include "api/encoder.h"
#include "api/names.h"
#include "api/placement_fields.h"
#include "base/check.h"
#include "base/launch_contract.h"
#include "json/patch.h"
#include "kube/resource.h"
#include "operator/build.h"

// The Pod of a member. Its arguments carry no state: what is known of the member reaches the launch
// guard as environment from annotations, which are read anew at every start of the container (E24)
// and can be patched.
namespace quorate::op {
namespace {

std::string text(std::string_view view) { return std::string(view); }

json::Value env(std::string_view name, std::string_view value) {
  return json::Object{{"name", name}, {"value", value}};
}

json::Value env_from_annotation(std::string_view name, std::string_view annotation) {
  return json::Object{
      {"name", name},
      {"valueFrom",
       json::Object{{"fieldRef", json::Object{{"fieldPath", "metadata.annotations['" +
                                                                text(annotation) + "']"}}}}}};
}

// What Go is told of the limits: it would see those of the node. A tenth of the memory is left for
// what Go does not count.
void put_go_limits(json::Array& variables, const api::ResourceLimits& limits) {
  if (limits.cpu)
    variables.push_back(env("GOMAXPROCS", std::to_string((limits.cpu->millis() + 999) / 1000)));
  if (limits.memory)
    variables.push_back(env("GOMEMLIMIT", std::to_string(limits.memory->bytes().value() / 10 * 9)));
}

json::Array environment(const Owner& owner, const plan::PodShape& shape) {
  json::Array out{
      env(launch::kEnvMember, shape.name),
      env(launch::kEnvClusterUid, owner.uid.value()),
      env(launch::kEnvIncarnation, std::to_string(shape.incarnation)),
      env(launch::kEnvToken, shape.token),
      env(launch::kEnvPeerUrl, shape.peer_url),
      env_from_annotation(launch::kEnvFormation, api::kAnnotationFormation),
      env_from_annotation(launch::kEnvStarted, api::kAnnotationStarted),
      env_from_annotation(launch::kEnvClusterId, api::kAnnotationClusterId),
      env_from_annotation(launch::kEnvMemberId, api::kAnnotationMemberId),
      env_from_annotation(launch::kEnvInitialCluster, api::kAnnotationInitialCluster),
      env_from_annotation(launch::kEnvFirstPod, api::kAnnotationFirstPod),
      env_from_annotation(launch::kEnvRaftFloor, api::kAnnotationRaftFloor),
  };
  put_go_limits(out, shape.resources.limits);
  return out;
}

json::Object restricted() {
  return {{"allowPrivilegeEscalation", false},
          {"readOnlyRootFilesystem", true},
          {"capabilities", json::Object{{"drop", json::Array{"ALL"}}}}};
}

json::Object resources(const api::ResourcesSpec& spec) {
  json::Object out{{"requests", json::Object{{"cpu", spec.requests.cpu.text()},
                                             {"memory", spec.requests.memory.text()}}}};
  json::Object limits;
  if (spec.limits.cpu) limits["cpu"] = spec.limits.cpu->text();
  if (spec.limits.memory) limits["memory"] = spec.limits.memory->text();
  if (!limits.empty()) out["limits"] = std::move(limits);
  return out;
}

json::Value mount(std::string_view name, std::string_view path, bool read_only) {
  json::Object out{{"name", name}, {"mountPath", path}};
  if (read_only) out["readOnly"] = true;
  return out;
}

json::Value port(std::string_view name, int number) {
  return json::Object{{"name", name}, {"containerPort", number}, {"protocol", "TCP"}};
}

// Readiness asks etcd; liveness only whether the process still listens, so that it depends neither
// on quorum nor on a defragmentation (E19). The startup probe gives a large database ten minutes to
// be opened.
void add_probes(json::Object& container, const plan::PodShape& shape) {
  json::Object tcp{{"tcpSocket", json::Object{{"port", api::kMetricsPort}}}};
  auto startup = tcp;
  startup["periodSeconds"] = 1;
  startup["failureThreshold"] = 600;
  container["startupProbe"] = std::move(startup);
  auto liveness = tcp;
  liveness["periodSeconds"] = 10;
  liveness["failureThreshold"] = 6;
  container["livenessProbe"] = std::move(liveness);
  container["readinessProbe"] =
      json::Object{{"httpGet", json::Object{{"path", shape.readiness_path},
                                            {"port", api::kMetricsPort},
                                            {"scheme", "HTTP"}}},
                   {"periodSeconds", 1},
                   {"timeoutSeconds", 5},
                   {"failureThreshold", 3}};
}

json::Object etcd_container(const Owner& owner, const plan::PodShape& shape) {
  json::Array arguments{"--", text(api::kEtcdProgram)};
  for (const auto& argument : shape.etcd_arguments) arguments.emplace_back(argument);
  json::Array mounts{mount(api::kDataVolume, launch::kVolume, false),
                     mount(api::kPodVolume, launch::kPodFolder, false)};
  if (shape.peer_tls) mounts.push_back(mount(api::kPeerTlsVolume, api::kPeerTlsFolder, true));
  if (shape.client_tls) mounts.push_back(mount(api::kServerTlsVolume, api::kServerTlsFolder, true));
  json::Object container{
      {"name", text(api::kEtcdContainer)},
      {"image", shape.image},
      {"command", json::Array{text(launch::kPodFolder) + "/" + text(launch::kProgram)}},
      {"args", std::move(arguments)},
      {"env", environment(owner, shape)},
      {"ports", json::Array{port(api::kClientPortName, api::kClientPort),
                            port(api::kPeerPortName, api::kPeerPort),
                            port(api::kMetricsPortName, api::kMetricsPort)}},
      {"resources", resources(shape.resources)},
      {"volumeMounts", std::move(mounts)},
      {"securityContext", restricted()},
      // The launch guard writes why it refuses; etcd writes nothing, and its last lines stand in.
      {"terminationMessagePolicy", "FallbackToLogsOnError"},
  };
  if (shape.pull_policy) {
    switch (*shape.pull_policy) {
      case api::PullPolicy::kAlways:
        container["imagePullPolicy"] = "Always";
        break;
      case api::PullPolicy::kIfNotPresent:
        container["imagePullPolicy"] = "IfNotPresent";
        break;
      case api::PullPolicy::kNever:
        container["imagePullPolicy"] = "Never";
        break;
    }
  }
  add_probes(container, shape);
  return container;
}

// It sees the data volume, too, and marks it: so a Pod that never gets as far as etcd leaves a
// volume behind that the next one knows again.
json::Object install_container(const Owner& owner, const plan::PodShape& shape) {
  return {
      {"name", text(api::kInstallContainer)},
      {"image", shape.launch_image},
      {"command", json::Array{text(api::kLaunchProgram), "--install", text(launch::kPodFolder)}},
      {"resources", json::Object{{"requests", json::Object{{"cpu", "10m"}, {"memory", "16Mi"}}}}},
      {"env", environment(owner, shape)},
      {"volumeMounts", json::Array{mount(api::kDataVolume, launch::kVolume, false),
                                   mount(api::kPodVolume, launch::kPodFolder, false)}},
      {"securityContext", restricted()},
      {"terminationMessagePolicy", "File"}};
}

json::Value secret_volume(std::string_view name, const std::string& secret) {
  // Group-readable, because the files belong to root and the Pod does not run as root: fsGroup
  // gives it the group.
  return json::Object{{"name", name},
                      {"secret", json::Object{{"secretName", secret}, {"defaultMode", 0440}}}};
}

json::Object empty_dir(const std::optional<api::EmptyDirStorage>& storage) {
  json::Object out;
  if (!storage) return out;
  if (storage->medium == api::Medium::kMemory) out["medium"] = "Memory";
  if (storage->size_limit) out["sizeLimit"] = storage->size_limit->text();
  return out;
}

json::Array volumes(const Owner& owner, const plan::PodShape& shape) {
  json::Object data{{"name", text(api::kDataVolume)}};
  if (shape.claim)
    data["persistentVolumeClaim"] = json::Object{{"claimName", *shape.claim}};
  else
    data["emptyDir"] = empty_dir(shape.empty_dir);
  json::Array out{std::move(data),
                  json::Object{{"name", text(api::kPodVolume)}, {"emptyDir", json::Object()}}};
  if (shape.peer_tls)
    out.push_back(secret_volume(api::kPeerTlsVolume, api::peer_tls_name(owner.key.name)));
  if (shape.client_tls)
    out.push_back(secret_volume(api::kServerTlsVolume, api::server_tls_name(owner.key.name)));
  return out;
}

// Rather not two members on one node; but a cluster on one node is better than none. Zones are not
// named here: the scheduler passes over nodes that lack any of the labels that constraints name, so
// that on a cluster without zones nothing would be spread at all.
std::vector<api::SpreadConstraint> usual_spread() {
  api::SpreadConstraint nodes;
  nodes.topology_key = "kubernetes.io/hostname";
  nodes.when_unsatisfiable = api::Unsatisfiable::kScheduleAnyway;
  return {nodes};
}

// Rather not two members in one zone, where there are zones.
api::AffinitySpec usual_affinity() {
  api::PreferredPods zones;
  zones.weight = 100;
  zones.term.topology_key = "topology.kubernetes.io/zone";
  api::AffinitySpec out;
  out.anti_pod.emplace().preferred.push_back(std::move(zones));
  return out;
}

// Where no Pods are selected, the members of the cluster are meant.
void select_members(const Owner& owner, std::optional<api::LabelSelector>& labels) {
  if (!labels) labels.emplace().match_labels.set(api::kLabelClusterUid, owner.uid.value());
}

void select_members(const Owner& owner, std::optional<api::PodAffinity>& affinity) {
  if (!affinity) return;
  for (auto& term : affinity->required) select_members(owner, term.labels);
  for (auto& one : affinity->preferred) select_members(owner, one.term.labels);
}

void put_placement(json::Object& spec, const Owner& owner, api::PlacementSpec placement) {
  if (placement.spread.empty() && !placement.affinity) placement.affinity = usual_affinity();
  if (placement.spread.empty()) placement.spread = usual_spread();
  for (auto& one : placement.spread) select_members(owner, one.labels);
  if (placement.affinity) {
    select_members(owner, placement.affinity->pod);
    select_members(owner, placement.affinity->anti_pod);
  }
  const auto placed = api::encode_value(placement);
  for (const auto& member : placed.as_object()) spec[member.key()] = member.value();
}

// A container of somebody else has no more rights than ours, unless it says which.
void restrict_others(json::Value& spec) {
  for (const char* list : {"/containers", "/initContainers"})
    for (auto& container : json::find(spec, list)->as_array()) {
      const auto name = json::text_or(container, "/name", "");
      if (name == api::kEtcdContainer || name == api::kInstallContainer) continue;
      auto& security = container.as_object()["securityContext"];
      if (!security.is_object()) security = json::Object();
      auto& rights = security.get_object();
      if (!rights.contains("allowPrivilegeEscalation")) rights["allowPrivilegeEscalation"] = false;
      if (!rights.contains("capabilities"))
        rights["capabilities"] = json::Object{{"drop", json::Array{"ALL"}}};
    }
}

// The template was tried when the spec was checked.
json::Value merge_template(json::Value spec, const api::RawObject& pod_template) {
  if (pod_template.text.empty()) return spec;
  static const auto schema = json::make_pod_merge_schema();
  auto merged =
      json::apply_strategic_merge_patch(json::Object{{"spec", std::move(spec)}},
                                        json::Object{{"spec", pod_template.value()}}, schema);
  CHECK(merged, "a template that was checked cannot be merged: {}", merged.error().text());
  auto out = std::move(merged->as_object()["spec"]);
  restrict_others(out);
  return out;
}

}  // namespace

api::TextMap pod_state_annotations(const plan::PodState& state) {
  auto out = api::identity_annotations(state.identity);
  out[text(api::kAnnotationFormation)] = state.held             ? launch::kFormationHeld
                                         : state.formation_open ? launch::kFormationOpen
                                                                : launch::kFormationClosed;
  if (state.initial_cluster) out[text(api::kAnnotationInitialCluster)] = *state.initial_cluster;
  return out;
}

json::Value build_pod(const Owner& owner, const plan::CreatePod& step) {
  const auto& shape = step.shape;
  auto object = kube::make_object(kube::kPods, {owner.key.ns, shape.name});
  auto& metadata = object.as_object()["metadata"].as_object();
  auto labels = cluster_labels(owner, api::kComponentMember);
  for (const auto& [key, value] : api::identity_labels(step.state.identity)) labels[key] = value;
  if (step.voter) labels[text(api::kLabelVoter)] = text(api::kTrue);
  metadata["labels"] = std::move(labels);
  auto annotations = pod_state_annotations(step.state);
  annotations[text(api::kAnnotationRendered)] = step.rendered;
  if (step.first_pod) annotations[text(api::kAnnotationFirstPod)] = text(api::kTrue);
  metadata["annotations"] = to_json(annotations);
  kube::Meta cluster;
  cluster.key = owner.key;
  cluster.uid = owner.uid;
  metadata["ownerReferences"] =
      json::Array{kube::make_owner_reference(kube::kEtcdClusters, cluster, true)};

  constexpr int kNobody = 65532;
  json::Object spec{
      {"hostname", shape.name},
      {"subdomain", api::peer_service_name(owner.key.name)},
      {"restartPolicy", "Always"},
      {"automountServiceAccountToken", false},
      {"enableServiceLinks", false},
      {"terminationGracePeriodSeconds", 30},
      {"securityContext",
       json::Object{{"runAsNonRoot", true},
                    {"runAsUser", kNobody},
                    {"runAsGroup", kNobody},
                    {"fsGroup", kNobody},
                    {"fsGroupChangePolicy", "OnRootMismatch"},
                    {"seccompProfile", json::Object{{"type", "RuntimeDefault"}}}}},
      {"initContainers", json::Array{install_container(owner, shape)}},
      {"containers", json::Array{etcd_container(owner, shape)}},
      {"volumes", volumes(owner, shape)},
  };
  put_placement(spec, owner, shape.placement);
  if (!shape.pull_secrets.empty()) {
    json::Array secrets;
    for (const auto& name : shape.pull_secrets) secrets.push_back(json::Object{{"name", name}});
    spec["imagePullSecrets"] = std::move(secrets);
  }
  object.as_object()["spec"] = merge_template(std::move(spec), shape.pod_template.spec);
  add_metadata(object, api::join_metadata(owner.metadata, shape.pod_template.metadata));
  return object;
}

}  // namespace quorate::op
