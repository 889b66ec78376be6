#include "tests/support/certs.h"

#include <gtest/gtest.h>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace quorate::support {
namespace {

using namespace std::chrono_literals;

class Certificates : public ::testing::Test {
 protected:
  Output verify(const CertificateAuthority& authority, const KeyPair& pair,
                std::vector<std::string> more = {}) {
    std::vector<std::string> argv = {"openssl", "verify", "-CAfile", authority.certificate()};
    argv.insert(argv.end(), more.begin(), more.end());
    argv.push_back(pair.certificate);
    return run({.argv = argv});
  }

  std::string text_of(const KeyPair& pair) {
    return run_or_throw({.argv = {"openssl", "x509", "-noout", "-text", "-in", pair.certificate}});
  }

  TempDir folder_;
  CertificateAuthority authority_{folder_.path() / "ca", "test authority"};
};

TEST_F(Certificates, VerifyForTheirNamesAndAddressesAlone) {
  const KeyPair pair = authority_.issue(
      "leaf", {.common_name = "server", .names = {"a.test"}, .addresses = {"127.1.2.3"}});
  EXPECT_TRUE(verify(authority_, pair, {"-purpose", "sslserver"}).ok());
  EXPECT_TRUE(verify(authority_, pair, {"-purpose", "sslclient"}).ok());
  EXPECT_TRUE(verify(authority_, pair, {"-verify_hostname", "a.test"}).ok());
  EXPECT_TRUE(verify(authority_, pair, {"-verify_ip", "127.1.2.3"}).ok());
  EXPECT_FALSE(verify(authority_, pair, {"-verify_hostname", "b.test"}).ok());
  EXPECT_FALSE(verify(authority_, pair, {"-verify_ip", "127.1.2.4"}).ok());
}

TEST_F(Certificates, NameUserAndGroup) {
  const KeyPair pair = authority_.issue("leaf", {.common_name = "jane", .organization = "admins"});
  EXPECT_NE(text_of(pair).find("Subject: O = admins, CN = jane"), std::string::npos);
}

TEST_F(Certificates, OfAnotherAuthorityDoNotVerify) {
  CertificateAuthority other(folder_.path() / "other", "test authority");
  EXPECT_FALSE(verify(other, authority_.issue("leaf", {.common_name = "x"})).ok());
}

TEST_F(Certificates, CanBeExpiredOrNotYetValid) {
  const KeyPair old =
      authority_.issue("old", {.common_name = "x", .valid_from = -2h, .valid_until = -1s});
  const KeyPair early = authority_.issue("early", {.common_name = "x", .valid_from = 1h});
  EXPECT_NE(verify(authority_, old).err.find("certificate has expired"), std::string::npos);
  EXPECT_NE(verify(authority_, early).err.find("certificate is not yet valid"), std::string::npos);
}

TEST_F(Certificates, AreReplacedUnderTheSameName) {
  const KeyPair first = authority_.issue("leaf", {.common_name = "first"});
  const std::string before = text_of(first);
  const KeyPair second = authority_.issue("leaf", {.common_name = "second"});
  EXPECT_EQ(first.certificate, second.certificate);
  EXPECT_NE(text_of(second), before);
  EXPECT_TRUE(verify(authority_, second).ok());
}

}  // namespace
}  // namespace quorate::support
