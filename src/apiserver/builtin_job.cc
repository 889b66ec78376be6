#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "apiserver/builtin_support.h"
#include "json/selector.h"

namespace quorate::apiserver {

namespace {

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
  set_pod_spec_defaults(pod);
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

// What a generated selector stands on.
void check_generated(const json::Value& job, FieldErrors& errors) {
  const auto* selector = json::find(job, "/spec/selector");
  if (json::flag_at(job, "/spec/manualSelector").value_or(false) || !selector) return;
  const auto uid = json::text_or(job, "/metadata/uid", "");
  const auto name = json::text_or(job, "/metadata/name", "");
  const auto* labels = json::find(job, "/spec/template/metadata/labels");
  json::Labels expected;
  for (const auto& [key, value] : {std::pair{std::string_view("controller-uid"), uid},
                                   {std::string_view("job-name"), name},
                                   {kUid, uid},
                                   {kName, name}}) {
    expected.emplace(key, value);
    const auto field = fmt::format("spec.template.metadata.labels[{}]", key);
    const auto must = fmt::format("must be '{}'", value);
    const auto found = labels ? json::text_at(*labels, "/" + json::escape_pointer(key))
                              : Result<std::string_view>(fail(Code::kNotFound, ""));
    if (!found)
      errors.push_back(required_value(field, must));
    else if (*found != value)
      errors.push_back(invalid_value(field, in_key_order(labels), must));
  }
  const auto parsed = json::LabelSelector::from_json(*selector);
  if (parsed && !parsed->matches(expected))
    errors.push_back(
        invalid_value("spec.selector", in_key_order(selector), "`selector` not auto-generated"));
}

void check_job_selector(const json::Value& job, FieldErrors& errors) {
  const auto* selector = json::find(job, "/spec/selector");
  if (!selector) {
    errors.push_back(required_value("spec.selector"));
  } else {
    check_label_selector(errors, *selector, "spec.selector");
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
  check_generated(job, errors);
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
  validate_pod_spec(pod ? *pod : kNone, "spec.template.spec", errors);
  if (policy.empty() || policy == "Always")
    errors.push_back(required_value("spec.template.spec.restartPolicy",
                                    "valid values: \"OnFailure\", \"Never\""));
  else if (policy != "OnFailure" && policy != "Never")
    errors.push_back(not_supported("spec.template.spec.restartPolicy", json::Value(policy),
                                   {"OnFailure", "Never"}));
}

// The old template, with what may change in it while the Job is held and has not begun.
json::Value changeable_taken(const json::Value& job, json::Value old) {
  if (!json::flag_at(old, "/spec/suspend").value_or(false) || json::find(old, "/status/startTime"))
    return old;
  for (const std::string_view part :
       {"/spec/nodeSelector", "/spec/tolerations", "/metadata/annotations", "/metadata/labels",
        "/spec/schedulingGates", "/spec/affinity/nodeAffinity"}) {
    const auto pointer = fmt::format("/spec/template{}", part);
    json::remove(old, pointer);
    if (const auto* now = json::find(job, pointer)) (void)json::put(old, pointer, *now);
  }
  return old;
}

void validate_job_update(const json::Value& job, const json::Value& before, FieldErrors& errors) {
  const auto old = changeable_taken(job, before);
  for (const std::string_view key : {"completions", "selector", "template", "completionMode",
                                     "podFailurePolicy", "backoffLimitPerIndex"}) {
    const auto pointer = fmt::format("/spec/{}", key);
    if (same_at(job, old, pointer)) continue;
    const auto* now = json::find(job, pointer);
    errors.push_back(
        invalid_value(fmt::format("spec.{}", key), in_key_order(now), "field is immutable"));
  }
}

// --- the status

bool holds(const json::Value& job, std::string_view type) {
  const auto conditions = json::array_at(job, "/status/conditions");
  return conditions &&
         std::any_of((*conditions)->begin(), (*conditions)->end(), [&](const auto& c) {
           return text_in(c, "type") == type && text_in(c, "status") == "True";
         });
}

bool is_finished(const json::Value& job) { return holds(job, "Complete") || holds(job, "Failed"); }

std::int64_t number_at(const json::Value& job, std::string_view pointer) {
  return json::integer_at(job, pointer).value_or(0);
}

// What has ended stays so, and says so in full; rules are kept where something changes.
void check_job_end(const json::Value& job, const json::Value& old, FieldErrors& errors) {
  const auto refuse = [&](std::string_view why) {
    errors.push_back(
        {FieldError::Kind::kInvalid, "status.conditions", fmt::format("Invalid value: {}", why)});
  };
  const auto changed = [&](std::string_view type) { return holds(job, type) != holds(old, type); };
  if ((changed("Complete") || changed("Failed")) && holds(job, "Complete") && holds(job, "Failed"))
    refuse("cannot set Complete=True and Failed=true conditions");
  if (changed("Complete") && holds(job, "Complete") && !json::find(job, "/status/completionTime"))
    errors.push_back(
        required_value("status.completionTime", "completionTime is required for Complete jobs"));
  if (!same_at(job, old, "/status/completionTime") && json::find(job, "/status/completionTime") &&
      !holds(job, "Complete"))
    errors.push_back(invalid_value("status.completionTime",
                                   *json::find(job, "/status/completionTime"),
                                   "cannot set completionTime when there is no Complete=True "
                                   "condition"));
  if (changed("Failed") && holds(job, "Failed") && !holds(job, "FailureTarget"))
    refuse("cannot set Failed=True condition without the FailureTarget=true condition");
  if (changed("Complete") && holds(job, "Complete") && !holds(job, "SuccessCriteriaMet"))
    refuse("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  const bool ends = is_finished(job) != is_finished(old);
  const auto active = number_at(job, "/status/active");
  if ((ends || !same_at(job, old, "/status/active")) && is_finished(job) && active > 0)
    errors.push_back(
        invalid_value("status.active", active, "active>0 is invalid for finished job"));
  if (ends && is_finished(job) && !json::find(job, "/status/startTime"))
    errors.push_back(required_value("status.startTime", "startTime is required for finished job"));
}

void validate_job_status(const json::Value& job, const json::Value& old, FieldErrors& errors) {
  const auto* status = member(job, "status");
  if (!status) return;
  for (const std::string_view key : {"active", "succeeded", "failed", "ready", "terminating"})
    check_not_negative(errors, *status, key, "status");
  check_job_end(job, old, errors);
  const auto ready = number_at(job, "/status/ready");
  if (json::find(job, "/status/ready") &&
      (!same_at(job, old, "/status/ready") || !same_at(job, old, "/status/active")) &&
      ready > number_at(job, "/status/active"))
    errors.push_back(
        invalid_value("status.ready", ready, "cannot set more ready pods than active"));
  for (const std::string_view type : {"Failed", "Complete", "FailureTarget"})
    if (holds(old, type) && !holds(job, type))
      errors.push_back(
          {FieldError::Kind::kInvalid, "status.conditions",
           fmt::format("Invalid value: cannot disable the terminal {}=True condition", type)});
  for (const std::string_view key : {"failed", "succeeded"}) {
    const auto now = number_at(job, fmt::format("/status/{}", key));
    if (now < number_at(old, fmt::format("/status/{}", key)))
      errors.push_back(invalid_value(fmt::format("status.{}", key), now,
                                     fmt::format("cannot decrease the {} counter", key)));
  }
  if (json::find(old, "/status/startTime") && !same_at(job, old, "/status/startTime") &&
      !json::flag_at(job, "/spec/suspend").value_or(false))
    errors.push_back(
        required_value("status.startTime", "startTime cannot be removed for unsuspended job"));
}

// What has no labels is read with those of its template.
void prepare_job_status(json::Object& job, const json::Value&) {
  auto& metadata = object_in(job, "metadata");
  const auto* own = metadata.if_contains("labels");
  if (own && own->is_object() && !own->get_object().empty()) return;
  const json::Value whole(job);
  if (const auto* labels = json::find(whole, "/spec/template/metadata/labels"))
    metadata["labels"] = *labels;
}
void prepare_job_update(json::Object& job, const json::Value& old) { prepare_job_status(job, old); }

std::vector<std::string> warnings(const json::Value& job, const json::Value* old) {
  if (old) return {};
  const auto problems = check_dns_label(json::text_or(job, "/metadata/name", ""));
  if (problems.empty()) return {};
  return {fmt::format(
      "metadata.name: this is used in Pod names and hostnames, which can result in surprising "
      "behavior; a DNS label is recommended: [{}]",
      fmt::join(problems, " "))};
}

}  // namespace

const BuiltinKind kJobRules = {
    .api_version = "batch/v1",
    .kind = "Job",
    .counts_generation = true,
    .set_defaults = set_job_defaults,
    .prepare_for_create = prepare_job,
    .prepare_for_update = prepare_job_update,
    .prepare_for_status = prepare_job_status,
    .validate = validate_job,
    .validate_update = validate_job_update,
    .validate_status = validate_job_status,
    .warnings = warnings,
};

}  // namespace quorate::apiserver
