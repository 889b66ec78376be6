#pragma once

#include "api/describe.h"
#include "api/services.h"

// Metadata and Services, field by field.
namespace quorate::api {

template <>
struct EnumNames<ServiceType> {
  static constexpr std::array kNames{
      std::pair{ServiceType::kClusterIp, std::string_view("ClusterIP")},
      std::pair{ServiceType::kNodePort, std::string_view("NodePort")},
      std::pair{ServiceType::kLoadBalancer, std::string_view("LoadBalancer")}};
};
template <>
struct EnumNames<TrafficPolicy> {
  static constexpr std::array kNames{
      std::pair{TrafficPolicy::kCluster, std::string_view("Cluster")},
      std::pair{TrafficPolicy::kLocal, std::string_view("Local")}};
};
// All of them together stay below what Kubernetes lets an object carry.
inline constexpr std::size_t kMaxMarks = 32;

inline constexpr CelRule kLabelsAreTheirs{
    "!has(self.labels) || self.labels.all(key, !key.startsWith('quorate.io/') && !(key in "
    "['app.kubernetes.io/name', 'app.kubernetes.io/instance', 'app.kubernetes.io/managed-by', "
    "'app.kubernetes.io/component']))",
    "labels must not have keys that Quorate sets: quorate.io/*, app.kubernetes.io/name, instance, "
    "managed-by and component"};
inline constexpr CelRule kAnnotationsAreTheirs{
    "!has(self.annotations) || self.annotations.all(key, !key.startsWith('quorate.io/') && !(key "
    "in ['app.kubernetes.io/name', 'app.kubernetes.io/instance', 'app.kubernetes.io/managed-by', "
    "'app.kubernetes.io/component']))",
    "annotations must not have keys that Quorate sets: quorate.io/*, app.kubernetes.io/name, "
    "instance, managed-by and component"};

template <class Visitor>
void describe(Visitor& visit, const MetadataSpec*) {
  visit.type("Labels and annotations beside those that Quorate gives.");
  visit.field({.name = "labels",
               .text = "Labels by key.",
               .rule = &kLabelValueRule,
               .key_rule = &kLabelKeyRule,
               .max_items = kMaxMarks},
              &MetadataSpec::labels);
  visit.field({.name = "annotations",
               .text = "Annotations by key.",
               .rule = &kAnnotationValueRule,
               .key_rule = &kLabelKeyRule,
               .max_items = kMaxMarks},
              &MetadataSpec::annotations);
  visit.rule(kLabelsAreTheirs);
  visit.rule(kAnnotationsAreTheirs);
}

inline constexpr std::array kClientServiceRules{
    CelRule{"!has(self.nodePort) || self.type != 'ClusterIP'",
            "nodePort needs type to be NodePort or LoadBalancer"},
    CelRule{"!has(self.externalTrafficPolicy) || self.type != 'ClusterIP'",
            "externalTrafficPolicy needs type to be NodePort or LoadBalancer"},
    CelRule{"!has(self.loadBalancerClass) && (!has(self.loadBalancerSourceRanges) || "
            "size(self.loadBalancerSourceRanges) == 0) || self.type == 'LoadBalancer'",
            "loadBalancerClass and loadBalancerSourceRanges need type to be LoadBalancer"}};

template <class Visitor>
void describe(Visitor& visit, const ClientServiceSpec*) {
  visit.type("How clients reach the members. Selector and ports are Quorate's.");
  visit.field({.name = "type", .text = "From where it is reached.", .defaulted = true},
              &ClientServiceSpec::type);
  visit.field({.name = "nodePort",
               .text = "The port on every node. Absent: Kubernetes chooses one.",
               .minimum = 1,
               .maximum = 65535},
              &ClientServiceSpec::node_port);
  visit.field(
      {.name = "loadBalancerClass", .text = "Who makes the load balancer.", .rule = &kLabelKeyRule},
      &ClientServiceSpec::load_balancer_class);
  visit.field({.name = "loadBalancerSourceRanges",
               .text = "From which networks it is reached.",
               .rule = &kNetworkRule,
               .max_items = 32},
              &ClientServiceSpec::load_balancer_source_ranges);
  visit.field({.name = "externalTrafficPolicy",
               .text = "Whether nodes without a member forward connections from outside."},
              &ClientServiceSpec::external_traffic_policy);
  visit.field({.name = "internalTrafficPolicy",
               .text = "Whether nodes without a member forward connections from inside."},
              &ClientServiceSpec::internal_traffic_policy);
  for (const auto& rule : kClientServiceRules) visit.rule(rule);
}

template <class Visitor>
void describe(Visitor& visit, const ClientService*) {
  visit.type("The Service that clients use.");
  visit.field({.name = "metadata", .text = "Labels and annotations of this Service."},
              &ClientService::metadata);
  visit.field(
      {.name = "spec", .text = "How clients reach the members. Selector and ports are Quorate's."},
      &ClientService::spec);
}

template <class Visitor>
void describe(Visitor& visit, const PeerService*) {
  visit.type("The headless Service by which members find each other.");
  visit.field({.name = "metadata", .text = "Labels and annotations of this Service."},
              &PeerService::metadata);
}

template <class Visitor>
void describe(Visitor& visit, const ServicesSpec*) {
  visit.type("How the Services differ from the usual.");
  visit.field({.name = "client", .text = "The Service that clients use."}, &ServicesSpec::client);
  visit.field({.name = "peer", .text = "The headless Service by which members find each other."},
              &ServicesSpec::peer);
}

}  // namespace quorate::api
