#include "apiserver/schema_crd.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "apiserver/builtin_types.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

struct ScaleFields {
  std::string replicas, status_replicas, selector;  // .spec.replicas
};

std::string pointer_of(std::string_view dotted) {
  std::string out;
  for (const auto name : split(dotted, '.'))
    if (!name.empty()) out += "/" + json::escape_pointer(name);
  return out;
}

// A value as Go's fmt shows it, for the one message that does.
std::string go_text(const json::Value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_array() && value.get_array().empty()) return "[]";
  return json::render(value);
}
std::string_view go_type(const json::Value& value) {
  if (value.is_string()) return "string";
  if (value.is_array()) return "[]interface {}";
  if (value.is_bool()) return "bool";
  if (value.is_double()) return "float64";
  if (value.is_number()) return "int64";
  return "map[string]interface {}";
}

// What keeps a nested field from being read: the first thing on the way that is no map, or the
// field itself if it is not of the type wanted.
std::optional<std::string> find_obstacle(const json::Value& object, std::string_view dotted,
                                         std::string_view wanted) {
  const json::Value* here = &object;
  std::string walked;
  for (const auto name : split(dotted, '.')) {
    if (name.empty()) continue;
    const auto* members = here->if_object();
    if (!members)
      return fmt::format(
          "{} accessor error: {} is of the type {}, expected map[string]interface{{}}", dotted,
          go_text(*here), go_type(*here));
    here = members->if_contains(name);
    if (!here) return std::nullopt;
  }
  if (go_type(*here) == wanted) return std::nullopt;
  return fmt::format("{} accessor error: {} is of the type {}, expected {}", dotted, go_text(*here),
                     go_type(*here), wanted);
}

void check_replicas(FieldErrors& errors, const json::Value& object, const std::string& path) {
  if (auto obstacle = find_obstacle(object, path, "int64")) {
    errors.push_back(invalid_value(path, 0, *obstacle));
    return;
  }
  const auto count = json::integer_at(object, pointer_of(path)).value_or(0);
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  if (count < 0)
    errors.push_back(invalid_value(path, count, "should be a non-negative integer"));
  else if (count > kMost)
    errors.push_back(
        invalid_value(path, count, fmt::format("should be less than or equal to {}", kMost)));
}

bool blocks_rules(const FieldError& error) {
  switch (error.kind) {
    case FieldError::Kind::kNotSupported:
    case FieldError::Kind::kRequired:
    case FieldError::Kind::kTooLong:
    case FieldError::Kind::kTooMany:
    case FieldError::Kind::kTypeInvalid:
      return true;
    default:
      return false;
  }
}

bool has_rules(const Schema& schema) {
  if (!schema.rules.empty()) return true;
  if (schema.items && has_rules(*schema.items)) return true;
  if (schema.additional_properties && has_rules(*schema.additional_properties)) return true;
  return std::any_of(schema.properties.begin(), schema.properties.end(),
                     [](const auto& field) { return has_rules(*field.second.schema); });
}

class CrdRules : public KindRules {
 public:
  CrdRules(SchemaRef declared, bool namespaced, bool has_status, std::optional<ScaleFields> scale)
      : declared_(std::move(declared)),
        whole_(with_metadata(*declared_)),
        namespaced_(namespaced),
        has_status_(has_status),
        has_rules_(has_rules(*declared_)),
        scale_(std::move(scale)) {
    if (has_status_) main_reset_ = FieldSet::of_fields({"status"});
    status_reset_ = FieldSet::of_fields({"spec"});
  }

  const Schema& schema() const override { return *whole_; }
  bool is_custom() const override { return true; }

  Decoded decode(json::Value& object, const json::Value* known) const override {
    Decoded out;
    auto& metadata = object.as_object()["metadata"];
    const auto read = decode_typed(metadata, *find_builtin_type("ObjectMeta"),
                                   known ? json::find(*known, "/metadata") : nullptr);
    out.error = read.error;
    auto unknown = prune(object, *declared_);
    for (const auto& path : read.unknown) unknown.push_back("metadata." + path);
    for (const auto& path : unknown) out.strict.push_back("unknown field " + quoted(path));
    apply_schema_defaults(object, *declared_);
    return out;
  }

