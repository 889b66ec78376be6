#include "base/bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace quorate {
namespace {

// RFC 4648 section 10.
TEST(EncodeBase64, MatchesThePublishedVectors) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("f"), "Zg==");
  EXPECT_EQ(encode_base64("fo"), "Zm8=");
  EXPECT_EQ(encode_base64("foo"), "Zm9v");
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encode_base64("\xfb\xff", Base64::kStandard), "+/8=");
  EXPECT_EQ(encode_base64("\xfb\xff", Base64::kUrl), "-_8");
}

RC_GTEST_PROP(Base64, DecodesWhatItEncoded, (const std::string& bytes)) {
  RC_ASSERT(*decode_base64(encode_base64(bytes)) == bytes);
  RC_ASSERT(*decode_base64(encode_base64(bytes, Base64::kUrl), Base64::kUrl) == bytes);
}

// Whatever decodes encodes back to the same text: there is one text for each byte string.
RC_GTEST_PROP(Base64, HasOneTextForEachByteString, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("AQgwZ0+/=")));
  if (const auto bytes = decode_base64(text)) RC_ASSERT(encode_base64(*bytes) == text);
}

TEST(DecodeBase64, RefusesWhatIsNot) {
  for (auto text : {"Zg", "Zg=", "Zg===", "Z", "====", "Zm9v\n", "Zm 9", "Zh==", "Zm-_", "=Zg="})
    EXPECT_EQ(decode_base64(text).error().code(), Code::kInvalid) << text;
  EXPECT_FALSE(decode_base64("Z", Base64::kUrl));
  EXPECT_FALSE(decode_base64("Zg=", Base64::kUrl));
  EXPECT_EQ(*decode_base64("Zg==", Base64::kUrl), "f");
}

TEST(DecodeBase64, NeverQuotesItsInput) {
  EXPECT_EQ(decode_base64("hunter2!").error().text().find("hunter2"), std::string::npos);
}

RC_GTEST_PROP(Hex, DecodesWhatItEncoded, (const std::string& bytes)) {
  RC_ASSERT(*decode_hex(encode_hex(bytes)) == bytes);
}

TEST(Hex, ReadsBothCasesAndRefusesTheRest) {
  EXPECT_EQ(encode_hex("\x01\xab"), "01ab");
  EXPECT_EQ(*decode_hex("01AB"), "\x01\xab");
  EXPECT_FALSE(decode_hex("abc"));
  EXPECT_FALSE(decode_hex("zz"));
}

TEST(ValidUtf8, RefusesOverlongSurrogatesAndCutSequences) {
  EXPECT_TRUE(is_valid_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
  for (std::string_view text : {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                "\xc3", "\xe2\x82", "\x80", "\xff"})
    EXPECT_FALSE(is_valid_utf8(text)) << encode_hex(text);
  EXPECT_EQ(to_valid_utf8("a\xff"
                          "b"),
            "a\xef\xbf\xbd"
            "b");
}

RC_GTEST_PROP(ValidUtf8, IsWhatComesOutAndKeepsWhatIsValid, (const std::string& bytes)) {
  const auto valid = to_valid_utf8(bytes);
  RC_ASSERT(is_valid_utf8(valid));
  RC_ASSERT(to_valid_utf8(valid) == valid);
}

}  // namespace
}  // namespace quorate
