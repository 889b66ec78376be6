#pragma once

#include "api/describe.h"
#include "api/placement.h"

// Where Pods run, field by field. Names and rules are those of Kubernetes' own fields, so that what
// we take, it takes.
namespace quorate::api {

template <>
struct EnumNames<LabelOperator> {
  static constexpr std::array kNames{
      std::pair{LabelOperator::kIn, std::string_view("In")},
      std::pair{LabelOperator::kNotIn, std::string_view("NotIn")},
      std::pair{LabelOperator::kExists, std::string_view("Exists")},
      std::pair{LabelOperator::kDoesNotExist, std::string_view("DoesNotExist")}};
};
template <>
struct EnumNames<NodeOperator> {
  static constexpr std::array kNames{
      std::pair{NodeOperator::kIn, std::string_view("In")},
      std::pair{NodeOperator::kNotIn, std::string_view("NotIn")},
      std::pair{NodeOperator::kExists, std::string_view("Exists")},
      std::pair{NodeOperator::kDoesNotExist, std::string_view("DoesNotExist")},
      std::pair{NodeOperator::kGt, std::string_view("Gt")},
      std::pair{NodeOperator::kLt, std::string_view("Lt")}};
};
template <>
struct EnumNames<Unsatisfiable> {
  static constexpr std::array kNames{
      std::pair{Unsatisfiable::kDoNotSchedule, std::string_view("DoNotSchedule")},
      std::pair{Unsatisfiable::kScheduleAnyway, std::string_view("ScheduleAnyway")}};
};
template <>
struct EnumNames<NodePolicy> {
  static constexpr std::array kNames{std::pair{NodePolicy::kHonor, std::string_view("Honor")},
                                     std::pair{NodePolicy::kIgnore, std::string_view("Ignore")}};
};
template <>
struct EnumNames<TolerationOperator> {
  static constexpr std::array kNames{
      std::pair{TolerationOperator::kEqual, std::string_view("Equal")},
      std::pair{TolerationOperator::kExists, std::string_view("Exists")}};
};
template <>
struct EnumNames<TaintEffect> {
  static constexpr std::array kNames{
      std::pair{TaintEffect::kNoSchedule, std::string_view("NoSchedule")},
      std::pair{TaintEffect::kPreferNoSchedule, std::string_view("PreferNoSchedule")},
      std::pair{TaintEffect::kNoExecute, std::string_view("NoExecute")}};
};

inline constexpr std::size_t kMaxTerms = 8;    // of affinities, spreads and selectors
inline constexpr std::size_t kMaxValues = 16;  // of one requirement

// Operators and the number of their values.
inline constexpr CelRule kLabelValuesRule{
    "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
    "In and NotIn need values, Exists and DoesNotExist have none"};
inline constexpr CelRule kNodeValuesRule{
    "self.operator in ['In', 'NotIn'] && has(self.values) && size(self.values) > 0 || "
    "self.operator in ['Gt', 'Lt'] && has(self.values) && size(self.values) == 1 && "
    "self.values.all(one, one.matches('^[0-9]{1,18}$')) || "
    "self.operator in ['Exists', 'DoesNotExist'] && (!has(self.values) || size(self.values) == "
    "0)",
    "In and NotIn need values, Gt and Lt one whole number, Exists and DoesNotExist none"};

template <class Visitor>
void describe(Visitor& visit, const LabelRequirement*) {
  visit.type("What a label must be.");
  visit.field(
      {.name = "key", .text = "Key of the label.", .required = true, .rule = &kLabelKeyRule},
      &LabelRequirement::key);
  visit.field({.name = "operator", .text = "How it is compared.", .required = true},
              &LabelRequirement::op);
  visit.field({.name = "values",
               .text = "What it is compared with.",
               .rule = &kLabelValueRule,
               .max_items = kMaxValues},
              &LabelRequirement::values);
  visit.rule(kLabelValuesRule);
}

template <class Visitor>
void describe(Visitor& visit, const LabelSelector*) {
  visit.type("Selects objects by their labels: all of it must hold.");
  visit.field({.name = "matchLabels",
               .text = "Labels that they have.",
               .rule = &kLabelValueRule,
               .key_rule = &kLabelKeyRule,
               .max_items = kMaxValues},
              &LabelSelector::match_labels);
  visit.field(
      {.name = "matchExpressions", .text = "What their labels must be.", .max_items = kMaxTerms},
      &LabelSelector::match_expressions);
}

template <class Visitor>
void describe(Visitor& visit, const NodeRequirement*) {
  visit.type("What a label of a node must be.");
  visit.field(
      {.name = "key", .text = "Key of the label.", .required = true, .rule = &kLabelKeyRule},
      &NodeRequirement::key);
  visit.field({.name = "operator", .text = "How it is compared.", .required = true},
              &NodeRequirement::op);
  visit.field({.name = "values",
               .text = "What it is compared with.",
               .rule = &kLabelValueRule,
               .max_items = kMaxValues},
              &NodeRequirement::values);
  visit.rule(kNodeValuesRule);
}

template <class Visitor>
void describe(Visitor& visit, const NodeTerm*) {
  visit.type("Nodes, by their labels and fields: all of it must hold.");
  visit.field(
      {.name = "matchExpressions", .text = "What their labels must be.", .max_items = kMaxTerms},
      &NodeTerm::match_expressions);
  visit.field({.name = "matchFields", .text = "What their fields must be.", .max_items = kMaxTerms},
              &NodeTerm::match_fields);
}

template <class Visitor>
void describe(Visitor& visit, const NodeTerms*) {
  visit.type("Nodes on which any of the terms holds.");
  visit.field(
      {.name = "nodeSelectorTerms", .text = "The terms.", .required = true, .max_items = kMaxTerms},
      &NodeTerms::terms);
  visit.rule({"size(self.nodeSelectorTerms) > 0", "nodeSelectorTerms must not be empty"});
}

template <class Visitor>
void describe(Visitor& visit, const PreferredNodes*) {
  visit.type("Nodes that are preferred.");
  visit.field(
      {.name = "weight", .text = "How much.", .required = true, .minimum = 1, .maximum = 100},
      &PreferredNodes::weight);
  visit.field({.name = "preference", .text = "Which.", .required = true},
              &PreferredNodes::preference);
}

template <class Visitor>
void describe(Visitor& visit, const NodeAffinity*) {
  visit.type("On which nodes members run.");
  visit.field({.name = "requiredDuringSchedulingIgnoredDuringExecution",
               .text = "On no others than these."},
              &NodeAffinity::required);
  visit.field({.name = "preferredDuringSchedulingIgnoredDuringExecution",
               .text = "Rather on these.",
               .max_items = kMaxTerms},
              &NodeAffinity::preferred);
}

template <class Visitor>
void describe(Visitor& visit, const PodTerm*) {
  visit.type("Pods, and what counts as the same place.");
  visit.field({.name = "labelSelector", .text = "Which Pods. Absent: the members of this cluster."},
              &PodTerm::labels);
  visit.field({.name = "topologyKey",
               .text = "Nodes with the same value of this label are one place.",
               .required = true,
               .rule = &kLabelKeyRule},
              &PodTerm::topology_key);
  visit.field({.name = "namespaces",
               .text = "Namespaces of the Pods. Absent: that of the cluster.",
               .rule = &kObjectNameRule,
               .max_items = kMaxValues},
              &PodTerm::namespaces);
  visit.field({.name = "namespaceSelector", .text = "More namespaces, by their labels."},
              &PodTerm::namespace_selector);
}

template <class Visitor>
void describe(Visitor& visit, const PreferredPods*) {
  visit.type("Pods whose place is preferred, or avoided.");
  visit.field(
      {.name = "weight", .text = "How much.", .required = true, .minimum = 1, .maximum = 100},
      &PreferredPods::weight);
  visit.field({.name = "podAffinityTerm", .text = "Which.", .required = true},
              &PreferredPods::term);
}

template <class Visitor>
void describe(Visitor& visit, const PodAffinity*) {
  visit.type("Beside which Pods members run, or not.");
  visit.field({.name = "requiredDuringSchedulingIgnoredDuringExecution",
               .text = "In any case.",
               .max_items = kMaxTerms},
              &PodAffinity::required);
  visit.field({.name = "preferredDuringSchedulingIgnoredDuringExecution",
               .text = "Rather.",
               .max_items = kMaxTerms},
              &PodAffinity::preferred);
}

template <class Visitor>
void describe(Visitor& visit, const AffinitySpec*) {
  visit.type("Which nodes and which neighbours members are drawn to.");
  visit.field({.name = "nodeAffinity", .text = "On which nodes they run."}, &AffinitySpec::node);
  visit.field({.name = "podAffinity", .text = "Beside which Pods they run."}, &AffinitySpec::pod);
  visit.field({.name = "podAntiAffinity", .text = "Beside which Pods they do not run."},
              &AffinitySpec::anti_pod);
}

inline constexpr CelRule kMinDomainsRule{
    "!has(self.minDomains) || self.whenUnsatisfiable == 'DoNotSchedule'",
    "minDomains needs whenUnsatisfiable to be DoNotSchedule"};

template <class Visitor>
void describe(Visitor& visit, const SpreadConstraint*) {
  visit.type("How evenly members are spread.");
  visit.field({.name = "maxSkew",
               .text = "How many more may be in one place than in another.",
               .required = true,
               .minimum = 1,
               .maximum = 100},
              &SpreadConstraint::max_skew);
  visit.field({.name = "topologyKey",
               .text = "Nodes with the same value of this label are one place.",
               .required = true,
               .rule = &kLabelKeyRule},
              &SpreadConstraint::topology_key);
  visit.field({.name = "whenUnsatisfiable",
               .text = "Whether a member waits until it fits.",
               .required = true},
              &SpreadConstraint::when_unsatisfiable);
  visit.field({.name = "labelSelector",
               .text = "Which Pods are counted. Absent: the members of this cluster."},
              &SpreadConstraint::labels);
  visit.field({.name = "minDomains",
               .text = "How many places there are at least.",
               .minimum = 1,
               .maximum = 100},
              &SpreadConstraint::min_domains);
  visit.field({.name = "nodeAffinityPolicy",
               .text = "Whether nodes that the member may not run on are left out."},
              &SpreadConstraint::node_affinity_policy);
  visit.field({.name = "nodeTaintsPolicy",
               .text = "Whether nodes that the member does not tolerate are left out."},
              &SpreadConstraint::node_taints_policy);
  visit.rule(kMinDomainsRule);
}

inline constexpr std::array kTolerationRules{
    CelRule{"self.operator == 'Equal' || !has(self.value) || self.value == ''",
            "value must be absent if operator is Exists"},
    CelRule{"has(self.key) && self.key != '' || self.operator == 'Exists'",
            "operator must be Exists if there is no key: all taints are tolerated then"},
    CelRule{"!has(self.tolerationSeconds) || has(self.effect) && self.effect == 'NoExecute'",
            "tolerationSeconds needs effect to be NoExecute"}};

template <class Visitor>
void describe(Visitor& visit, const Toleration*) {
  visit.type("A taint of nodes that members tolerate.");
  visit.field({.name = "key", .text = "Key of the taint. Absent: every.", .rule = &kLabelKeyRule},
              &Toleration::key);
  visit.field({.name = "operator", .text = "How it is compared.", .defaulted = true},
              &Toleration::op);
  visit.field({.name = "value", .text = "Value of the taint.", .rule = &kLabelValueRule},
              &Toleration::value);
  visit.field({.name = "effect", .text = "Effect of the taint. Absent: every."},
              &Toleration::effect);
  visit.field({.name = "tolerationSeconds",
               .text = "How long a taint that drives Pods away is tolerated. Absent: for ever."},
              &Toleration::seconds);
  for (const auto& rule : kTolerationRules) visit.rule(rule);
}

template <class Visitor>
void describe(Visitor& visit, const PlacementSpec*) {
  visit.field(
      {.name = "affinity", .text = "Which nodes and which neighbours members are drawn to."},
      &PlacementSpec::affinity);
  visit.field({.name = "topologySpreadConstraints",
               .text = "How evenly members are spread. Absent: rather not two on one node, nor in "
                       "one zone.",
               .max_items = kMaxTerms},
              &PlacementSpec::spread);
  visit.field({.name = "nodeSelector",
               .text = "Labels of the nodes that members run on.",
               .rule = &kLabelValueRule,
               .key_rule = &kLabelKeyRule,
               .max_items = kMaxValues},
              &PlacementSpec::node_selector);
  visit.field({.name = "tolerations",
               .text = "Taints of nodes that members tolerate.",
               .max_items = kMaxValues},
              &PlacementSpec::tolerations);
  visit.field({.name = "priorityClassName",
               .text = "How important members are to Kubernetes.",
               .rule = &kObjectNameRule},
              &PlacementSpec::priority_class);
  visit.rule(
      {"!has(self.topologySpreadConstraints) || self.topologySpreadConstraints.all(a, "
       "self.topologySpreadConstraints.exists_one(b, b.topologyKey == a.topologyKey && "
       "b.whenUnsatisfiable == a.whenUnsatisfiable))",
       "topologySpreadConstraints must not have a topologyKey twice with the same "
       "whenUnsatisfiable"});
}

}  // namespace quorate::api