  void admit(json::Value&, const RuleContext&) const override {}

  void prepare_for_create(json::Value& object, const RuleContext&) const override {
    if (has_status_) object.as_object().stable_erase("status");
    (void)json::put(object, "/metadata/generation", 1);
  }

  void prepare_for_update(json::Value& object, const json::Value& old,
                          std::string_view subresource) const override {
    if (subresource == "status") return prepare_status(object, old);
    auto& members = object.as_object();
    if (has_status_) {
      const auto* status = old.get_object().if_contains("status");
      if (status)
        members["status"] = *status;
      else
        members.stable_erase("status");
    }
    auto now = object, before = old;
    now.as_object().erase("metadata");
    before.as_object().erase("metadata");
    const auto generation = json::integer_at(old, "/metadata/generation").value_or(0);
    (void)json::put(object, "/metadata/generation",
                    json::equal(now, before) ? generation : generation + 1);
  }

  FieldErrors validate(const json::Value& object) const override {
    auto errors = validate_metadata(object, namespaced_, check_dns_subdomain);
    append(errors, validate_schema(object, *declared_));
    append(errors, check_scale(object, true));
    append(errors, validate_list_types(object, *declared_));
    append(errors, check_rules(object, nullptr, errors));
    return errors;
  }

  FieldErrors validate_update(const json::Value& object, const json::Value& old,
                              std::string_view subresource) const override {
    FieldErrors errors;
    if (subresource == "status") {
      for (auto& error : validate_schema(object, *declared_, &old))
        if (error.field == "status" || error.field.starts_with("status.") ||
            error.field.starts_with("status["))
          errors.push_back(below_status(std::move(error)));
    } else {
      errors = validate_schema(object, *declared_, &old);
    }
    append(errors, check_scale(object, subresource != "status"));
    if (validate_list_types(old, *declared_).empty())
      append(errors, validate_list_types(object, *declared_));
    append(errors, check_rules(object, &old, errors));
    return errors;
  }

  std::vector<std::string> warnings(const json::Value& object,
                                    const json::Value* old) const override {
    std::set<std::string> added = finalizers_of(object);
    if (old)
      for (const auto& name : finalizers_of(*old)) added.erase(name);
    std::vector<std::string> out;
    for (const auto& name : added) {
      const bool standard =
          name == "orphan" || name == "foregroundDeletion" || name == "kubernetes";
      if (name.find('/') != std::string::npos || standard) continue;
      out.push_back(fmt::format(
          "metadata.finalizers: {}: prefer a domain-qualified finalizer "
          "name{} to avoid accidental conflicts with other finalizer writers",
          quoted(name), name.find('.') != std::string::npos ? " including a path (/)" : ""));
    }
    return out;
  }

  bool allows_create_on_update() const override { return false; }
  bool allows_unconditional_update() const override { return false; }

  const FieldSet& reset_fields(std::string_view subresource) const override {
    return subresource == "status" ? status_reset_ : main_reset_;
  }

  std::optional<std::string> field_for_selector(const json::Value& object,
                                                std::string_view field) const override {
    if (field == "metadata.name") return std::string(json::text_or(object, "/metadata/name", ""));
    if (field == "metadata.namespace" && namespaced_)
      return std::string(json::text_or(object, "/metadata/namespace", ""));
    return std::nullopt;
  }

