#include "node/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace quorate::node {
namespace {

using testing::HasSubstr;

NamespaceSettings open_settings() {
  NamespaceSettings settings;
  settings.max_user_namespaces = 15000;
  settings.unprivileged_userns_clone = 1;
  settings.apparmor_restrict_unprivileged = 0;
  return settings;
}

std::string refusal(const NamespaceSettings& settings, int number) {
  return explain_refusal(settings, "unshare(CLONE_NEWUSER)", number).text();
}

TEST(Refusal, NamesTheCallTheAnswerAndTheSettingThatForbidsIt) {
  auto settings = open_settings();
  settings.unprivileged_userns_clone = 0;
  EXPECT_EQ(refusal(settings, EPERM),
            "unshare(CLONE_NEWUSER): operation not permitted; kernel.unprivileged_userns_clone is "
            "0 here: `sysctl -w kernel.unprivileged_userns_clone=1` (as root) allows it");
}

TEST(Refusal, KnowsTheSettingsOfSeveralDistributions) {
  auto none_left = open_settings();
  none_left.max_user_namespaces = 0;
  EXPECT_THAT(refusal(none_left, ENOSPC), HasSubstr("user.max_user_namespaces is 0 here"));
  auto apparmor = open_settings();
  apparmor.apparmor_restrict_unprivileged = 1;
  EXPECT_THAT(refusal(apparmor, EACCES),
              HasSubstr("`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`"));
  auto seccomp = open_settings();
  seccomp.seccomp_filter = true;
  EXPECT_THAT(refusal(seccomp, EPERM), HasSubstr("seccomp filter"));
  EXPECT_THAT(refusal(open_settings(), EPERM), HasSubstr("a security module"));
}

TEST(Refusal, DoesNotSendRootToSettingsOfOrdinaryUsers) {
  auto settings = open_settings();
  settings.unprivileged_userns_clone = 0;
  settings.apparmor_restrict_unprivileged = 1;
  settings.root = true;
  EXPECT_THAT(refusal(settings, EPERM), HasSubstr("a security module"));
}

TEST(Refusal, TellsAMissingPartFromAForbiddenOne) {
  EXPECT_THAT(refusal(open_settings(), ENOSYS), HasSubstr("Linux 5.12 or newer"));
  EXPECT_THAT(refusal(open_settings(), EOPNOTSUPP), HasSubstr("bridge, veth"));
  EXPECT_THAT(refusal(open_settings(), ENOSPC), HasSubstr("are used up"));
}

TEST(Refusal, IsForbiddenUnlessAnotherTryMayHelp) {
  const auto code = [](int number) {
    return explain_refusal(open_settings(), "unshare(CLONE_NEWUSER)", number).code();
  };
  for (const int number : {EPERM, EACCES, ENOSPC, EUSERS, ENOSYS, EOPNOTSUPP, ENODEV, EINVAL})
    EXPECT_EQ(code(number), Code::kForbidden) << number;
  EXPECT_EQ(code(ENOMEM), Code::kUnavailable);
}

}  // namespace
}  // namespace quorate::node
