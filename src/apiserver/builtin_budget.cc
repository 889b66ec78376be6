// PodDisruptionBudgets.

#include <fmt/format.h>

#include "apiserver/builtin_support.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

void check_share(const json::Value& budget, std::string_view key, FieldErrors& errors) {
  const auto* share = json::find(budget, fmt::format("/spec/{}", key));
  if (!share) return;
  const auto field = fmt::format("spec.{}", key);
  if (share->is_int64() && share->get_int64() < 0)
    errors.push_back(invalid_value(field, *share, "must be greater than or equal to 0"));
  if (!share->is_string()) return;
  const std::string_view text = share->get_string();
  const auto digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : "";
  const auto percent = parse_integer(digits);
  if (!percent || *percent < 0)
    errors.push_back(invalid_value(
        field, *share,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
        "'93%', regex used for validation is '[0-9]+%')"));
  else if (*percent > 100)
    errors.push_back(invalid_value(field, *share, "must not be greater than 100%"));
}

void validate_budget(const json::Value& budget, FieldErrors& errors) {
  const auto* least = json::find(budget, "/spec/minAvailable");
  const auto* most = json::find(budget, "/spec/maxUnavailable");
  if (least && most) {
    const auto* selector = json::find(budget, "/spec/selector");
    const auto* policy = json::find(budget, "/spec/unhealthyPodEvictionPolicy");
    errors.push_back(
        invalid_value("spec",
                      {{"MinAvailable", *least},
                       {"Selector", selector ? *selector : json::Value()},
                       {"MaxUnavailable", *most},
                       {"UnhealthyPodEvictionPolicy", policy ? *policy : json::Value()}},
                      "minAvailable and maxUnavailable cannot be both set"));
  }
  check_share(budget, "minAvailable", errors);
  check_share(budget, "maxUnavailable", errors);
  if (const auto* policy = json::find(budget, "/spec/unhealthyPodEvictionPolicy");
      policy && policy->is_string())
    check_choice(errors, "spec.unhealthyPodEvictionPolicy", policy->get_string(),
                 {"AlwaysAllow", "IfHealthyBudget"});
  if (const auto* selector = json::find(budget, "/spec/selector"))
    check_label_selector(errors, *selector, "spec.selector");
}

void validate_budget_status(const json::Value& budget, const json::Value&, FieldErrors& errors) {
  const auto* status = member(budget, "status");
  for (const std::string_view key :
       {"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"})
    if (status) check_not_negative(errors, *status, key, "status");
}

}  // namespace

const BuiltinKind kDisruptionBudgetRules = {
    .api_version = "policy/v1",
    .kind = "PodDisruptionBudget",
    .name_rule = check_path_segment,
    .metadata_last = true,
    .strict_finalizers = false,
    .counts_generation = true,
    .unconditional_update = false,
    .validate = validate_budget,
    .validate_status = validate_budget_status,
};

}  // namespace quorate::apiserver
