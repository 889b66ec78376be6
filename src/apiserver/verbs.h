#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/addresses.h"
#include "apiserver/refusal.h"
#include "apiserver/registry.h"
#include "apiserver/schema_kind.h"
#include "apiserver/selection.h"
#include "apiserver/storage.h"
#include "json/document.h"
#include "rt/clock.h"

namespace quorate::apiserver {

struct WriteOptions {
  std::string manager = "quorate";  // who owns the fields that are written
  std::string subresource;          // "", "status", "finalize"
  bool dry_run = false;             // everything but the storing
  FieldValidation validation = FieldValidation::kWarn;
  bool force = false;  // apply: take fields from others
};

struct Written {
  Decoded object;  // as it is stored now
  bool created = false;
  std::vector<std::string> warnings;
};

enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::optional<std::string> uid;  // preconditions
  std::optional<std::string> resource_version;
  std::optional<std::int64_t> grace_seconds;
  std::optional<Propagation> propagation;
  bool dry_run = false;
  // Said as `orphanDependents: false`, the old way: that it waits is then answered with 202.
  bool old_background = false;
};

struct Deleted {
  json::Value answer;  // the object, or a Status that says Success
  bool gone = false;   // false: it waits for its grace period or for finalizers
  std::vector<std::string> warnings;
};

enum class PatchType { kMerge, kJson, kStrategic, kApply };

// The verbs of the API on documents, with every rule that the machinery keeps: names and UIDs,
// resourceVersions and conflicts, generations, finalizers, ownership of fields, namespaces. The
// wire (server.cc) and everybody in process (controllers, nodes and users of the simulator) come
// through here, so all meet the same rules.
//
// Nothing waits. A refusal has changed nothing.
class Verbs {
 public:
  struct Settings {
    std::string service_cidr;
  };
  Verbs(rt::Runtime runtime, const Registry& registry, Storage& storage, Settings settings);

  // Documents and options as sent come in; metadata.name (or generateName) names a new object.
  Outcome<Decoded> get(const Kind& kind, const ObjectKey& key) const;
  Outcome<Written> create(const Kind& kind, const std::string& ns, json::Value object,
                          const WriteOptions& options = {});
  Outcome<Written> update(const Kind& kind, const ObjectKey& key, json::Value object,
                          const WriteOptions& options = {});
  Outcome<Written> patch(const Kind& kind, const ObjectKey& key, PatchType type,
                         const json::Value& patch, const WriteOptions& options = {});
  Outcome<Deleted> remove(const Kind& kind, const ObjectKey& key,
                          const DeleteOptions& options = {});
  // Everything that is selected; the answer is a list of what was there.
  Outcome<Deleted> remove_all(const Kind& kind, const Selection& selection,
                              const DeleteOptions& options = {});

  // --- subresources that are verbs of their own
  Outcome<json::Value> evict(const ObjectKey& pod, const DeleteOptions& options);
  Outcome<json::Value> bind(const ObjectKey& pod, const json::Value& binding,
                            const WriteOptions& options = {});
  Outcome<json::Value> get_scale(const Kind& kind, const ObjectKey& key) const;
  Outcome<json::Value> update_scale(const Kind& kind, const ObjectKey& key, json::Value scale,
                                    const WriteOptions& options = {});
  Outcome<json::Value> patch_scale(const Kind& kind, const ObjectKey& key, PatchType type,
                                   const json::Value& patch, const WriteOptions& options = {});

  const Registry& registry() const { return registry_; }
  Storage& storage() { return storage_; }

 private:
  struct Target {  // of an update, patch or deletion
    const Kind& kind;
    const ObjectKey& key;
  };

  // --- create.cc
  Outcome<void> check_type(const Kind& kind, const json::Value& object) const;
  Outcome<void> decode(const Kind& kind, json::Value& object, const WriteOptions& options,
                       std::vector<std::string>& warnings,
                       const json::Value* known = nullptr) const;
  Outcome<Written> create_decoded(const Kind& kind, const std::string& ns, json::Value object,
                                  const WriteOptions& options);
  Outcome<void> admit_namespace(const Kind& kind, const std::string& ns,
                                std::string_view name) const;
  void admit(const Kind& kind, json::Value& object, bool dry_run) const;
  Outcome<Written> store_new(const Kind& kind, const std::string& ns, json::Value object,
                             const WriteOptions& options);
  static Outcome<Written> warned(Outcome<Written> outcome, std::vector<std::string> warnings);
  Outcome<void> choose_name(const Kind& kind, const std::string& ns, json::Object& metadata);
  std::string make_uid();
  std::string make_name_suffix();
  RuleContext context(bool dry_run) const;
  Writer writer(const Kind& kind, const WriteOptions& options) const;

  // --- update.cc
  Outcome<Written> update_decoded(const Target& target, json::Value object,
                                  const WriteOptions& options);
  Outcome<Written> store_change(const Target& target, json::Value object, const Decoded& stored,
                                const WriteOptions& options);
  Outcome<void> check_version(const Target& target, json::Value& object,
                              const json::Value& old) const;

  // --- patch.cc
  Outcome<Written> apply(const Target& target, json::Value config, const WriteOptions& options);
  Outcome<json::Value> patched(const Kind& kind, const json::Value& old, PatchType type,
                               const json::Value& patch) const;

  // --- eviction.cc
  Outcome<std::string> charge_budget(const ObjectKey& key, const json::Value& pod, bool dry_run);

  // --- delete.cc
  Outcome<Deleted> remove_found(const Target& target, const DeleteOptions& options);
  Outcome<Deleted> remove_namespace(const Target& target, const DeleteOptions& options);
  static Outcome<void> check_preconditions(const Kind& kind, const json::Value& object,
                                           const DeleteOptions& options);
  Deleted finish_removal(const Target& target, const json::Value& object, bool dry_run);

  rt::Runtime runtime_;
  const Registry& registry_;
  Storage& storage_;
  ServiceAddresses addresses_;
};

}  // namespace quorate::apiserver
