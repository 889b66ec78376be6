#include "apiserver/builtin_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "apiserver/builtin_support.h"
#include "apiserver/builtin_types.h"
#include "base/check.h"

namespace quorate::apiserver {

namespace {

// Runs a kind's table of rules.
class BuiltinRules : public KindRules {
 public:
  explicit BuiltinRules(const BuiltinKind& kind)
      : kind_(kind), schema_(find_builtin_type(kind.type.empty() ? kind.kind : kind.type)) {
    CHECK(schema_, "there is no type of {}", kind.kind);
    if (kind_.has_status) {
      main_reset_ = FieldSet::of_fields({"status"});
      status_reset_ = FieldSet::of_fields(kind_.status_reset);
      const Property* status = schema_->find("status");
      zero_status_ = make_zero(*status->schema);
    }
  }

  const Schema& schema() const override { return *schema_; }
  bool is_custom() const override { return false; }

  Decoded decode(json::Value& object, const json::Value* known) const override {
    auto read = decode_typed(object, *schema_, known);
    Decoded out{std::move(read.error), {}};
    for (const auto& path : read.unknown) out.strict.push_back("unknown field " + quoted(path));
    if (out.error.empty() && kind_.set_defaults) kind_.set_defaults(object.as_object());
    return out;
  }

  void admit(json::Value& object, const RuleContext& context) const override {
    if (kind_.admit) kind_.admit(object.as_object(), context);
  }

  void prepare_for_create(json::Value& object, const RuleContext& context) const override {
    auto& members = object.as_object();
    if (kind_.has_status && !kind_.keeps_status_on_create) members["status"] = zero_status_;
    if (kind_.counts_generation) object_in(members, "metadata")["generation"] = 1;
    if (kind_.prepare_for_create) kind_.prepare_for_create(members, context);
  }

  void prepare_for_update(json::Value& object, const json::Value& old,
                          std::string_view subresource) const override {
    auto& members = object.as_object();
    if (subresource == "status") {
      restore(members, old, "spec");
      if (kind_.prepare_for_status) kind_.prepare_for_status(members, old);
      return;
    }
    if (kind_.has_status) restore(members, old, "status");
    if (kind_.prepare_for_update && subresource != "finalize")
      kind_.prepare_for_update(members, old);
    if (kind_.counts_generation && changes_generation(object, old)) {
      const auto before = json::integer_at(old, "/metadata/generation").value_or(0);
      object_in(members, "metadata")["generation"] = before + 1;
    }
  }

  FieldErrors validate(const json::Value& object) const override {
    FieldErrors errors;
    if (!kind_.metadata_last) errors = validate_metadata(object, kind_.namespaced, kind_.name_rule);
    check_finalizers(object, errors);
    if (kind_.validate) kind_.validate(object, errors);
    if (kind_.validate_create) kind_.validate_create(object, errors);
    if (kind_.metadata_last && errors.empty())
      errors = validate_metadata(object, kind_.namespaced, kind_.name_rule);
    return errors;
  }

  FieldErrors validate_update(const json::Value& object, const json::Value& old,
                              std::string_view subresource) const override {
    FieldErrors errors;
    check_finalizers(object, errors);
    if (subresource == "status" && kind_.validate_status)
      kind_.validate_status(object, old, errors);
    if (!subresource.empty()) return errors;
    if (kind_.validate) kind_.validate(object, errors);
    if (kind_.validate_update) kind_.validate_update(object, old, errors);
    return errors;
  }

  std::vector<std::string> warnings(const json::Value& object,
                                    const json::Value* old) const override {
    return kind_.warnings ? kind_.warnings(object, old) : std::vector<std::string>{};
  }

  bool allows_create_on_update() const override { return kind_.create_on_update; }
  bool allows_unconditional_update() const override { return kind_.unconditional_update; }

  const FieldSet& reset_fields(std::string_view subresource) const override {
    return subresource == "status" ? status_reset_ : main_reset_;
  }

  std::optional<std::string> field_for_selector(const json::Value& object,
                                                std::string_view field) const override {
    std::string pointer = "/";
    for (const char c : field) pointer += c == '.' ? '/' : c;
    const auto* found = json::find(object, pointer);
    if (!found || !found->is_string()) return std::nullopt;
    return std::string(found->get_string());
  }

 private:
  void check_finalizers(const json::Value& object, FieldErrors& errors) const {
    const auto list = json::array_at(object, "/metadata/finalizers");
    if (!kind_.strict_finalizers || !list) return;
    for (std::size_t i = 0; i < (*list)->size(); ++i) {
      const auto& name = (**list)[i];
      if (!name.is_string() || name.get_string().find('/') != json::String::npos ||
          name == "kubernetes" || name == "orphan" || name == "foregroundDeletion")
        continue;
      errors.push_back(
          invalid_value(fmt::format("metadata.finalizers[{}]", i), name,
                        "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }

  static void restore(json::Object& members, const json::Value& old, std::string_view key) {
    if (const auto* before = member(old, key))
      members[key] = *before;
    else
      members.stable_erase(key);
  }

  // EndpointSlices have no spec: everything but metadata counts, and their labels.
  bool changes_generation(const json::Value& object, const json::Value& old) const {
    if (schema_->find("spec")) return !same_at(object, old, "/spec");
    auto now = object, before = old;
    now.as_object().erase("metadata");
    before.as_object().erase("metadata");
    return !json::equal(now, before) || !same_at(object, old, "/metadata/labels");
  }

  const BuiltinKind& kind_;
  SchemaRef schema_;
  FieldSet main_reset_, status_reset_;
  json::Value zero_status_;
};

}  // namespace

const KindRules* find_builtin_rules(std::string_view api_version, std::string_view kind) {
  struct Entry {
    const BuiltinKind& kind;
    BuiltinRules rules;
    explicit Entry(const BuiltinKind& table) : kind(table), rules(table) {}
  };
  static const std::array kEntries = {
      Entry(kNamespaceRules), Entry(kNodeRules),           Entry(kPodRules),
      Entry(kServiceRules),   Entry(kEndpointSliceRules),  Entry(kConfigMapRules),
      Entry(kSecretRules),    Entry(kServiceAccountRules), Entry(kClaimRules),
      Entry(kVolumeRules),    Entry(kStorageClassRules),   Entry(kDisruptionBudgetRules),
      Entry(kLeaseRules),     Entry(kEventRules),          Entry(kEventViewRules),
      Entry(kJobRules),
  };
  const auto found = std::find_if(kEntries.begin(), kEntries.end(), [&](const Entry& entry) {
    return entry.kind.api_version == api_version && entry.kind.kind == kind;
  });
  return found == kEntries.end() ? nullptr : &found->rules;
}

}  // namespace quorate::apiserver
