#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/text_table.h"

// Where the Pods of members run, in the words of Kubernetes. Described in placement_fields.h.
namespace quorate::api {

enum class LabelOperator { kIn, kNotIn, kExists, kDoesNotExist };

struct LabelRequirement {
  std::string key;
  LabelOperator op = LabelOperator::kIn;
  std::vector<std::string> values;
  friend bool operator==(const LabelRequirement&, const LabelRequirement&) = default;
};

struct LabelSelector {
  TextTable match_labels;
  std::vector<LabelRequirement> match_expressions;
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

enum class NodeOperator { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

struct NodeRequirement {
  std::string key;
  NodeOperator op = NodeOperator::kIn;
  std::vector<std::string> values;
  friend bool operator==(const NodeRequirement&, const NodeRequirement&) = default;
};

struct NodeTerm {
  std::vector<NodeRequirement> match_expressions;
  std::vector<NodeRequirement> match_fields;
  friend bool operator==(const NodeTerm&, const NodeTerm&) = default;
};

struct NodeTerms {  // any of them
  std::vector<NodeTerm> terms;
  friend bool operator==(const NodeTerms&, const NodeTerms&) = default;
};

struct PreferredNodes {
  int weight = 1;
  NodeTerm preference;
  friend bool operator==(const PreferredNodes&, const PreferredNodes&) = default;
};

struct NodeAffinity {
  std::optional<NodeTerms> required;
  std::vector<PreferredNodes> preferred;
  friend bool operator==(const NodeAffinity&, const NodeAffinity&) = default;
};

struct PodTerm {
  std::optional<LabelSelector> labels;  // absent: the members of this cluster
  std::string topology_key;
  std::vector<std::string> namespaces;
  std::optional<LabelSelector> namespace_selector;
  friend bool operator==(const PodTerm&, const PodTerm&) = default;
};

struct PreferredPods {
  int weight = 1;
  PodTerm term;
  friend bool operator==(const PreferredPods&, const PreferredPods&) = default;
};

struct PodAffinity {  // or anti-affinity
  std::vector<PodTerm> required;
  std::vector<PreferredPods> preferred;
  friend bool operator==(const PodAffinity&, const PodAffinity&) = default;
};

struct AffinitySpec {
  std::optional<NodeAffinity> node;
  std::optional<PodAffinity> pod;
  std::optional<PodAffinity> anti_pod;
  friend bool operator==(const AffinitySpec&, const AffinitySpec&) = default;
};

enum class Unsatisfiable { kDoNotSchedule, kScheduleAnyway };
enum class NodePolicy { kHonor, kIgnore };

struct SpreadConstraint {
  int max_skew = 1;
  std::string topology_key;
  Unsatisfiable when_unsatisfiable = Unsatisfiable::kDoNotSchedule;
  std::optional<LabelSelector> labels;  // absent: the members of this cluster
  std::optional<int> min_domains;
  std::optional<NodePolicy> node_affinity_policy;
  std::optional<NodePolicy> node_taints_policy;
  friend bool operator==(const SpreadConstraint&, const SpreadConstraint&) = default;
};

enum class TolerationOperator { kEqual, kExists };
enum class TaintEffect { kNoSchedule, kPreferNoSchedule, kNoExecute };

struct Toleration {
  std::optional<std::string> key;
  TolerationOperator op = TolerationOperator::kEqual;
  std::optional<std::string> value;
  std::optional<TaintEffect> effect;
  std::optional<std::int64_t> seconds;
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct PlacementSpec {
  std::optional<AffinitySpec> affinity;
  // Empty: rather not two members on one node, nor in one zone.
  std::vector<SpreadConstraint> spread;
  TextTable node_selector;
  std::vector<Toleration> tolerations;
  std::optional<std::string> priority_class;
  friend bool operator==(const PlacementSpec&, const PlacementSpec&) = default;
};

}  // namespace quorate::api
