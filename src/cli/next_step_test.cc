#include "cli/next_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quorate::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Contact contact(bool answered) { return {"https://10.0.0.1:6443", "staging", answered}; }

TEST(NextStep, NamesTheServerThatDoesNotAnswer) {
  EXPECT_THAT(next_step(Error(Code::kUnavailable, "connection refused"), contact(false)),
              AllOf(HasSubstr("https://10.0.0.1:6443"), HasSubstr("context staging"),
                    HasSubstr("--kubeconfig")));
  EXPECT_NE(next_step(Error(Code::kTimeout, "deadline passed"), contact(false)), "");
}

TEST(NextStep, IsToRenewCredentialsThatAreNotAccepted) {
  EXPECT_THAT(next_step(Error(Code::kForbidden, "Unauthorized").with_status(401), contact(true)),
              AllOf(HasSubstr("renew the credentials of context staging"), HasSubstr("--context")));
}

TEST(NextStep, IsANewKubeconfigWhereTheServerIsNotTrusted) {
  EXPECT_THAT(next_step(Error(Code::kForbidden, "unknown authority").in("tls"), contact(false)),
              HasSubstr("get a new kubeconfig"));
}

// What a server that answers says is for people already.
TEST(NextStep, IsNotAddedToWhatTheServerSays) {
  EXPECT_EQ(next_step(Error(Code::kForbidden, "cannot list").with_status(403), contact(true)), "");
  EXPECT_EQ(next_step(Error(Code::kUnavailable, "no member runs"), contact(true)), "");
  EXPECT_EQ(next_step(Error(Code::kInvalid, "--timeout"), contact(false)), "");
}

}  // namespace
}  // namespace quorate::cli