 private:
  static void append(FieldErrors& errors, FieldErrors more) {
    errors.insert(errors.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  }

  // Ownership sees the metadata of every object as Kubernetes declares it.
  static SchemaRef with_metadata(const Schema& declared) {
    auto whole = std::make_shared<Schema>(declared);
    whole->type = Schema::Type::kObject;
    const auto set = [&](const char* name, SchemaRef schema) {
      if (!whole->find(name)) whole->order.emplace_back(name);
      whole->properties[name] = Property{std::move(schema)};
    };
    auto text = std::make_shared<Schema>();
    text->type = Schema::Type::kString;
    set("apiVersion", text);
    set("kind", text);
    set("metadata", find_builtin_type("ObjectMeta"));
    return whole;
  }

  static std::set<std::string> finalizers_of(const json::Value& object) {
    std::set<std::string> out;
    if (const auto* list = json::find(object, "/metadata/finalizers"); list && list->is_array())
      for (const auto& name : list->get_array())
        if (name.is_string()) out.emplace(name.get_string());
    return out;
  }

  // A write to the status changes the status and who owns it, nothing else.
  static void prepare_status(json::Value& object, const json::Value& old) {
    json::Value out = old;
    auto& members = out.as_object();
    if (const auto* status = object.as_object().if_contains("status"))
      members["status"] = *status;
    else
      members.stable_erase("status");
    json::remove(out, "/metadata/managedFields");
    for (const char* pointer : {"/metadata/managedFields", "/metadata/resourceVersion"})
      if (const auto* value = json::find(object, pointer)) (void)json::put(out, pointer, *value);
    object = std::move(out);
  }

  // The real server looks at the status alone, and its words begin there.
  static FieldError below_status(FieldError error) {
    constexpr std::string_view kStatus = "status.";
    const auto at = error.body.find(error.field + " in body");
    if (at != std::string::npos && error.field.starts_with(kStatus))
      error.body.erase(at, kStatus.size());
    return error;
  }

  FieldErrors check_scale(const json::Value& object, bool with_spec) const {
    FieldErrors errors;
    if (!scale_) return errors;
    if (with_spec) check_replicas(errors, object, scale_->replicas);
    check_replicas(errors, object, scale_->status_replicas);
    if (!scale_->selector.empty())
      if (auto obstacle = find_obstacle(object, scale_->selector, "string"))
        errors.push_back(invalid_value(scale_->selector, "", *obstacle));
    return errors;
  }

  FieldErrors check_rules(const json::Value& object, const json::Value* old,
                          const FieldErrors& so_far) const {
    if (!has_rules_) return {};
    if (std::any_of(so_far.begin(), so_far.end(), blocks_rules))
      return {invalid_value("<nil>", nullptr,
                            "some validation rules were not checked because the object was "
                            "invalid; correct the existing errors to complete validation")};
    return validate_rules(object, *declared_, old);
  }

  SchemaRef declared_;  // as the CRD says
  SchemaRef whole_;
  bool namespaced_;
  bool has_status_;
  bool has_rules_;
  std::optional<ScaleFields> scale_;
  FieldSet main_reset_, status_reset_;
};

}  // namespace

Result<std::unique_ptr<KindRules>> make_crd_rules(const json::Value& crd,
                                                  std::string_view version) {
  const auto operation =
      fmt::format("definition of {}", json::text_or(crd, "/metadata/name", "a kind without name"));
  TRY(const auto* versions, in(operation, json::array_at(crd, "/spec/versions")));
  for (const auto& one : *versions) {
    if (json::text_or(one, "/name", "") != version) continue;
    const auto* openapi = json::find(one, "/schema/openAPIV3Schema");
    if (!openapi) return fail(Error(Code::kInvalid, "there is no schema").in(operation));
    TRY(auto schema, in(operation, parse_schema(*openapi)));
    std::optional<ScaleFields> scale;
    if (const auto* found = json::find(one, "/subresources/scale"))
      scale = ScaleFields{std::string(json::text_or(*found, "/specReplicasPath", "")),
                          std::string(json::text_or(*found, "/statusReplicasPath", "")),
                          std::string(json::text_or(*found, "/labelSelectorPath", ""))};
    return std::make_unique<CrdRules>(
        std::move(schema), json::text_or(crd, "/spec/scope", "") == "Namespaced",
        json::find(one, "/subresources/status") != nullptr, std::move(scale));
  }
  return fail(Error(Code::kNotFound, fmt::format("there is no version {}", version)).in(operation));
}

}  // namespace quorate::apiserver
