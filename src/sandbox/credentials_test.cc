#include "sandbox/credentials.h"

#include <gtest/gtest.h>

#include "pki/certificate.h"

namespace quorate::sandbox {
namespace {

constexpr WallTime kNow = std::chrono::sys_days(std::chrono::January / 1 / 2030);

TEST(SandboxCredentials, AreTheSameAfterTheyWereKept) {
  pki::SystemKeys keys;
  const auto made = Credentials::make(keys, kNow);
  ASSERT_TRUE(made);
  const auto read = Credentials::parse(made->render(), kNow);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->kubeconfig(6443).reveal(), made->kubeconfig(6443).reveal());
  EXPECT_EQ(read->serving.certificate, made->serving.certificate);
  EXPECT_EQ(read->serving.key.reveal(), made->serving.key.reveal());
}

TEST(SandboxCredentials, AreMadeAnewInTime) {
  pki::SystemKeys keys;
  const auto made = Credentials::make(keys, kNow);
  ASSERT_TRUE(made);
  const auto text = made->render();
  EXPECT_TRUE(Credentials::parse(text, kNow + std::chrono::hours(24 * 334)));
  EXPECT_FALSE(Credentials::parse(text, kNow + std::chrono::hours(24 * 336)));
  EXPECT_FALSE(Credentials::parse(Secret(text.reveal().substr(1)), kNow));
  auto other = *Credentials::make(keys, kNow);
  other.serving.certificate = made->serving.certificate;
  EXPECT_FALSE(Credentials::parse(other.render(), kNow)) << "a key of another certificate";
}

}  // namespace
}  // namespace quorate::sandbox
