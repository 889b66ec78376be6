#include "node/refusal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/strings.h"
#include "rt/fd.h"

namespace quorate::node {
namespace {

std::string read_small(const char* path) {
  rt::Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> buffer;
  auto got = fd ? ::read(fd.get(), buffer.data(), buffer.size()) : -1;
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

long read_setting(const char* path) {
  auto number = parse_integer(trim(read_small(path)));
  return number ? static_cast<long>(*number) : -1;
}

std::string set(std::string_view name, std::string_view value, std::string_view now) {
  return fmt::format("{} is {} here: `sysctl -w {}={}` (as root) allows it", name, now, name,
                     value);
}

// Whether the machine does not allow it, or has not got it: trying again would not help.
bool is_final(int number) {
  switch (number) {
    case EACCES:
    case EPERM:
    case ENOSPC:  // said of limits on namespaces
    case EUSERS:
    case ENOSYS:
    case EOPNOTSUPP:
    case ENODEV:
    case EINVAL:  // said of kinds of namespaces that were not built in
      return true;
    default:
      return false;
  }
}

std::string advice(const NamespaceSettings& settings, int number) {
  if (number == ENOSYS) return "this kernel has no such call: Linux 5.12 or newer is needed";
  if (number == EOPNOTSUPP || number == ENODEV || number == EINVAL)
    return "this kernel lacks a part that is needed (bridge, veth, user and network namespaces)";
  if (settings.max_user_namespaces == 0) return set("user.max_user_namespaces", "15000", "0");
  if (number == ENOSPC || number == EUSERS)
    return "the limits user.max_user_namespaces, user.max_net_namespaces or "
           "user.max_mnt_namespaces are used up";
  if (!settings.root && settings.unprivileged_userns_clone == 0)
    return set("kernel.unprivileged_userns_clone", "1", "0");
  if (!settings.root && settings.apparmor_restrict_unprivileged > 0)
    return set("kernel.apparmor_restrict_unprivileged_userns", "0", "1");
  if (settings.seccomp_filter)
    return "this process runs under a seccomp filter, as containers do, which may forbid it: run "
           "it on the machine itself, or in a container with a profile that allows namespaces";
  return "a security module of this machine may forbid it";
}

}  // namespace

NamespaceSettings NamespaceSettings::of_this_machine() {
  NamespaceSettings settings;
  settings.max_user_namespaces = read_setting("/proc/sys/user/max_user_namespaces");
  settings.unprivileged_userns_clone = read_setting("/proc/sys/kernel/unprivileged_userns_clone");
  settings.apparmor_restrict_unprivileged =
      read_setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  settings.seccomp_filter =
      read_small("/proc/self/status").find("Seccomp:\t2") != std::string::npos;
  settings.root = ::geteuid() == 0;
  return settings;
}

Error explain_refusal(const NamespaceSettings& settings, const std::string& call, int number) {
  auto refused = errno_error(call, number);
  const auto code = is_final(number) ? Code::kForbidden : refused.code();
  return Error(code, refused.message() + "; " + advice(settings, number))
      .with_status(number)
      .in(call);
}

}  // namespace quorate::node
