#include "base/redact.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"

namespace quorate {
namespace {

TEST(IsSecretName, KnowsTheUsualSpellings) {
  for (auto name :
       {"token", "Token", "bearer_token", "serviceAccountToken", "password", "rootPassword",
        "PASSWD", "secret", "client-secret", "Authorization", "tls.key", "client-key-data",
        "private_key", "secretAccessKey", "credentials", "keyPassphrase", "x-api-key"})
    EXPECT_TRUE(is_secret_name(name)) << name;
}

TEST(IsSecretName, LeavesNamesThatOnlySpeakOfSecrets) {
  for (auto name : {"key", "secretName", "tokenPath", "secrets", "passwordFile", "cluster", "",
                    "publicKey", "member", "tls.crt", "accessKeyID"})
    EXPECT_FALSE(is_secret_name(name)) << name;
}

struct Case {
  std::string_view text;
  std::string_view redacted;
};

class Redact : public testing::TestWithParam<Case> {};

TEST_P(Redact, TakesTheSecretOutAndLeavesTheRest) {
  EXPECT_EQ(redact(GetParam().text), GetParam().redacted);
}

INSTANTIATE_TEST_SUITE_P(
    Secrets, Redact,
    testing::Values(
        Case{"a -----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----\nb", "a [redacted]\nb"},
        Case{"-----BEGIN EC PRIVATE KEY-----\\nMIG\\n-----END EC PRIVATE KEY-----", "[redacted]"},
        Case{"cut off -----BEGIN RSA PRIVATE KEY-----\nMIGH", "cut off [redacted]"},
        Case{"key LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JR0g= here", "key [redacted] here"},
        Case{"got Bearer abc.def-ghi from x", "got Bearer [redacted] from x"},
        Case{"got bearer xyz", "got bearer [redacted]"},
        Case{"Basic dXNlcjpwYXNz", "Basic [redacted]"},
        Case{"Authorization: Bearer xyz", "Authorization: [redacted]"},
        Case{"sent Authorization: Basic dXNlcjpwYXNz, then",
             "sent Authorization: [redacted], then"},
        Case{"id eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJl end", "id [redacted] end"},
        Case{"dial https://root:hunter2@etcd:2379/v3 now",
             "dial https://[redacted]@etcd:2379/v3 now"},
        Case{"https://token@host", "https://[redacted]@host"},
        Case{"etcdctl --password=hunter2 get", "etcdctl --password=[redacted] get"},
        Case{R"({"token":"abc","name":"x"})", R"({"token":"[redacted]","name":"x"})"},
        Case{R"({"rootPassword": "a\"b", "n": 1})", R"({"rootPassword": "[redacted]", "n": 1})"},
        Case{R"(body {\"token\":\"abc\",\"n\":1})", R"(body {\"token\":\"[redacted]\",\"n\":1})"},
        Case{"a: 1\n  password: hunter2\nb: 2", "a: 1\n  password: [redacted]\nb: 2"},
        Case{"?access_token=abc&x=1", "?access_token=[redacted]&x=1"}));

INSTANTIATE_TEST_SUITE_P(
    Innocent, Redact,
    testing::Values(Case{"read token: no such file", "read token: no such file"},
                    Case{"basic authentication is off", "basic authentication is off"},
                    Case{"https://etcd-0.c-peer.n.svc:2379/health?x=1",
                         "https://etcd-0.c-peer.n.svc:2379/health?x=1"},
                    Case{"-----BEGIN CERTIFICATE-----\nMIG\n-----END CERTIFICATE-----",
                         "-----BEGIN CERTIFICATE-----\nMIG\n-----END CERTIFICATE-----"},
                    Case{"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t",
                         "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"},
                    Case{"secretName=c-peer-tls key=n/c", "secretName=c-peer-tls key=n/c"},
                    Case{"password=", "password="},
                    Case{"eyJ is how they begin", "eyJ is how they begin"}, Case{"", ""}));

// Secrets of any content, in the places where they are met.
RC_GTEST_PROP(RedactAnything, LetsNoSecretThrough, ()) {
  const auto letters = rc::gen::elementOf(std::string("abcXYZ0189_-"));
  const auto secret = "S3CR" + *rc::gen::container<std::string>(letters) + "ET";
  const auto around =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab =:\"'\\{},\n/@.-")));
  const std::vector<std::string> texts = {
      around + " Bearer " + secret,
      around + "\n-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----" + around,
      around + " https://user:" + secret + "@host/" + around,
      around + " Basic " + encode_base64("root:" + secret),
  };
  for (const auto& text : texts) {
    const auto safe = redact(text);
    RC_ASSERT(safe.find(secret) == std::string::npos);
    RC_ASSERT(safe.find(encode_base64("root:" + secret)) == std::string::npos);
  }
}

// Texts made of everything that the rules look for.
RC_GTEST_PROP(RedactAnything, IsIdempotentAndNeverFails, ()) {
  const auto piece = rc::gen::elementOf(std::vector<std::string>{"token",
                                                                 "password",
                                                                 "=",
                                                                 ":",
                                                                 "\"",
                                                                 "\\",
                                                                 "'",
                                                                 "Bearer ",
                                                                 "basic ",
                                                                 "eyJhbGciOiJSUzI1NiJ9",
                                                                 ".",
                                                                 "://",
                                                                 "@",
                                                                 "-----BEGIN ",
                                                                 "PRIVATE KEY-----",
                                                                 "LS0tLS1CRUdJTi",
                                                                 " ",
                                                                 "\n",
                                                                 "x",
                                                                 ","});
  std::string text;
  for (const auto& part : *rc::gen::container<std::vector<std::string>>(piece)) text += part;
  const auto once = redact(text);
  RC_ASSERT(redact(once) == once);
}

}  // namespace
}  // namespace quorate
