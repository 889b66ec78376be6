// Stands in for the rules of kinds until they are there. Every symbol is weak: the real one wins.

#include <fmt/format.h>

#include "apiserver/builtin_kinds.h"
#include "apiserver/managed_fields.h"
#include "apiserver/schema_crd.h"
#include "apiserver/schema_kind.h"

#define WEAK __attribute__((weak))

namespace quorate::apiserver {

namespace {

class PlainRules : public KindRules {
 public:
  explicit PlainRules(bool custom) : custom_(custom) {}
  const Schema& schema() const override { return schema_; }
  bool is_custom() const override { return custom_; }
  Decoded decode(json::Value&) const override { return {}; }
  void admit(json::Value&, const RuleContext&) const override {}
  void prepare_for_create(json::Value& object, const RuleContext&) const override {
    if (custom_) object.as_object()["metadata"].as_object()["generation"] = 1;
    if (json::text_or(object, "/kind", "") == "Namespace") {
      (void)json::put(object, "/spec/finalizers", json::Array{"kubernetes"});
      (void)json::put(object, "/status/phase", "Active");
    }
  }
  void prepare_for_update(json::Value& object, const json::Value& old,
                          std::string_view subresource) const override {
    auto& to = object.as_object();
    if (subresource == "status") {
      auto status = to["status"];
      const auto metadata = to["metadata"];
      object = old;
      object.as_object()["status"] = status;
      return;
    }
    const auto* status = old.as_object().if_contains("status");
    if (status)
      to["status"] = *status;
    else
      to.erase("status");
    const auto* before = json::find(old, "/spec");
    const auto* now = json::find(object, "/spec");
    if (custom_ && before && now && !json::equal(*before, *now))
      to["metadata"].as_object()["generation"] =
          json::integer_at(old, "/metadata/generation").value_or(0) + 1;
  }
  FieldErrors validate(const json::Value&) const override { return {}; }
  FieldErrors validate_update(const json::Value&, const json::Value&,
                              std::string_view) const override {
    return {};
  }
  std::vector<std::string> warnings(const json::Value&, const json::Value*) const override {
    return {};
  }
  bool allows_create_on_update() const override { return false; }
  bool allows_unconditional_update() const override { return !custom_; }
  const FieldSet& reset_fields(std::string_view) const override { return none_; }
  std::optional<std::string> field_for_selector(const json::Value&,
                                                std::string_view) const override {
    return std::nullopt;
  }

 private:
  bool custom_;
  Schema schema_;
  FieldSet none_;
};

}  // namespace

WEAK const KindRules* find_builtin_rules(std::string_view, std::string_view) {
  static const PlainRules rules(false);
  return &rules;
}
WEAK Result<std::unique_ptr<KindRules>> make_crd_rules(const json::Value&, std::string_view) {
  return std::make_unique<PlainRules>(true);
}
WEAK json::MergeSchema make_merge_schema(const Schema&) { return json::make_pod_merge_schema(); }
WEAK void track_update(json::Value&, const json::Value&, const Schema&, const Writer&,
                       const FieldSet&) {}
WEAK Applied apply_configuration(const json::Value& live, const json::Value& config, const Schema&,
                                 const Writer&, bool, const FieldSet&) {
  return {json::apply_merge_patch(live.is_null() ? json::Object() : live, config), {}};
}
WEAK std::string conflict_message(const std::vector<ApplyConflict>&) { return "conflict"; }
WEAK json::Array conflict_causes(const std::vector<ApplyConflict>&) { return {}; }
WEAK bool same_but_for_managed_times(const json::Value& object, const json::Value& old) {
  return json::equal(object, old);
}
WEAK std::string undecodable(std::string_view kind, std::string_view version,
                             std::string_view why) {
  return fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind, version, kind,
                     why);
}
WEAK FieldErrors validate_metadata_update(const json::Value&, const json::Value&) { return {}; }
WEAK std::string strict_error(const std::vector<std::string>&) { return "strict decoding error"; }
WEAK std::string_view FieldError::reason() const { return "FieldValueInvalid"; }
WEAK std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }
WEAK FieldError invalid_value(std::string field, const json::Value& value,
                              std::string_view detail) {
  return {FieldError::Kind::kInvalid, std::move(field),
          fmt::format("Invalid value: {}: {}", json::render(value), detail)};
}
WEAK FieldError forbidden(std::string field, std::string_view detail) {
  return {FieldError::Kind::kForbidden, std::move(field), fmt::format("Forbidden: {}", detail)};
}
WEAK FieldError required_value(std::string field, std::string_view detail) {
  return {FieldError::Kind::kRequired, std::move(field), fmt::format("Required value: {}", detail)};
}
WEAK FieldError not_supported(std::string field, const json::Value& value,
                              const std::vector<std::string>&) {
  return {FieldError::Kind::kNotSupported, std::move(field),
          fmt::format("Unsupported value: {}", json::render(value))};
}
WEAK std::string invalid_message(std::string_view kind, std::string_view name,
                                 const FieldErrors& errors) {
  return fmt::format("{} \"{}\" is invalid: {}", kind, name, errors.at(0).text());
}
WEAK json::Array make_causes(const FieldErrors& errors) {
  json::Array causes;
  for (const auto& error : errors)
    causes.push_back({{"reason", error.reason()}, {"message", error.body}, {"field", error.field}});
  return causes;
}

}  // namespace quorate::apiserver
