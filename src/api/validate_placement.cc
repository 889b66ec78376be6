#include <fmt/format.h>

#include <algorithm>

#include "api/placement_fields.h"
#include "api/validate_parts.h"

namespace quorate::api {
namespace {

class PlacementChecker {
 public:
  explicit PlacementChecker(Problems& problems) : problems_(problems) {}

  void check(const PlacementSpec& placement) {
    if (placement.affinity) check(*placement.affinity);
    for (std::size_t i = 0; i < placement.spread.size(); ++i) check_spread(placement.spread, i);
    for (std::size_t i = 0; i < placement.tolerations.size(); ++i)
      check(fmt::format("spec.tolerations[{}]", i), placement.tolerations[i]);
  }

  void check(const std::string& path, const LabelSelector& selector) {
    for (std::size_t i = 0; i < selector.match_expressions.size(); ++i) {
      const auto& one = selector.match_expressions[i];
      const bool wants_values = one.op == LabelOperator::kIn || one.op == LabelOperator::kNotIn;
      if (wants_values == one.values.empty())
        complain(fmt::format("{}.matchExpressions[{}].values", path, i),
                 fmt::format("{} must {}", enum_name(one.op),
                             wants_values ? "have values" : "have no values"));
    }
  }

 private:
  void complain(std::string path, std::string message) {
    problems_.push_back({std::move(path), std::move(message)});
  }

  // The values that an operator takes, in words, if these are others.
  static std::string wrong_values(const NodeRequirement& one) {
    switch (one.op) {
      case NodeOperator::kIn:
      case NodeOperator::kNotIn:
        return one.values.empty() ? "have values" : "";
      case NodeOperator::kExists:
      case NodeOperator::kDoesNotExist:
        return one.values.empty() ? "" : "have no values";
      case NodeOperator::kGt:
      case NodeOperator::kLt:
        break;
    }
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool number = one.values.size() == 1 && !one.values[0].empty() &&
                        one.values[0].size() <= 18 &&
                        std::all_of(one.values[0].begin(), one.values[0].end(), is_digit);
    return number ? "" : "have one whole number as value";
  }

  void check(const std::string& path, const std::vector<NodeRequirement>& requirements) {
    for (std::size_t i = 0; i < requirements.size(); ++i)
      if (const auto wrong = wrong_values(requirements[i]); !wrong.empty())
        complain(fmt::format("{}[{}].values", path, i),
                 fmt::format("{} must {}", enum_name(requirements[i].op), wrong));
  }

  void check(const std::string& path, const NodeTerm& term) {
    check(path + ".matchExpressions", term.match_expressions);
    check(path + ".matchFields", term.match_fields);
  }

  void check(const std::string& path, const NodeAffinity& affinity) {
    const auto required = path + ".requiredDuringSchedulingIgnoredDuringExecution";
    if (affinity.required && affinity.required->terms.empty())
      complain(required + ".nodeSelectorTerms", "must not be empty; give a term");
    if (affinity.required)
      for (std::size_t i = 0; i < affinity.required->terms.size(); ++i)
        check(fmt::format("{}.nodeSelectorTerms[{}]", required, i), affinity.required->terms[i]);
    for (std::size_t i = 0; i < affinity.preferred.size(); ++i)
      check(
          fmt::format("{}.preferredDuringSchedulingIgnoredDuringExecution[{}].preference", path, i),
          affinity.preferred[i].preference);
  }

  void check(const std::string& path, const PodTerm& term) {
    if (term.labels) check(path + ".labelSelector", *term.labels);
    if (term.namespace_selector) check(path + ".namespaceSelector", *term.namespace_selector);
  }

  void check(const std::string& path, const PodAffinity& affinity) {
    for (std::size_t i = 0; i < affinity.required.size(); ++i)
      check(fmt::format("{}.requiredDuringSchedulingIgnoredDuringExecution[{}]", path, i),
            affinity.required[i]);
    for (std::size_t i = 0; i < affinity.preferred.size(); ++i)
      check(fmt::format("{}.preferredDuringSchedulingIgnoredDuringExecution[{}].podAffinityTerm",
                        path, i),
            affinity.preferred[i].term);
  }

  void check(const AffinitySpec& affinity) {
    if (affinity.node) check("spec.affinity.nodeAffinity", *affinity.node);
    if (affinity.pod) check("spec.affinity.podAffinity", *affinity.pod);
    if (affinity.anti_pod) check("spec.affinity.podAntiAffinity", *affinity.anti_pod);
  }

  void check_spread(const std::vector<SpreadConstraint>& all, std::size_t i) {
    const auto path = fmt::format("spec.topologySpreadConstraints[{}]", i);
    const auto& one = all[i];
    if (one.labels) check(path + ".labelSelector", *one.labels);
    if (one.min_domains && one.when_unsatisfiable != Unsatisfiable::kDoNotSchedule)
      complain(path + ".minDomains", "needs whenUnsatisfiable to be DoNotSchedule; leave it out");
    for (std::size_t j = 0; j < i; ++j)
      if (all[j].topology_key == one.topology_key &&
          all[j].when_unsatisfiable == one.when_unsatisfiable)
        complain(path + ".topologyKey",
                 fmt::format("\"{}\" is given twice with {}; leave out one", one.topology_key,
                             enum_name(one.when_unsatisfiable)));
  }

  void check(const std::string& path, const Toleration& one) {
    const bool has_key = one.key && !one.key->empty();
    if (one.op == TolerationOperator::kExists && one.value && !one.value->empty())
      complain(path + ".value",
               fmt::format("\"{}\" must be absent if operator is Exists", *one.value));
    if (one.op == TolerationOperator::kEqual && !has_key)
      complain(path + ".operator", "Equal needs a key; write Exists to tolerate all taints");
    if (one.seconds && one.effect != TaintEffect::kNoExecute)
      complain(path + ".tolerationSeconds",
               fmt::format("{} needs effect to be NoExecute", *one.seconds));
  }

  Problems& problems_;
};

}  // namespace

void check_placement(const PlacementSpec& placement, Problems& problems) {
  PlacementChecker(problems).check(placement);
}

void check_selector(const std::string& path, const LabelSelector& selector, Problems& problems) {
  PlacementChecker(problems).check(path, selector);
}

}  // namespace quorate::api
