#include "api/encoder.h"
#include "api/names.h"
#include "api/services_fields.h"
#include "base/bytes.h"
#include "kube/resource.h"
#include "operator/build.h"
#include "operator/views.h"

namespace quorate::op {
namespace {

json::Value head(const Owner& owner, kube::Resource resource, const std::string& name,
                 std::string_view rendered) {
  auto object = kube::make_object(resource, {owner.key.ns, name});
  auto& metadata = object.as_object()["metadata"].as_object();
  metadata["labels"] = cluster_labels(owner, api::kComponentShared);
  metadata["annotations"] = json::Object{{std::string(api::kAnnotationRendered), rendered}};
  kube::Meta meta;
  meta.key = owner.key;
  meta.uid = owner.uid;
  metadata["ownerReferences"] =
      json::Array{kube::make_owner_reference(kube::kEtcdClusters, meta, true)};
  return object;
}

json::Value port(std::string_view name, int number) {
  return json::Object{
      {"name", name}, {"port", number}, {"protocol", "TCP"}, {"targetPort", number}};
}

// Those that the server would fill in are said, so that an edit of them is noticed.
void put_client_settings(json::Object& spec, const api::ClientServiceSpec& wanted) {
  spec["type"] = api::enum_name(wanted.type);
  spec["internalTrafficPolicy"] =
      api::enum_name(wanted.internal_traffic_policy.value_or(api::TrafficPolicy::kCluster));
  if (wanted.type != api::ServiceType::kClusterIp)
    spec["externalTrafficPolicy"] =
        api::enum_name(wanted.external_traffic_policy.value_or(api::TrafficPolicy::kCluster));
  if (wanted.load_balancer_class) spec["loadBalancerClass"] = *wanted.load_balancer_class;
  if (!wanted.load_balancer_source_ranges.empty())
    spec["loadBalancerSourceRanges"] = api::encode_value(wanted.load_balancer_source_ranges);
  if (wanted.node_port) spec["ports"].as_array()[0].as_object()["nodePort"] = *wanted.node_port;
}

void set_spec(json::Value& object, json::Object spec, std::string (*owned_in)(const json::Value&)) {
  json::Value value(std::move(spec));
  auto& root = object.as_object();
  root["metadata"].as_object()["annotations"].as_object()[std::string(api::kAnnotationOwned)] =
      owned_in(value);
  root["spec"] = std::move(value);
}

// What is selected where no Pod is to be found: none is labelled so.
constexpr std::string_view kNotYet = "not-yet";

// Pods of this very cluster, not of an earlier one of the same name; none, unless it is `open`.
json::Object select(const Owner& owner, std::string_view label, bool open = true) {
  json::Object selector{{std::string(api::kLabelClusterUid), owner.uid.value()},
                        {std::string(api::kLabelComponent), std::string(api::kComponentMember)}};
  if (!label.empty()) selector[std::string(label)] = std::string(open ? api::kTrue : kNotYet);
  return selector;
}

}  // namespace

json::Object to_json(const api::TextMap& map) {
  json::Object out;
  for (const auto& [key, value] : map) out[key] = value;
  return out;
}

json::Object cluster_labels(const Owner& owner, std::string_view component) {
  return {{std::string(api::kLabelName), std::string(api::kAppName)},
          {std::string(api::kLabelInstance), owner.key.name},
          {std::string(api::kLabelManagedBy), std::string(api::kManagedBy)},
          {std::string(api::kLabelComponent), std::string(component)},
          {std::string(api::kLabelCluster), owner.key.name},
          {std::string(api::kLabelClusterUid), owner.uid.value()}};
}

// Publishes addresses of members that are not ready: peers must find each other before there is a
// quorum to be ready with.
json::Value build_peer_service(const Owner& owner, const plan::ApplyShared& step) {
  auto object = head(owner, kube::kServices, api::peer_service_name(owner.key.name), step.rendered);
  set_spec(object,
           {{"type", "ClusterIP"},
            {"clusterIP", "None"},
            {"publishNotReadyAddresses", true},
            {"internalTrafficPolicy", "Cluster"},
            {"sessionAffinity", "None"},
            {"selector", select(owner, "")},
            {"ports", json::Array{port(api::kClientPortName, api::kClientPort),
                                  port(api::kPeerPortName, api::kPeerPort)}}},
           owned_in_service);
  add_metadata(object, api::join_metadata(owner.metadata, step.services.peer.metadata));
  return object;
}

json::Value build_client_service(const Owner& owner, const plan::ApplyShared& step) {
  auto object =
      head(owner, kube::kServices, api::client_service_name(owner.key.name), step.rendered);
  json::Object spec{{"sessionAffinity", "None"},
                    {"selector", select(owner, api::kLabelServing, step.open)},
                    {"ports", json::Array{port(api::kClientPortName, api::kClientPort)}}};
  put_client_settings(spec, step.services.client.spec);
  set_spec(object, std::move(spec), owned_in_service);
  add_metadata(object, api::join_metadata(owner.metadata, step.services.client.metadata));
  return object;
}

json::Value build_budget(const Owner& owner, const plan::ApplyShared& step) {
  auto object = head(owner, kube::kPodDisruptionBudgets,
                     api::disruption_budget_name(owner.key.name), step.rendered);
  set_spec(object,
           {{"minAvailable", step.min_available},
            {"selector", json::Object{{"matchLabels", select(owner, api::kLabelVoter)}}}},
           owned_in_budget);
  add_metadata(object, owner.metadata);
  return object;
}

json::Value build_tls_secret(const Owner& owner, plan::Shared which, std::string_view rendered,
                             std::string_view ca_pem, std::string_view certificate_pem,
                             const Secret& key_pem) {
  auto object = head(owner, kube::kSecrets, plan::name_of(which, owner.key.name), rendered);
  object.as_object()["type"] = "kubernetes.io/tls";
  object.as_object()["data"] =
      json::Object{{std::string(api::kSecretCa), encode_base64(ca_pem)},
                   {std::string(api::kSecretCertificate), encode_base64(certificate_pem)},
                   {std::string(api::kSecretKey), encode_base64(key_pem.reveal())}};
  add_metadata(object, owner.metadata);
  return object;
}

}  // namespace quorate::op
