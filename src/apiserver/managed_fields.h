#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/managed_fields_set.h"
#include "apiserver/schema.h"
#include "base/time.h"
#include "json/document.h"

namespace quorate::apiserver {

// Who owns which field: metadata.managedFields and server-side apply, as the real server does them
// (its structured-merge-diff library, version 6).

// Who writes, and how.
struct Writer {
  std::string manager;  // the fieldManager asked for, or the first word of the user agent
  std::string api_version;
  std::string subresource;  // "" or "status", ...
  WallTime now;
};

// A field that somebody else owns with another value.
struct ApplyConflict {
  std::string manager;  // `"kubectl" using v1`, `"x" with subresource "status"`: see the Status
  std::string field;    // .spec.replicas
};

struct ApplyFailure {
  int status = 500;                      // 400, 409 or 500
  std::string error;                     // its text; empty if there are conflicts
  std::vector<ApplyConflict> conflicts;  // of a 409
};

// The text of a Status 409 and its causes.
[[nodiscard]] std::string conflict_message(const std::vector<ApplyConflict>& conflicts);
[[nodiscard]] json::Array conflict_causes(const std::vector<ApplyConflict>& conflicts);

// Writes `object.metadata.managedFields` for a create, update or patch (other than apply) that
// leads from `live` (null on create) to `object`. Fields in `reset` are not owned.
void track_update(json::Value& object, const json::Value& live, const Schema& schema,
                  const Writer& writer, const FieldSet& reset);

// As track_update, for a write through the subresource scale; `replicas` is where they stand.
void track_scale(json::Value& object, const json::Value& live, std::string_view replicas,
                 const Writer& writer);

// The object that an apply of `config` leads to, with its managedFields, before defaults are set
// and before the rules of updates. `live` is null if there is none yet. Equal to `live` but for
// what a no-op leaves alone.
struct Applied {
  std::optional<json::Value> object;  // nothing: see failure
  ApplyFailure failure;
};
[[nodiscard]] Applied apply_configuration(const json::Value& live, const json::Value& config,
                                          const Schema& schema, const Writer& writer, bool force,
                                          const FieldSet& reset);

// True if the two differ in nothing but times of managedFields: then the write is no write, and
// the old object stays.
[[nodiscard]] bool same_but_for_managed_times(const json::Value& object, const json::Value& old);

}  // namespace quorate::apiserver
