#include "pki/key.h"

#include <gtest/gtest.h>

#include <set>

#include "base/bytes.h"
#include "pki/digest.h"
#include "pki/nonce.h"
#include "pki/openssl_impl.h"

namespace quorate::pki {
namespace {

TEST(Sha256Stream, GivesTheStandardsExample) {
  Sha256Stream digest;
  digest.update("a");
  digest.update("bc");
  EXPECT_EQ(encode_hex(digest.finish()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(HmacSha256, MatchesRfc4231) {
  const auto digest = hmac_sha256("Jefe", "what do ya want for nothing?");
  EXPECT_EQ(encode_hex({reinterpret_cast<const char*>(digest.data()), digest.size()}),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(PrivateKey, ReadsWhatItWrites) {
  SystemKeys keys;
  const auto key = keys.make_key();
  EXPECT_TRUE(key.is_p256());
  EXPECT_TRUE(key.pem().reveal().starts_with("-----BEGIN PRIVATE KEY-----\n"));
  const auto again = PrivateKey::parse(key.pem());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->public_der(), key.public_der());
  EXPECT_EQ(again->pem(), key.pem());
}

TEST(PrivateKey, RefusesWhatIsNotAKeyAndDoesNotQuoteIt) {
  SystemKeys keys;
  const auto pem = keys.make_key().pem().reveal();
  for (const auto& text : {std::string(), std::string("hunter2"), pem.substr(0, pem.size() / 2),
                           std::string("-----BEGIN PRIVATE KEY-----\nhunter2\n"
                                       "-----END PRIVATE KEY-----\n")}) {
    const auto key = PrivateKey::parse(Secret(text));
    ASSERT_FALSE(key);
    EXPECT_EQ(key.error().code(), Code::kInvalid);
    EXPECT_EQ(key.error().text().find("hunter2"), std::string::npos);
  }
}

TEST(SystemKeys, NeverGivesTheSameTwice) {
  SystemKeys keys;
  std::set<std::string> publics, serials;
  for (int i = 0; i < 20; ++i) {
    publics.insert(keys.make_key().public_der());
    serials.insert(keys.make_serial().value());
  }
  EXPECT_EQ(publics.size(), 20U);
  EXPECT_EQ(serials.size(), 20U);
}

TEST(SeededKeys, GivesTheSameForTheSameSeedAndOrder) {
  SeededKeys a(7), b(7), c(8);
  const auto first = a.make_key(), same = b.make_key(), other = c.make_key();
  EXPECT_EQ(first.pem(), same.pem());
  EXPECT_NE(first.pem(), other.pem());
  EXPECT_NE(a.make_key().pem(), first.pem());
  EXPECT_EQ(b.make_key().is_p256(), true);
  EXPECT_EQ(a.make_serial(), b.make_serial());
  EXPECT_EQ(a.sign(first, "x"), b.sign(same, "x"));
  EXPECT_NE(a.sign(first, "x"), a.sign(first, "y"));
}

TEST(SeededKeys, MakesKeysThatReadBack) {
  SeededKeys keys(1);
  const auto key = keys.make_key();
  const auto again = PrivateKey::parse(key.pem());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->public_der(), key.public_der());
}

TEST(Serial, IsPositiveAndOfOneLength) {
  SystemKeys system;
  SeededKeys seeded(3);
  for (KeySource* keys : {static_cast<KeySource*>(&system), static_cast<KeySource*>(&seeded)})
    for (int i = 0; i < 20; ++i) {
      const auto serial = keys->make_serial().value();
      ASSERT_EQ(serial.size(), 16U);
      EXPECT_GE(serial[0], 0x40);
    }
}

bool verifies(const PrivateKey& key, std::string_view bytes, std::string_view signature) {
  const std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>> context(EVP_MD_CTX_new());
  EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.rep().key.get());
  return EVP_DigestVerify(context.get(), unsigned_bytes(signature), signature.size(),
                          unsigned_bytes(bytes), bytes.size()) == 1;
}

TEST(KeySource, SignsWhatOpensslVerifies) {
  SystemKeys system;
  SeededKeys seeded(5);
  for (KeySource* keys : {static_cast<KeySource*>(&system), static_cast<KeySource*>(&seeded)})
    for (int i = 0; i < 10; ++i) {
      const auto key = keys->make_key();
      const auto text = "message " + std::to_string(i);
      const auto signature = keys->sign(key, text);
      EXPECT_TRUE(verifies(key, text, signature));
      EXPECT_FALSE(verifies(key, text + "!", signature));
    }
}

// RFC 6979, A.2.5: P-256 with SHA-256.
TEST(SignDeterministically, MatchesThePublishedVectors) {
  const auto key = *decode_hex("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
  EXPECT_EQ(encode_hex(sign_deterministically(key, sha256("sample"))),
            "3046"
            "022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
            "022100f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8");
  EXPECT_EQ(encode_hex(sign_deterministically(key, sha256("test"))),
            "3045"
            "022100f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
            "0220019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083");
}

}  // namespace
}  // namespace quorate::pki
