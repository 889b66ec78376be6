#include "apiserver/controller_namespaces.h"

#include <algorithm>
#include <vector>

#include "apiserver/metadata.h"

namespace quorate::apiserver {

NamespaceController::NamespaceController(rt::Runtime runtime, Verbs& verbs)
    : Controller(runtime, verbs, "namespace-controller") {}

void NamespaceController::note(const Change& change) {
  if (&change.kind() == kinds().namespaces) {
    mark(change.work());
  } else if (change.deleted() && !change.key().ns.empty()) {
    mark({kinds().namespaces, {"", change.key().ns}});
  }
}

void NamespaceController::reconcile(const WorkKey& work) {
  auto object = find(*work.kind, work.key);
  if (!object) return;
  if (!is_deleting(*object)) return give_account(work.key.name);
  if (empty(work.key.name) > 0) return;  // each that goes marks the namespace again
  auto finalizers = json::array_at(*object, "/spec/finalizers");
  if (!finalizers || (*finalizers)->empty()) return;
  json::Array kept;
  for (const auto& name : **finalizers)
    if (name != "kubernetes") kept.push_back(name);
  (void)json::put(*object, "/spec/finalizers", std::move(kept));
  (void)verbs().update(*work.kind, work.key, std::move(*object), as_writer("finalize"));
}

// Pods go first: what they may need stays until the last of them has gone.
std::size_t NamespaceController::empty(const std::string& ns) {
  if (const auto pods = empty_of(*kinds().pods, ns); pods > 0) return pods;
  std::size_t left = 0;
  for (const auto& kind : verbs().registry().kinds())
    if (kind->namespaced && !kind->stored_as) left += empty_of(*kind, ns);
  return left;
}

std::size_t NamespaceController::empty_of(const Kind& kind, const std::string& ns) {
  std::vector<std::pair<ObjectKey, bool>> found;
  for (const auto& [key, record] : objects(kind))
    if (key.ns == ns) found.emplace_back(key, is_deleting(*record->decoded()));
  std::size_t left = 0;
  for (const auto& [key, going] : found) {
    DeleteOptions options;
    options.propagation = Propagation::kBackground;
    if (!going) (void)verbs().remove(kind, key, options);
    if (verbs().storage().find(kind, key)) ++left;
  }
  return left;
}

void NamespaceController::give_account(const std::string& ns) {
  if (verbs().storage().find(*kinds().service_accounts, {ns, "default"})) return;
  (void)verbs().create(*kinds().service_accounts, ns, {{"metadata", {{"name", "default"}}}},
                       as_writer());
}

}  // namespace quorate::apiserver
