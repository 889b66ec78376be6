// Events: those of v1, and the same under the names of events.k8s.io, where more is asked of them.

#include <fmt/format.h>

#include "apiserver/builtin_support.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

constexpr std::size_t kMostLetters = 128;
constexpr std::size_t kMostNote = 1024;

// The names under which the two versions know the same fields.
struct Names {
  std::string_view about, message, controller;
};
constexpr Names kCore = {"involvedObject", "message", "reportingComponent"};
constexpr Names kView = {"regarding", "note", "reportingController"};

bool is_set(const json::Value& event, std::string_view key) {
  const auto* found = member(event, key);
  return found && !found->is_null();
}

void need_text(const json::Value& event, std::string_view key, FieldErrors& errors) {
  const auto text = text_in(event, key);
  if (text.empty()) errors.push_back(required_value(std::string(key)));
  if (text.size() > kMostLetters)
    errors.push_back(invalid_value(std::string(key), "",
                                   fmt::format("can have at most {} characters", kMostLetters)));
}

// An Event with a time is of the new kind, wherever it comes from.
void check_new_kind(const json::Value& event, const Names& names, FieldErrors& errors) {
  const auto controller = text_in(event, names.controller);
  const std::string field(names.controller);
  if (controller.empty()) errors.push_back(required_value(field));
  check_name(errors, field, controller, check_qualified_name);
  need_text(event, "reportingInstance", errors);
  need_text(event, "action", errors);
  need_text(event, "reason", errors);
  if (text_in(event, names.message).size() > kMostNote)
    errors.push_back(
        invalid_value("message", "", fmt::format("can have at most {} characters", kMostNote)));
}

void check_any(const json::Value& event, const Names& names, FieldErrors& errors) {
  const auto ns = json::text_or(event, "/metadata/namespace", "");
  const auto about = json::text_or(event, fmt::format("/{}/namespace", names.about), "");
  const bool timed = is_set(event, "eventTime");
  // Things without a namespace are told of in "default".
  const bool fits =
      about.empty() ? ns == "default" || (timed && ns == "kube-system") : timed || ns == about;
  if (!fits)
    errors.push_back(invalid_value("involvedObject.namespace", json::Value(about),
                                   "does not match event.namespace"));
  if (timed) check_new_kind(event, names, errors);
  check_name(errors, "namespace", ns, check_dns_subdomain);
}

void validate_core(const json::Value& event, FieldErrors& errors) {
  check_any(event, kCore, errors);
}

void check_series(const json::Value& event, FieldErrors& errors) {
  const auto* series = member(event, "series");
  if (!series || !series->is_object()) return;
  if (json::integer_at(*series, "/count").value_or(0) < 2)
    errors.push_back(invalid_value("series.count", "", "should be at least 2"));
  if (!is_set(*series, "lastObservedTime"))
    errors.push_back(required_value("series.lastObservedTime"));
}

void validate_view(const json::Value& event, FieldErrors& errors) {
  check_any(event, kView, errors);
}

void validate_new_view(const json::Value& event, FieldErrors& errors) {
  for (auto& error : validate_metadata(event, true, check_dns_subdomain))
    errors.push_back(std::move(error));
  check_series(event, errors);
  if (!is_set(event, "eventTime")) errors.push_back(required_value("eventTime"));
  const auto type = text_in(event, "type");
  if (type != "Normal" && type != "Warning")
    errors.push_back(invalid_value("type", "", fmt::format("has invalid value: {}", type)));
  const auto unset = [&](bool is, std::string_view field) {
    if (!is) errors.push_back(invalid_value(std::string(field), "", "needs to be unset"));
  };
  unset(!is_set(event, "deprecatedFirstTimestamp"), "firstTimestamp");
  unset(!is_set(event, "deprecatedLastTimestamp"), "lastTimestamp");
  unset(json::integer_at(event, "/deprecatedCount").value_or(0) == 0, "count");
  const auto source = json::object_at(event, "/deprecatedSource");
  unset(!source || (*source)->empty(), "source");
}

// A reference as Go shows its own form of it.
json::Value shown_reference(const json::Value* reference) {
  if (!reference || !reference->is_object()) return nullptr;
  json::Object shown;
  for (const auto& [name, key] : {std::pair{"Kind", "kind"},
                                  {"Namespace", "namespace"},
                                  {"Name", "name"},
                                  {"UID", "uid"},
                                  {"APIVersion", "apiVersion"},
                                  {"ResourceVersion", "resourceVersion"},
                                  {"FieldPath", "fieldPath"}})
    shown[name] = text_in(*reference, key);
  return shown;
}

// All but the series is written once.
void validate_view_update(const json::Value& event, const json::Value& old, FieldErrors& errors) {
  if (!same_at(event, old, "/series")) check_series(event, errors);
  static constexpr std::pair<const char*, const char*> kFixed[] = {
      {"regarding", "involvedObject"},
      {"reason", "reason"},
      {"note", "message"},
      {"deprecatedSource", "source"},
      {"deprecatedFirstTimestamp", "firstTimestamp"},
      {"deprecatedLastTimestamp", "lastTimestamp"},
      {"deprecatedCount", "count"},
      {"type", "type"},
      {"eventTime", "eventTime"},
      {"action", "action"},
      {"related", "related"},
      {"reportingController", "reportingController"},
      {"reportingInstance", "reportingInstance"}};
  for (const auto& [key, field] : kFixed) {
    if (same_at(event, old, fmt::format("/{}", key))) continue;
    const auto* now = member(event, key);
    const bool reference =
        field == std::string_view("involvedObject") || field == std::string_view("related");
    const json::Value shown = reference ? shown_reference(now) : now ? *now : json::Value("");
    errors.push_back(invalid_value(field, shown, "field is immutable"));
  }
}

}  // namespace

const BuiltinKind kEventRules = {
    .api_version = "v1",
    .kind = "Event",
    .name_rule = check_path_segment,
    .metadata_last = true,
    .strict_finalizers = false,
    .has_status = false,
    .create_on_update = true,
    .validate = validate_core,
};

const BuiltinKind kEventViewRules = {
    .api_version = "events.k8s.io/v1",
    .kind = "Event",
    .type = "events.Event",
    .metadata_last = true,
    .has_status = false,
    .create_on_update = true,
    .validate = validate_view,
    .validate_create = validate_new_view,
    .validate_update = validate_view_update,
};

}  // namespace quorate::apiserver
