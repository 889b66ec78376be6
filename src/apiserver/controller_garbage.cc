#include "apiserver/controller_garbage.h"

#include <algorithm>

#include "apiserver/metadata.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

bool has_finalizer(const json::Value& object, std::string_view name) {
  const auto all = finalizers_of(object);
  return std::find(all.begin(), all.end(), name) != all.end();
}

void drop_finalizer(json::Value& object, std::string_view name) {
  auto all = finalizers_of(object);
  std::erase(all, name);
  set_finalizers(object, all);
}

const json::Array& references_of(const json::Value& object) {
  static const json::Array kNone;
  const auto found = json::array_at(object, "/metadata/ownerReferences");
  return found ? **found : kNone;
}

bool blocks(const json::Value& dependent, std::string_view owner_uid) {
  const auto& references = references_of(dependent);
  return std::any_of(references.begin(), references.end(), [&](const json::Value& owner) {
    return json::text_or(owner, "/uid", "") == owner_uid &&
           json::flag_at(owner, "/blockOwnerDeletion").value_or(false);
  });
}

}  // namespace

GarbageCollector::GarbageCollector(rt::Runtime runtime, Verbs& verbs)
    : Controller(runtime, verbs, "garbage-collector") {}

void GarbageCollector::note(const Change& change) {
  const auto work = change.work();
  std::set<std::string> owners;
  if (!change.deleted() && change.text().find("\"ownerReferences\"") != std::string::npos)
    for (const auto& owner : references_of(change.object()))
      owners.emplace(json::text_or(owner, "/uid", ""));
  auto& known = owners_[work];
  for (const auto& uid : known)
    if (!owners.contains(uid)) {
      dependents_[uid].erase(work);
      if (dependents_[uid].empty()) dependents_.erase(uid);
      // An owner may have waited for this one.
      if (const auto owner = find_by_uid(uid)) mark(*owner);
    }
  for (const auto& uid : owners) dependents_[uid].insert(work);
  known = owners;
  if (known.empty()) owners_.erase(work);

  if (!owners.empty()) mark(work);
  if (change.deleted()) {
    const std::string uid(uid_of(change.object()));
    by_uid_.erase(uid);
    for (const auto& dependent : dependents_of(uid)) mark(dependent);
  } else {
    by_uid_[std::string(uid_of(change.object()))] = work;
    if (is_deleting(change.object())) mark(work);
  }
}

std::optional<WorkKey> GarbageCollector::find_by_uid(const std::string& uid) const {
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return std::nullopt;
  return found->second;
}

std::set<WorkKey> GarbageCollector::dependents_of(const std::string& uid) const {
  const auto found = dependents_.find(uid);
  return found == dependents_.end() ? std::set<WorkKey>() : found->second;
}

void GarbageCollector::reconcile(const WorkKey& work) {
  const auto object = look_at(*work.kind, work.key);
  if (!object) return;
  if (is_deleting(*object)) {
    if (has_finalizer(*object, kOrphan)) return orphan_dependents(work, *object);
    if (has_finalizer(*object, kForeground)) return await_dependents(work, *object);
    return;  // on its way already
  }
  judge(work, *object);
}

GarbageCollector::Owner GarbageCollector::look_up(const json::Value& owner,
                                                  const WorkKey& dependent) {
  const auto* kind = verbs().registry().find_kind(json::text_or(owner, "/apiVersion", ""),
                                                  json::text_or(owner, "/kind", ""));
  // Of kinds that are not served nothing can be said; an owner in a namespace cannot own what has
  // none.
  if (!kind || (kind->namespaced && dependent.key.ns.empty())) return Owner::kUnknown;
  const ObjectKey key{kind->namespaced ? dependent.key.ns : "",
                      std::string(json::text_or(owner, "/name", ""))};
  const auto found = look_at(kind->stored(), key);
  if (!found || uid_of(*found) != json::text_or(owner, "/uid", "")) return Owner::kGone;
  if (is_deleting(*found) && has_finalizer(*found, kForeground)) return Owner::kWaiting;
  return Owner::kThere;
}

void GarbageCollector::judge(const WorkKey& work, const json::Value& object) {
  const auto& references = references_of(object);
  if (references.empty()) return;
  std::set<std::string> gone, waiting;
  bool held = false;
  for (const auto& owner : references) {
    const std::string uid(json::text_or(owner, "/uid", ""));
    switch (look_up(owner, work)) {
      case Owner::kThere:
        held = true;
        break;
      case Owner::kUnknown:
        return;
      case Owner::kGone:
        gone.insert(uid);
        break;
      case Owner::kWaiting:
        waiting.insert(uid);
        break;
    }
  }
  if (held) {
    gone.merge(waiting);
    if (!gone.empty()) strike(work, object, gone);
    return;
  }
  DeleteOptions options;
  options.uid = std::string(uid_of(object));
  options.propagation = Propagation::kBackground;
  if (has_finalizer(object, kOrphan)) options.propagation = Propagation::kOrphan;
  const bool deletes_below = has_finalizer(object, kForeground) ||
                             (!waiting.empty() && !dependents_of(*options.uid).empty());
  if (deletes_below) options.propagation = Propagation::kForeground;
  (void)verbs().remove(*work.kind, work.key, options);
}

void GarbageCollector::strike(const WorkKey& work, json::Value object,
                              const std::set<std::string>& uids) {
  json::Array kept;
  for (const auto& owner : references_of(object))
    if (!uids.contains(std::string(json::text_or(owner, "/uid", "")))) kept.push_back(owner);
  if (kept.empty())
    json::remove(object, "/metadata/ownerReferences");
  else
    (void)json::put(object, "/metadata/ownerReferences", std::move(kept));
  change(work, std::move(object));
}

void GarbageCollector::orphan_dependents(const WorkKey& work, json::Value object) {
  const std::string uid(uid_of(object));
  for (const auto& dependent : dependents_of(uid))
    if (const auto other = look_at(*dependent.kind, dependent.key))
      strike(dependent, *other, {uid});
  drop_finalizer(object, kOrphan);
  change(work, std::move(object));
}

void GarbageCollector::await_dependents(const WorkKey& work, json::Value object) {
  const std::string uid(uid_of(object));
  bool blocked = false;
  for (const auto& dependent : dependents_of(uid)) {
    const auto other = look_at(*dependent.kind, dependent.key);
    if (!other) continue;
    blocked |= blocks(*other, uid);
    mark(dependent);
  }
  if (blocked) return;  // the last of them marks this one again
  drop_finalizer(object, kForeground);
  change(work, std::move(object));
}

}  // namespace quorate::apiserver
