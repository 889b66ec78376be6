#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/schema_errors.h"
#include "apiserver/schema_kind.h"
#include "apiserver/schema_names.h"
#include "json/document.h"

// What the rules of the built-in kinds share. Inside this folder's builtin_*.cc.
namespace quorate::apiserver {

// The rules of one kind, as a table of functions; nullptr where a kind has nothing to say.
struct BuiltinKind {
  std::string_view api_version;
  std::string_view kind;
  std::string_view type = {};  // in the table of types, if it is not the kind
  bool namespaced = true;
  NameRule name_rule = check_dns_subdomain;
  bool metadata_last = false;     // looked at only if nothing else is wrong
  bool strict_finalizers = true;  // with a domain, or one of Kubernetes' own
  bool has_status = true;         // kept apart from the rest, and reset on create
  bool keeps_status_on_create = false;
  bool counts_generation = false;  // 1, and one more for each change of the spec
  bool create_on_update = false;
  bool unconditional_update = true;
  std::vector<std::string> status_reset = {"spec"};  // what /status cannot change

  void (*set_defaults)(json::Object& object) = nullptr;
  void (*admit)(json::Object& object, const RuleContext& context) = nullptr;
  void (*prepare_for_create)(json::Object& object, const RuleContext& context) = nullptr;
  void (*prepare_for_update)(json::Object& object, const json::Value& old) = nullptr;
  void (*prepare_for_status)(json::Object& object, const json::Value& old) = nullptr;
  void (*validate)(const json::Value& object, FieldErrors& errors) = nullptr;
  // Of a new object, beside `validate`.
  void (*validate_create)(const json::Value& object, FieldErrors& errors) = nullptr;
  void (*validate_update)(const json::Value& object, const json::Value& old,
                          FieldErrors& errors) = nullptr;
  // Of an update through /status; nullptr: anything may stand there.
  void (*validate_status)(const json::Value& object, const json::Value& old,
                          FieldErrors& errors) = nullptr;
  std::vector<std::string> (*warnings)(const json::Value& object, const json::Value* old) = nullptr;
};

extern const BuiltinKind kNamespaceRules, kNodeRules, kLeaseRules,
    kEndpointSliceRules;                                                       // builtin_cluster.cc
extern const BuiltinKind kEventRules, kEventViewRules;                         // builtin_events.cc
extern const BuiltinKind kPodRules;                                            // builtin_pod.cc
extern const BuiltinKind kServiceRules;                                        // builtin_service.cc
extern const BuiltinKind kConfigMapRules, kSecretRules, kServiceAccountRules;  // builtin_config.cc
extern const BuiltinKind kClaimRules, kVolumeRules, kStorageClassRules;        // builtin_volumes.cc
extern const BuiltinKind kDisruptionBudgetRules;                               // builtin_budget.cc
extern const BuiltinKind kJobRules;                                            // builtin_job.cc

// --- of Pods, for whatever holds one (builtin_pod_defaults.cc, builtin_pod_validate.cc)
void set_pod_spec_defaults(json::Object& spec);
void set_pod_defaults(json::Object& spec);  // those of Pods alone, before the ones above
// `path` is where the spec stands: "spec", "spec.template.spec".
void validate_pod_spec(const json::Value& spec, const std::string& path, FieldErrors& errors);

// --- reading and writing
// The object under a key, made if there is none.
json::Object& object_in(json::Object& parent, std::string_view key);
json::Object* find_object(json::Object& parent, std::string_view key);
// Calls for each object of a list under a key.
void for_each_object(json::Object& parent, std::string_view key,
                     const std::function<void(json::Object&)>& visit);
// For what stands in a document, with its place: `spec.containers[0]`.
void for_each_at(const json::Value& value, std::string_view key, const std::string& path,
                 const std::function<void(const json::Value&, const std::string&)>& visit);
void set_if_absent(json::Object& object, std::string_view key, json::Value value);
// A field and the list that has taken its place say the same: the field wins where both are set,
// and is the list's first where it is not. `inner` is where elements that are objects hold it.
void keep_first_alike(json::Object& object, std::string_view one, std::string_view list,
                      std::string_view inner = "");
[[nodiscard]] std::string_view text_in(const json::Value& value, std::string_view key);
[[nodiscard]] const json::Value* member(const json::Value& value, std::string_view key);
// Equal, or absent in both.
[[nodiscard]] bool same_at(const json::Value& a, const json::Value& b, std::string_view pointer);

// --- checking
void check_name(FieldErrors& errors, const std::string& field, std::string_view name,
                NameRule rule);
// One of a few, in the order that the real server says them.
void check_choice(FieldErrors& errors, const std::string& field, std::string_view value,
                  std::initializer_list<std::string_view> choices);
void check_not_negative(FieldErrors& errors, const json::Value& value, std::string_view key,
                        const std::string& path);
void check_label_selector(FieldErrors& errors, const json::Value& selector,
                          const std::string& path);
[[nodiscard]] bool is_ip_address(std::string_view text);

}  // namespace quorate::apiserver
