#include "operator/install.h"

#include "api/names.h"
#include "base/check.h"
#include "json/yaml.h"
#include "operator/assets.h"

namespace quorate::op {
namespace {

constexpr std::string_view kName = "quorate-operator";
constexpr int kPort = 8080;
constexpr std::string_view kPortName = "http";

std::string text(std::string_view view) { return std::string(view); }

json::Object labels() {
  return {{text(api::kLabelName), "quorate"}, {text(api::kLabelComponent), "operator"}};
}

json::Object head(std::string_view api_version, std::string_view kind, const std::string& ns,
                  std::string_view name) {
  json::Object metadata{{"name", name}};
  if (!ns.empty()) metadata["namespace"] = ns;
  metadata["labels"] = labels();
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

json::Object probe(std::string_view path, int period, int failures) {
  return {{"httpGet", json::Object{{"path", path}, {"port", kPortName}}},
          {"periodSeconds", period},
          {"failureThreshold", failures}};
}

json::Array arguments(const InstallOptions& options) {
  json::Array out{"operator", "--launch-image=" + options.image,
                  "--lease=" + options.rbac.operator_namespace + "/" + text(kName)};
  for (const auto& watched : options.rbac.watched_namespaces)
    out.emplace_back("--namespace=" + watched);
  return out;
}

json::Object container(const InstallOptions& options) {
  const json::Object pod_name{
      {"fieldRef", json::Object{{"apiVersion", "v1"}, {"fieldPath", "metadata.name"}}}};
  return {
      {"name", "operator"},
      {"image", options.image},
      {"imagePullPolicy", "IfNotPresent"},
      {"args", arguments(options)},
      {"env",
       json::Array{json::Object{{"name", "QUORATE_REPLICA"}, {"valueFrom", std::move(pod_name)}}}},
      {"ports", json::Array{json::Object{
                    {"name", kPortName}, {"containerPort", kPort}, {"protocol", "TCP"}}}},
      {"startupProbe", probe("/healthz", 1, 30)},
      {"livenessProbe", probe("/healthz", 10, 3)},
      {"readinessProbe", probe("/readyz", 2, 3)},
      {"resources", json::Object{{"requests", json::Object{{"cpu", "20m"}, {"memory", "32Mi"}}},
                                 {"limits", json::Object{{"memory", "512Mi"}}}}},
      {"securityContext",
       json::Object{{"allowPrivilegeEscalation", false},
                    {"readOnlyRootFilesystem", true},
                    {"capabilities", json::Object{{"drop", json::Array{"ALL"}}}}}},
  };
}

// The two replicas rather on two nodes; gone from a lost node as soon as Kubernetes says so, since
// the other one has taken over by then.
json::Object pod(const InstallOptions& options) {
  json::Array tolerations;
  for (std::string_view key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
    tolerations.push_back(json::Object{
        {"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 30}});
  return {
      {"serviceAccountName", options.rbac.service_account},
      {"priorityClassName", "system-cluster-critical"},
      {"terminationGracePeriodSeconds", 30},
      {"securityContext",
       json::Object{{"runAsNonRoot", true},
                    {"runAsUser", 65532},
                    {"runAsGroup", 65532},
                    {"seccompProfile", json::Object{{"type", "RuntimeDefault"}}}}},
      {"containers", json::Array{container(options)}},
      {"tolerations", std::move(tolerations)},
      {"topologySpreadConstraints",
       json::Array{json::Object{{"maxSkew", 1},
                                {"topologyKey", "kubernetes.io/hostname"},
                                {"whenUnsatisfiable", "ScheduleAnyway"},
                                {"labelSelector", json::Object{{"matchLabels", labels()}}}}}},
  };
}

json::Value deployment(const InstallOptions& options) {
  auto out = head("apps/v1", "Deployment", options.rbac.operator_namespace, kName);
  out["spec"] = json::Object{
      {"replicas", options.replicas},
      {"selector", json::Object{{"matchLabels", labels()}}},
      {"template",
       json::Object{{"metadata", json::Object{{"labels", labels()}}}, {"spec", pod(options)}}}};
  return out;
}

json::Value budget(const InstallOptions& options) {
  auto out = head("policy/v1", "PodDisruptionBudget", options.rbac.operator_namespace, kName);
  out["spec"] =
      json::Object{{"maxUnavailable", 1}, {"selector", json::Object{{"matchLabels", labels()}}}};
  return out;
}

json::Value service(const InstallOptions& options) {
  auto out = head("v1", "Service", options.rbac.operator_namespace, "quorate-operator-metrics");
  out["spec"] = json::Object{
      {"selector", labels()},
      {"ports",
       json::Array{json::Object{
           {"name", kPortName}, {"port", kPort}, {"protocol", "TCP"}, {"targetPort", kPortName}}}}};
  return out;
}

// One port is open, from anywhere: probes come from nodes, metrics are fetched by whoever people
// chose for it, and nothing behind it is secret. What goes out is left open: the API server's
// address is not known here, and members are in every namespace.
json::Value network_policy(const InstallOptions& options) {
  auto out = head("networking.k8s.io/v1", "NetworkPolicy", options.rbac.operator_namespace, kName);
  out["spec"] = json::Object{
      {"podSelector", json::Object{{"matchLabels", labels()}}},
      {"policyTypes", json::Array{"Ingress"}},
      {"ingress",
       json::Array{json::Object{
           {"ports", json::Array{json::Object{{"port", kPort}, {"protocol", "TCP"}}}}}}}};
  return out;
}

// Its metrics of clusters are labelled with the clusters' namespaces, which Prometheus would
// otherwise replace by the operator's own.
json::Value service_monitor(const InstallOptions& options) {
  auto out =
      head("monitoring.coreos.com/v1", "ServiceMonitor", options.rbac.operator_namespace, kName);
  out["spec"] = json::Object{
      {"selector", json::Object{{"matchLabels", labels()}}},
      {"endpoints", json::Array{json::Object{{"port", kPortName}, {"honorLabels", true}}}}};
  return out;
}

json::Value pod_monitor(const InstallOptions& options) {
  auto out = head("monitoring.coreos.com/v1", "PodMonitor", options.rbac.operator_namespace,
                  "quorate-members");
  const auto& watched = options.rbac.watched_namespaces;
  json::Object where{{"any", true}};
  if (!watched.empty())
    where = json::Object{{"matchNames", json::Array(watched.begin(), watched.end())}};
  out["spec"] = json::Object{
      {"namespaceSelector", std::move(where)},
      {"selector",
       json::Object{{"matchLabels",
                     json::Object{{text(api::kLabelManagedBy), text(api::kManagedBy)},
                                  {text(api::kLabelComponent), text(api::kComponentMember)}}}}},
      {"podTargetLabels", json::Array{text(api::kLabelCluster)}},
      {"podMetricsEndpoints", json::Array{json::Object{{"port", text(api::kMetricsPortName)}}}}};
  return out;
}

// deploy/prometheus/alerts.yaml, which was built in.
json::Value alerts(const InstallOptions& options) {
  const auto assets = all_assets();
  CHECK(assets.size() == 1);
  auto parsed = json::parse_yaml(assets.front().text);
  CHECK(parsed, "alerts.yaml: {}", parsed.error().text());
  auto out = std::move(parsed->value);
  out.at("metadata").as_object()["namespace"] = options.rbac.operator_namespace;
  return out;
}

// A cluster's records and claims are its memory of who its members are and where their data is.
// Only the operator, the garbage collector and the namespace controller may delete them.
void add_admission_policy(std::vector<json::Value>& out, const InstallOptions& options) {
  const std::string operator_user = "system:serviceaccount:" + options.rbac.operator_namespace +
                                    ":" + options.rbac.service_account;
  auto policy = head("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "",
                     "quorate-members-are-the-operators");
  auto rule = [](std::string_view group, std::string_view version, std::string_view resource) {
    return json::Object{{"apiGroups", json::Array{text(group)}},
                        {"apiVersions", json::Array{text(version)}},
                        {"operations", json::Array{"DELETE"}},
                        {"resources", json::Array{text(resource)}}};
  };
  json::Array who;
  for (const auto& user :
       {operator_user, std::string("system:serviceaccount:kube-system:generic-garbage-collector"),
        std::string("system:serviceaccount:kube-system:namespace-controller")})
    who.emplace_back("request.userInfo.username == '" + user + "'");
  std::string allowed;
  for (const auto& one : who) allowed += (allowed.empty() ? "" : " || ") + text(one.as_string());
  policy["spec"] = json::Object{
      {"failurePolicy", "Fail"},
      {"matchConstraints",
       json::Object{
           {"resourceRules", json::Array{rule(api::kGroup, api::kVersion, api::kMemberKind.plural),
                                         rule("", "v1", "persistentvolumeclaims")}},
           {"objectSelector",
            json::Object{
                {"matchLabels",
                 json::Object{{text(api::kLabelManagedBy), text(api::kManagedBy)},
                              {text(api::kLabelComponent), text(api::kComponentMember)}}}}}}},
      {"validations",
       json::Array{json::Object{
           {"expression", allowed},
           {"message",
            "records and claims of etcd members are deleted by the operator alone: scale "
            "or delete the EtcdCluster instead"},
           {"reason", "Forbidden"}}}}};
  auto binding = head("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "",
                      "quorate-members-are-the-operators");
  binding["spec"] = json::Object{{"policyName", "quorate-members-are-the-operators"},
                                 {"validationActions", json::Array{"Deny"}}};
  out.emplace_back(std::move(policy));
  out.emplace_back(std::move(binding));
}

}  // namespace

std::vector<json::Value> make_install(const InstallOptions& options) {
  std::vector<json::Value> out{deployment(options), budget(options), service(options),
                               network_policy(options)};
  if (options.monitoring) {
    out.push_back(service_monitor(options));
    out.push_back(pod_monitor(options));
    out.push_back(alerts(options));
  }
  if (options.admission_policy) add_admission_policy(out, options);
  return out;
}

}  // namespace quorate::op
