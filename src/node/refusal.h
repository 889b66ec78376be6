#pragma once

#include <string>

#include "base/error.h"

namespace quorate::node {

// What the kernel says about namespaces of ordinary users; -1 where it has no such setting.
struct NamespaceSettings {
  long max_user_namespaces = -1;        // user.max_user_namespaces
  long unprivileged_userns_clone = -1;  // kernel.unprivileged_userns_clone (Debian, Arch)
  long apparmor_restrict_unprivileged =
      -1;                       // kernel.apparmor_restrict_unprivileged_userns (Ubuntu)
  bool seccomp_filter = false;  // this process runs under one, as in most containers
  bool root = false;

  static NamespaceSettings of_this_machine();
};

// The error for the person who is refused: which call, what the kernel answered, and which setting
// of this machine, as it stands now, would allow it. kForbidden if this machine does not allow it,
// or has not got it; otherwise something went wrong that may go right another time.
//
//   make the fabric: unshare(CLONE_NEWUSER): operation not permitted;
//   kernel.unprivileged_userns_clone is 0 here: `sysctl -w kernel.unprivileged_userns_clone=1` (as
//   root) allows it
Error explain_refusal(const NamespaceSettings& settings, const std::string& call, int number);

}  // namespace quorate::node
