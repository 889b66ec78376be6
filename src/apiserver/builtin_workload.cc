// PodDisruptionBudgets and Jobs.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "apiserver/builtin_support.h"
#include "base/strings.h"
#include "json/selector.h"

namespace quorate::apiserver {

namespace {

// --- disruption budgets

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
    errors.push_back(invalid_value("spec",
                                   {{"MinAvailable", *least},
                                    {"Selector", selector ? *selector : json::Value()},
                                    {"MaxUnavailable", *most},
                                    {"UnhealthyPodEvictionPolicy", nullptr}},
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

// --- jobs

constexpr std::string_view kUid = "batch.kubernetes.io/controller-uid";
constexpr std::string_view kName = "batch.kubernetes.io/job-name";

void set_job_defaults(json::Object& job) {
  auto& spec = object_in(job, "spec");
  const auto missing = [&](const char* key) {
    const auto* there = spec.if_contains(key);
    return !there || there->is_null();
  };
  if (missing("completions") && missing("parallelism")) spec["completions"] = 1;
  set_if_absent(spec, "parallelism", 1);
  set_if_absent(spec, "backoffLimit",
                missing("backoffLimitPerIndex") ? 6 : std::numeric_limits<std::int32_t>::max());
  set_if_absent(spec, "completionMode", "NonIndexed");
  set_if_absent(spec, "suspend", false);
  set_if_absent(spec, "podReplacementPolicy",
                missing("podFailurePolicy") ? "TerminatingOrFailed" : "Failed");
  set_if_absent(spec, "manualSelector", false);
  auto& own = object_in(spec, "template");
  auto& pod = object_in(own, "spec");
  // A Job must say what becomes of its containers: no default, so that validation can ask.
  const bool says = pod.contains("restartPolicy");
  set_pod_spec_defaults(pod);
  if (!says) pod.stable_erase("restartPolicy");
  const auto* metadata = find_object(own, "metadata");
  const auto* labels = metadata ? metadata->if_contains("labels") : nullptr;
  auto& job_metadata = object_in(job, "metadata");
  const auto* job_labels = job_metadata.if_contains("labels");
  if (labels && (!job_labels || !job_labels->is_object() || job_labels->get_object().empty()))
    job_metadata["labels"] = *labels;
}

void prepare_job(json::Object& job, const RuleContext&) {
  auto& spec = object_in(job, "spec");
  if (spec["manualSelector"] == true) return;
  auto& metadata = object_in(job, "metadata");
  const auto text = [&](const char* key) {
    const auto* value = metadata.if_contains(key);
    return value ? *value : json::Value("");
  };
  auto& labels = object_in(object_in(object_in(spec, "template"), "metadata"), "labels");
  for (const std::string_view key : {std::string_view("job-name"), kName})
    if (!labels.contains(key)) labels[key] = text("name");
  for (const std::string_view key : {std::string_view("controller-uid"), kUid})
    if (!labels.contains(key)) labels[key] = text("uid");
  auto& selected = object_in(object_in(spec, "selector"), "matchLabels");
  if (!selected.contains(kUid)) selected[kUid] = text("uid");
  const auto* own = metadata.if_contains("labels");
  if (!own || !own->is_object() || own->get_object().empty()) {
    const json::Value copy = labels;
    metadata["labels"] = copy;
  }
}

// Go writes maps in the order of their keys.
json::Value in_key_order(const json::Value* value) {
  if (!value) return nullptr;
  return json::parse(json::render_sorted(*value)).value_or(json::Value());
}

json::Labels labels_of(const json::Value& object, std::string_view pointer) {
  json::Labels out;
  if (const auto found = json::object_at(object, pointer))
    for (const auto& [key, value] : **found)
      if (value.is_string()) out.emplace(key, value.get_string());
  return out;
}

void check_job_selector(const json::Value& job, FieldErrors& errors) {
  const auto* selector = json::find(job, "/spec/selector");
  if (!selector) {
    errors.push_back(required_value("spec.selector"));
  } else {
    check_label_selector(errors, *selector, "spec.selector");
    const auto own = json::object_at(*selector, "/matchLabels");
    if (!json::flag_at(job, "/spec/manualSelector").value_or(false) && own && (*own)->size() != 1)
      errors.push_back(
          invalid_value("spec.selector", in_key_order(selector), "`selector` not auto-generated"));
  }
}

void check_job_labels(const json::Value& job, FieldErrors& errors) {
  const auto* selector = json::find(job, "/spec/selector");
  const auto parsed = json::LabelSelector::from_json(selector ? *selector : json::Value());
  if (parsed && parsed->matches(labels_of(job, "/spec/template/metadata/labels"))) return;
  const auto* labels = json::find(job, "/spec/template/metadata/labels");
  errors.push_back(invalid_value("spec.template.metadata.labels", in_key_order(labels),
                                 "`selector` does not match template `labels`"));
}

void validate_job(const json::Value& job, FieldErrors& errors) {
  check_job_selector(job, errors);
  static const json::Value kNone = json::Object{};
  const auto* found = member(job, "spec");
  const json::Value& spec = found ? *found : kNone;
  for (const std::string_view key : {"parallelism", "completions", "activeDeadlineSeconds",
                                     "backoffLimit", "ttlSecondsAfterFinished"})
    check_not_negative(errors, spec, key, "spec");
  check_job_labels(job, errors);
  const auto* pod = json::find(spec, "/template/spec");
  const auto policy = pod ? text_in(*pod, "restartPolicy") : "";
  json::Value checked = pod ? *pod : kNone;
  if (policy.empty()) checked.as_object()["restartPolicy"] = "Never";
  validate_pod_spec(checked, "spec.template.spec", errors);
  if (policy.empty())
    errors.push_back(required_value("spec.template.spec.restartPolicy",
                                    "valid values: \"OnFailure\", \"Never\""));
  else if (policy == "Always")
    errors.push_back(not_supported("spec.template.spec.restartPolicy", json::Value(policy),
                                   {"OnFailure", "Never"}));
}

void validate_job_update(const json::Value& job, const json::Value& old, FieldErrors& errors) {
  for (const std::string_view key : {"completions", "selector", "template", "completionMode",
                                     "podFailurePolicy", "backoffLimitPerIndex"}) {
    const auto pointer = fmt::format("/spec/{}", key);
    if (same_at(job, old, pointer)) continue;
    const auto* now = json::find(job, pointer);
    errors.push_back(
        invalid_value(fmt::format("spec.{}", key), in_key_order(now), "field is immutable"));
  }
}

}  // namespace

const BuiltinKind kDisruptionBudgetRules = {
    .api_version = "policy/v1",
    .kind = "PodDisruptionBudget",
    .counts_generation = true,
    .unconditional_update = false,
    .validate = validate_budget,
};

const BuiltinKind kJobRules = {
    .api_version = "batch/v1",
    .kind = "Job",
    .counts_generation = true,
    .set_defaults = set_job_defaults,
    .prepare_for_create = prepare_job,
    .validate = validate_job,
    .validate_update = validate_job_update,
};

}  // namespace quorate::apiserver
