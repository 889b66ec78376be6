// Verbs: deletion, of one object and of collections.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apiserver/metadata.h"
#include "apiserver/verbs.h"
#include "apiserver/views.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

constexpr std::string_view kPreserved =
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background "
    "to remove them or set propagationPolicy=Orphan to suppress this warning";

// These exist for the system's own sake.
constexpr std::string_view kImmortalNamespaces[] = {"default", "kube-system", "kube-public"};

// The propagation that holds: what the deletion asks for, else what an earlier one left on the
// object, else the kind's own.
Propagation propagation_of(const Kind& kind, const json::Value& object,
                           const DeleteOptions& options) {
  if (options.propagation) return *options.propagation;
  for (const auto& finalizer : finalizers_of(object)) {
    if (finalizer == kOrphan) return Propagation::kOrphan;
    if (finalizer == kForeground) return Propagation::kForeground;
  }
  return kind.propagation == DefaultPropagation::kOrphan ? Propagation::kOrphan
                                                         : Propagation::kBackground;
}

// The object's finalizers with the garbage collector's own as the propagation wants them.
std::vector<std::string> finalizers_for(const json::Value& object, Propagation propagation) {
  auto finalizers = finalizers_of(object);
  std::erase_if(finalizers, [](const auto& f) { return f == kOrphan || f == kForeground; });
  if (propagation == Propagation::kOrphan) finalizers.emplace_back(kOrphan);
  if (propagation == Propagation::kForeground) finalizers.emplace_back(kForeground);
  return finalizers;
}

bool same_set(std::vector<std::string> a, std::vector<std::string> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

// How long a Pod is given: none if nothing runs that would need it.
std::int64_t grace_for(const json::Value& pod, const DeleteOptions& options) {
  if (json::text_or(pod, "/spec/nodeName", "").empty()) return 0;
  const auto phase = json::text_or(pod, "/status/phase", "");
  if (phase == "Failed" || phase == "Succeeded") return 0;
  const auto period = options.grace_seconds.value_or(
      json::integer_at(pod, "/spec/terminationGracePeriodSeconds").value_or(0));
  return period < 0 ? 1 : period;
}

enum class Grace {
  kNone,     // deleted without one
  kSet,      // the object says now until when
  kPending,  // an earlier deletion runs, this one changes nothing
};

// Marks an object that is deleted gracefully, or shortens the time that an earlier deletion gave.
Grace set_grace(json::Value& object, const DeleteOptions& options, WallTime now) {
  auto& metadata = metadata_of(object);
  if (!is_deleting(object)) {
    const auto period = grace_for(object, options);
    metadata["deletionTimestamp"] = json::render_time(now + std::chrono::seconds(period));
    metadata["deletionGracePeriodSeconds"] = period;
    raise_generation(object);
    return Grace::kSet;
  }
  const auto given = grace_of(object);
  if (!given) return Grace::kNone;
  if (!options.grace_seconds || *options.grace_seconds >= *given) return Grace::kPending;
  const auto period = std::max<std::int64_t>(*options.grace_seconds, *options.grace_seconds < 0);
  const auto until = json::parse_time(json::text_or(object, "/metadata/deletionTimestamp", ""));
  metadata["deletionTimestamp"] =
      json::render_time(until.value_or(now) - std::chrono::seconds(*given - period));
  metadata["deletionGracePeriodSeconds"] = period;
  return Grace::kSet;
}

// Marks an object that waits for its finalizers.
void mark_deleting(json::Value& object, WallTime now) {
  auto& metadata = metadata_of(object);
  if (!is_deleting(object)) {
    raise_generation(object);
    metadata["deletionTimestamp"] = json::render_time(now);
  }
  metadata["deletionGracePeriodSeconds"] = 0;
}

json::Value success(const Kind& kind, const json::Value& object) {
  json::Object details{{"name", name_of(object)}};
  if (!kind.group.empty()) details["group"] = kind.group;
  details["kind"] = kind.plural;
  details["uid"] = uid_of(object);
  return json::Object{{"kind", "Status"},
                      {"apiVersion", "v1"},
                      {"metadata", json::Object()},
                      {"status", "Success"},
                      {"details", std::move(details)}};
}

}  // namespace

Outcome<void> Verbs::check_preconditions(const Kind& kind, const json::Value& object,
                                         const DeleteOptions& options) {
  const std::string name(name_of(object));
  const auto refuse = [&](std::string_view what, std::string_view wanted, std::string_view found,
                          std::string_view why) {
    return fail(conflict(kind.stored().kind_name(), name,
                         fmt::format("the {} in the precondition ({}) does not match the {} in "
                                     "record ({}). {}",
                                     what, wanted, what, found, why)));
  };
  if (options.uid && *options.uid != uid_of(object))
    return refuse("UID", *options.uid, uid_of(object),
                  "The object might have been deleted and then recreated");
  if (options.resource_version && *options.resource_version != version_of(object))
    return refuse("ResourceVersion", *options.resource_version, version_of(object),
                  "The object might have been modified");
  return {};
}

