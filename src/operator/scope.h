#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "operator/executor.h"
#include "operator/observer.h"
#include "operator/publisher.h"

namespace quorate::op {

// What all scopes of an operator have in common. Everything outlives them.
struct ScopeGround {
  rt::Runtime runtime;
  kube::Client& client;
  etcd::Api& etcd;
  Identities& identities;
  Fence& fence;
  kube::Recorder& events;
  pki::KeySource& keys;
  const Fleet& fleet;
  const plan::OperatorFacts& facts;
  std::span<const plan::Rule> rules;
  const ObserverOptions& observer;
  const ExecutorOptions& executor;
  Log log;
};

// One namespace, or all of them: what is watched there, and those who look and act on it. They
// follow each other in the order in which they need each other.
struct Scope {
  Scope(const ScopeGround& ground, Watched what);

  Caches caches;
  MemberLink link;
  Observer observer;
  Executor executor;
  Publisher publisher;
};

// The scopes of an operator: one for each namespace that it manages, or a single one for all.
// Kubernetes lets nobody watch several namespaces at once without rights in all.
class Scopes {
 public:
  void add(std::string ns, std::unique_ptr<Scope> scope);
  // Where clusters of this namespace are looked after. One of them is always right: clusters come
  // from their caches.
  [[nodiscard]] Scope& of(std::string_view ns) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Scope>>& all() const { return scopes_; }

 private:
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::map<std::string, Scope*, std::less<>> by_namespace_;  // "": all of them
};

}  // namespace quorate::op
