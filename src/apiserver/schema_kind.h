#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/managed_fields.h"
#include "apiserver/schema.h"
#include "apiserver/schema_errors.h"
#include "apiserver/schema_names.h"
#include "base/time.h"
#include "json/document.h"
#include "rt/clock.h"

namespace quorate::apiserver {

// fieldValidation of a write: what happens to fields that nobody knows.
enum class FieldValidation { kIgnore, kWarn, kStrict };

// What a rule may use beside the object.
struct RuleContext {
  WallTime now;
  rt::Random* random = nullptr;
  bool dry_run = false;
};

// The rules of one kind at one version: pure functions on whole objects. Two implementations: the
// built-in kinds (builtin_kinds.h) and custom resources (schema_crd.h).
//
// A create goes: decode, own fields (managed_fields.h), admit, prepare_for_create, validate, then
// validate_metadata. An update: decode or patch then decode, own fields, prepare_for_update,
// validate_update. `subresource` is "", "status", "scale", "ephemeralcontainers", "finalize", ...
class KindRules {
 public:
  virtual ~KindRules() = default;

  virtual const Schema& schema() const = 0;
  virtual bool is_custom() const = 0;

  struct Decoded {
    // Wrong types and the like: why it is undecodable(). Empty if the object could be read.
    std::string error;
    // Unknown fields, as `unknown field "spec.x"`: warnings, or the reason of a 400 if strict.
    std::vector<std::string> strict;
  };
  // Brings what was sent into the form that is stored: unknown fields are gone, zero values are as
  // Go would write them, defaults are set. `object` is whole, with apiVersion and kind. `known`,
  // of an update: what stands, and so was decoded before.
  virtual Decoded decode(json::Value& object, const json::Value* known) const = 0;

  // What admission adds to Pods and others (default service account, tolerations, priority).
  virtual void admit(json::Value& object, const RuleContext& context) const = 0;

  virtual void prepare_for_create(json::Value& object, const RuleContext& context) const = 0;
  // Also brings back what this subresource may not change, and counts the generation up.
  virtual void prepare_for_update(json::Value& object, const json::Value& old,
                                  std::string_view subresource) const = 0;

  // `object` has its name and namespace by now. Covers metadata, with the kind's rule for names.
  virtual FieldErrors validate(const json::Value& object) const = 0;
  // Beside validate_metadata_update, whose errors come first.
  virtual FieldErrors validate_update(const json::Value& object, const json::Value& old,
                                      std::string_view subresource) const = 0;
  virtual std::vector<std::string> warnings(const json::Value& object,
                                            const json::Value* old) const = 0;

  // May PUT create, may an update come without resourceVersion.
  virtual bool allows_create_on_update() const = 0;
  virtual bool allows_unconditional_update() const = 0;

  // Fields that a write through this subresource cannot change, and so cannot own.
  virtual const FieldSet& reset_fields(std::string_view subresource) const = 0;

  // For selectors: `metadata.name`, `spec.nodeName`, ... in the object's form; nothing for a field
  // that the kind cannot be selected by.
  virtual std::optional<std::string> field_for_selector(const json::Value& object,
                                                        std::string_view field) const = 0;
};

// The metadata of any object: names, labels, annotations, owners, finalizers. `namespaced`: a
// namespace is required, or forbidden.
[[nodiscard]] FieldErrors validate_metadata(const json::Value& object, bool namespaced,
                                            NameRule rule = check_path_segment);
[[nodiscard]] FieldErrors validate_metadata_update(const json::Value& object,
                                                   const json::Value& old);

// The text of a Status 400 for an object that cannot be read: `Pod in version "v1" cannot be
// handled as a Pod: why`.
[[nodiscard]] std::string undecodable(std::string_view kind, std::string_view version,
                                      std::string_view why);
// Why, of unknown and duplicate fields: `strict decoding error: unknown field "spec.x"`.
[[nodiscard]] std::string strict_error(const std::vector<std::string>& strict);

}  // namespace quorate::apiserver