Outcome<Deleted> Verbs::remove(const Kind& kind, const ObjectKey& key,
                               const DeleteOptions& options) {
  std::vector<std::string> warnings;
  if (kind.propagation == DefaultPropagation::kOrphan && !options.propagation)
    warnings.emplace_back(kPreserved);
  auto deleted = remove_found({kind, key}, options);
  (deleted ? deleted->warnings : deleted.error().warnings) = std::move(warnings);
  return deleted;
}

Outcome<Deleted> Verbs::remove_found(const Target& target, const DeleteOptions& options) {
  const auto& [kind, key] = target;
  const auto record = storage_.find(kind, key);
  if (!record) return fail(not_found(kind.resource(), key.name));
  if (&kind == registry_.built_in().namespaces) return remove_namespace(target, options);

  auto object = record->value();
  const auto now = runtime_.clock->wall();
  TRY(check_preconditions(kind, object, options));
  const auto before = object;
  const Grace grace = kind.graceful_deletion ? set_grace(object, options, now) : Grace::kNone;
  if (grace == Grace::kPending) return Deleted{std::move(object), false, {}};
  const auto finalizers = kind.propagation == DefaultPropagation::kNone
                              ? finalizers_of(object)
                              : finalizers_for(object, propagation_of(kind, object, options));
  if (!same_set(finalizers, finalizers_of(object))) set_finalizers(object, finalizers);
  if (grace == Grace::kNone && !finalizers.empty()) mark_deleting(object, now);
  const bool marked = grace == Grace::kSet || !finalizers.empty();
  if (marked && !options.dry_run && !json::equal(object, before))
    object = storage_.update(kind, key, std::move(object))->value();
  if (!finalizers.empty() || (grace == Grace::kSet && grace_of(object).value_or(0) > 0))
    return Deleted{to_view(kind, std::move(object)), false, {}};
  // One that goes at once goes as it stood: that it lost its finalizers is not told.
  return finish_removal(target, grace == Grace::kSet ? object : before, options.dry_run);
}

Deleted Verbs::finish_removal(const Target& target, const json::Value& object, bool dry_run) {
  const auto& [kind, key] = target;
  auto answer = kind.returns_deleted ? to_view(kind, object) : success(kind, object);
  if (!dry_run) {
    const auto last = storage_.remove(kind, key);
    if (kind.returns_deleted)
      metadata_of(answer)["resourceVersion"] = fmt::to_string(last->version);
  }
  return Deleted{std::move(answer), true, {}};
}

// A namespace goes in two steps: it is marked, and whoever empties it (the namespace controller)
// takes the finalizer out of its spec.
Outcome<Deleted> Verbs::remove_namespace(const Target& target, const DeleteOptions& options) {
  const auto& [kind, key] = target;
  if (std::find(std::begin(kImmortalNamespaces), std::end(kImmortalNamespaces), key.name) !=
      std::end(kImmortalNamespaces))
    return fail(forbidden(kind.resource(), key.name, "this namespace may not be deleted"));
  auto object = storage_.find(kind, key)->value();
  TRY(check_preconditions(kind, object, options));
  if (!is_deleting(object)) {
    metadata_of(object)["deletionTimestamp"] = json::render_time(runtime_.clock->wall());
    (void)json::put(object, "/status/phase", "Terminating");
    if (!options.dry_run) object = storage_.update(kind, key, std::move(object))->value();
    return Deleted{std::move(object), false, {}};
  }
  const auto left = json::array_at(object, "/spec/finalizers");
  if ((left && !(*left)->empty()) || !finalizers_of(object).empty())
    return Deleted{std::move(object), false, {}};
  return finish_removal(target, object, options.dry_run);
}

Outcome<Deleted> Verbs::remove_all(const Kind& kind, const Selection& selection,
                                   const DeleteOptions& options) {
  std::vector<ObjectKey> keys;
  json::Array items;
  const auto version = storage_.version();
  for (const auto& [key, record] : storage_.objects(kind)) {
    if (!selection.matches(kind.stored(), key, *record)) continue;
    keys.push_back(key);
    items.push_back(to_view(kind, record->value()));
  }
  Deleted all;
  if (kind.propagation == DefaultPropagation::kOrphan && !options.propagation)
    all.warnings.emplace_back(kPreserved);
  for (const auto& key : keys) {
    const auto removed = remove(kind, key, options);
    if (!removed && removed.error().code != 404) return fail(removed.error());
  }
  if (!kind.custom)
    for (auto& item : items) {
      item.get_object().stable_erase("kind");
      item.get_object().stable_erase("apiVersion");
    }
  all.answer = json::Object{{"kind", kind.kind + "List"},
                            {"apiVersion", kind.api_version()},
                            {"metadata", {{"resourceVersion", fmt::to_string(version)}}},
                            {"items", std::move(items)}};
  if (kind.custom) (void)json::put(all.answer, "/metadata/continue", "");
  return all;
}

}  // namespace quorate::apiserver
