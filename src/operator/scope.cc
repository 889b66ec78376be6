#include "operator/scope.h"

#include "base/check.h"

namespace quorate::op {

Scope::Scope(const ScopeGround& on, Watched what)
    : caches(on.runtime, on.client, std::move(what), on.log),
      link(caches, on.identities),
      observer(on.runtime, caches, on.fleet, on.client, on.etcd, link, on.facts, on.observer,
               on.log),
      executor(on.runtime, on.client, caches, observer, on.fence, on.keys, {on.etcd, link},
               on.rules, on.executor, on.log),
      publisher(on.runtime, on.client, caches, on.fence, on.events, on.executor.call_timeout,
                on.log) {}

void Scopes::add(std::string ns, std::unique_ptr<Scope> scope) {
  by_namespace_[std::move(ns)] = scope.get();
  scopes_.push_back(std::move(scope));
}

Scope& Scopes::of(std::string_view ns) const {
  auto found = by_namespace_.find(ns);
  if (found == by_namespace_.end()) found = by_namespace_.find("");
  CHECK(found != by_namespace_.end(), "namespace {} is not one of ours", ns);
  return *found->second;
}

}  // namespace quorate::op
