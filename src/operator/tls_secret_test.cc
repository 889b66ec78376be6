#include "operator/tls_secret.h"

#include <gtest/gtest.h>

#include "pki/authority.h"

namespace quorate::op {
namespace {

const ObjectKey kLongest{std::string(63, 'n'), std::string(50, 'c') + "-operator-tls"};

TEST(CertificateName, IsSecretAndNamespace) {
  EXPECT_EQ(certificate_name({"team", "c-peer-ca"}), "c-peer-ca.team");
}

TEST(CertificateName, OfTheLongestNamesIsOneThatACertificateCanCarry) {
  pki::SeededKeys keys(1);
  const WallTime now{std::chrono::hours(500'000)};
  auto authority =
      pki::Authority::make(keys, certificate_name(kLongest), {now, now + std::chrono::hours(1)});
  ASSERT_TRUE(authority) << authority.error().text();
}

TEST(CertificateName, DiffersWhereLongNamesDifferOnlyAtTheirEnds) {
  auto other = kLongest;
  other.ns.back() = 'm';
  EXPECT_NE(certificate_name(kLongest), certificate_name(other));
}

}  // namespace
}  // namespace quorate::op
