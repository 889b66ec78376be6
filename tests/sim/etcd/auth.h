#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "etcd/errors.h"
#include "etcd/types.h"

namespace quorate::etcdsim {

// A change of users, roles and of whether they matter at all.
struct AuthChange {
  enum class Kind { kEnable, kDisable, kAddUser, kDeleteUser, kGrantRole, kAddRole, kGrantKeys };
  Kind kind = Kind::kEnable;
  std::string user;
  std::string role;
  std::string password;
  etcd::KeyRange range;  // kGrantKeys: may be read and written
};

// Who may do what. Off until it is enabled; `root` with the role `root` may do everything.
class AuthStore {
 public:
  bool enabled() const { return enabled_; }
  std::uint64_t revision() const { return revision_; }
  std::optional<etcd::Reason> apply(const AuthChange& change);

  bool accepts(const std::string& user, const std::string& password) const;
  // Why this user may not; nothing if it may. An empty name is nobody.
  std::optional<etcd::Reason> check_user(const std::string& user) const;
  std::optional<etcd::Reason> check_admin(const std::string& user) const;
  std::optional<etcd::Reason> check_keys(const std::string& user,
                                         const etcd::KeyRange& range) const;

 private:
  struct User {
    std::string password;
    std::set<std::string> roles;
  };
  bool is_root(const std::string& user) const;

  bool enabled_ = false;
  std::uint64_t revision_ = 1;
  std::map<std::string, User> users_;
  std::map<std::string, std::vector<etcd::KeyRange>> roles_;
};

}  // namespace quorate::etcdsim
