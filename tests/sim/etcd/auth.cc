#include "tests/sim/etcd/auth.h"

#include <algorithm>

namespace quorate::etcdsim {
namespace {

// Whether `outer` holds all of `inner`.
bool covers(const etcd::KeyRange& outer, const etcd::KeyRange& inner) {
  auto last = [](const etcd::KeyRange& range) {
    return range.end.empty() ? range.key + '\0' : range.end;
  };
  const std::string open(1, '\0');
  if (inner.key < outer.key) return false;
  if (!outer.end.empty() && outer.end == open) return true;
  if (!inner.end.empty() && inner.end == open) return false;
  return last(inner) <= last(outer);
}

}  // namespace

std::optional<etcd::Reason> AuthStore::apply(const AuthChange& change) {
  switch (change.kind) {
    case AuthChange::Kind::kEnable:
      if (!is_root("root")) return etcd::Reason::kAuthPermissionDenied;
      enabled_ = true;
      break;
    case AuthChange::Kind::kDisable:
      enabled_ = false;
      break;
    case AuthChange::Kind::kAddUser:
      users_[change.user].password = change.password;
      break;
    case AuthChange::Kind::kDeleteUser:
      users_.erase(change.user);
      break;
    case AuthChange::Kind::kGrantRole:
      users_[change.user].roles.insert(change.role);
      break;
    case AuthChange::Kind::kAddRole:
      roles_.try_emplace(change.role);
      break;
    case AuthChange::Kind::kGrantKeys:
      roles_[change.role].push_back(change.range);
      break;
  }
  ++revision_;
  return std::nullopt;
}

bool AuthStore::accepts(const std::string& user, const std::string& password) const {
  auto found = users_.find(user);
  return found != users_.end() && found->second.password == password;
}

bool AuthStore::is_root(const std::string& user) const {
  auto found = users_.find(user);
  return found != users_.end() && found->second.roles.contains("root");
}

std::optional<etcd::Reason> AuthStore::check_user(const std::string& user) const {
  if (!enabled_) return std::nullopt;
  if (user.empty()) return etcd::Reason::kAuthUserEmpty;
  return users_.contains(user) ? std::nullopt : std::optional(etcd::Reason::kAuthFailed);
}

std::optional<etcd::Reason> AuthStore::check_admin(const std::string& user) const {
  if (auto why = check_user(user)) return why;
  if (!enabled_ || is_root(user)) return std::nullopt;
  return etcd::Reason::kAuthPermissionDenied;
}

std::optional<etcd::Reason> AuthStore::check_keys(const std::string& user,
                                                  const etcd::KeyRange& range) const {
  if (auto why = check_user(user)) return why;
  if (!enabled_ || is_root(user)) return std::nullopt;
  for (const auto& role : users_.at(user).roles) {
    auto found = roles_.find(role);
    if (found != roles_.end() &&
        std::ranges::any_of(found->second, [&](const auto& each) { return covers(each, range); }))
      return std::nullopt;
  }
  return etcd::Reason::kAuthPermissionDenied;
}

}  // namespace quorate::etcdsim
