#include "api/text_rules.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <regex>
#include <string>

namespace quorate::api {
namespace {

struct Case {
  const char* name;
  const TextRule* rule;
  const char* letters;  // that make the interesting texts
};

const Case kCases[] = {
    {"cluster name", &kClusterNameRule, "abz019-A."},
    {"version", &kVersionRule, "0123456789."},
    {"repository", &kRepositoryRule, "ab1A:/._-"},
    {"tag", &kTagRule, "aZ0_.-/"},
    {"object name", &kObjectNameRule, "ab1.-A"},
    {"storage class", &kStorageClassRule, "ab1.-A"},
    {"hex id", &kHexIdRule, "0123456789abcdefgA"},
    {"uid", &kUidRule, "aZ0-."},
    {"span", &kSpanRule, "0123hms-"},
    {"time of day", &kTimeOfDayRule, "012359:"},
    {"label key", &kLabelKeyRule, "aZ0-_./"},
    {"label value", &kLabelValueRule, "aZ0-_./"},
    {"network", &kNetworkRule, "019.:/af"},
    {"option value", &kOptionValueRule, "a= $#%~\n"},
    {"quantity", &kQuantityRule, "0123.+-eEKMi mu"},
};

// What the CRD says and what we run agree on every text, good and bad.
TEST(TextRules, SayTheSameAsPatternAndAsPredicate) {
  for (const auto& one : kCases) {
    std::regex pattern{std::string(one.rule->pattern)};
    std::string letters = one.letters;
    EXPECT_TRUE(rc::check(one.name, [&] {
      auto text =
          *rc::gen::resize(14, rc::gen::container<std::string>(rc::gen::elementOf(letters)));
      RC_ASSERT(std::regex_match(text, pattern) == one.rule->holds(text));
    }));
  }
}

TEST(TextRules, TakeWhatIsRightAndRefuseWhatIsNot) {
  EXPECT_TRUE(kRepositoryRule.holds("gcr.io/etcd-development/etcd"));
  EXPECT_TRUE(kRepositoryRule.holds("localhost:5000/etcd"));
  EXPECT_TRUE(kRepositoryRule.holds("etcd"));
  for (const char* wrong :
       {"", "etcd:v3", "etcd@sha256:0", "a b", "a\nb", "a//b", "/a", "a/", "etcd:5000"})
    EXPECT_FALSE(kRepositoryRule.holds(wrong)) << wrong;
  EXPECT_TRUE(kDigestRule.holds("sha256:" + std::string(64, 'a')));
  EXPECT_FALSE(kDigestRule.holds("sha256:" + std::string(63, 'a')));
  EXPECT_FALSE(kDigestRule.holds("sha512:" + std::string(64, 'a')));
  EXPECT_TRUE(kPeerUrlRule.holds("https://c-0.c-peer.n.svc:2380"));
  EXPECT_FALSE(kPeerUrlRule.holds("https://c-0.c-peer.n.svc:2380/x"));
  EXPECT_TRUE(kStorageClassRule.holds(""));
  EXPECT_FALSE(kObjectNameRule.holds(""));
}

}  // namespace
}  // namespace quorate::api
