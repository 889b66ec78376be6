#include "api/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/names.h"

namespace quorate::api {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(EtcdVersion, ReadsThreeNumbers) {
  EXPECT_EQ(*parse_etcd_version("3.6.16"), (EtcdVersion{3, 6, 16}));
  EXPECT_EQ((EtcdVersion{3, 10, 2}.text()), "3.10.2");
  EXPECT_LT((EtcdVersion{3, 5, 35}), (EtcdVersion{3, 6, 0}));
}

// Each wrong one is named, with what would be right.
TEST(EtcdVersion, SaysWhatIsWrongAndWhatWouldBeRight) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "\"\" is not a version: write three numbers, as in 3.6.16"},
      {"latest", "\"latest\" is not a version: write three numbers, as in 3.6.16"},
      {"v3.5.16", "\"v3.5.16\" is not a version: write 3.5.16"},
      {"3.5", "\"3.5\" is not a version: write three numbers, as in 3.5.35"},
      {"3.5.16 ", "\"3.5.16 \" is not a version: write 3.5.16"},
      {"3.5.16-rc.1", "\"3.5.16-rc.1\" is not a version: pre-releases are not run; write 3.5.16"},
      {"3.5.16;reboot", "\"3.5.16;reboot\" is not a version: write three numbers, as in 3.6.16"},
      {"3.05.16", "\"3.05.16\" is not a version: write three numbers, as in 3.6.16"},
      {"3.5.-1", "\"3.5.-1\" is not a version: write three numbers, as in 3.6.16"},
      {"3.5.99999999999",
       "\"3.5.99999999999\" is not a version: write three numbers, as in 3.6.16"},
  };
  for (const auto& [text, message] : cases) {
    auto version = parse_etcd_version(text);
    ASSERT_FALSE(version) << text;
    EXPECT_EQ(version.error().message(), message);
  }
}

TEST(EtcdVersion, IsRunFrom34To37) {
  for (const char* good : {"3.4.0", "3.4.23", "3.5.3", "3.5.35", "3.6.16", "3.7.0", "3.7.99"})
    EXPECT_TRUE(check_supported(*parse_etcd_version(good))) << good;
  EXPECT_THAT(check_supported({9, 9, 9}).error().message(),
              HasSubstr("9.9.9 is not run: 3.4 to 3.7 are; the nearest is 3.7.3"));
  EXPECT_THAT(check_supported({3, 3, 27}).error().message(), HasSubstr("the nearest is 3.4.23"));
  EXPECT_THAT(check_supported({2, 3, 8}).error().message(), HasSubstr("the nearest is 3.4.23"));
  EXPECT_THAT(check_supported({3, 5, 1}).error().message(),
              HasSubstr("3.5.0 to 3.5.2 can corrupt data; write 3.5.3 or later"));
}

TEST(EtcdVersion, KnowsWhatDiffers) {
  EXPECT_EQ(readiness_path({3, 4, 23}), "/health");
  EXPECT_EQ(readiness_path({3, 5, 10}), "/health");
  EXPECT_EQ(readiness_path({3, 5, 11}), "/readyz");
  EXPECT_EQ(readiness_path({3, 6, 0}), "/readyz");
  EXPECT_THAT(skip_client_san_flag({3, 5, 35}), HasSubstr("experimental"));
  EXPECT_THAT(skip_client_san_flag({3, 6, 16}), Not(HasSubstr("experimental")));
}

TEST(EtcdArguments, SecureBothSidesUnlessTold) {
  auto arguments = make_etcd_arguments({{3, 6, 16}, "https://c-0:2379", true, true});
  EXPECT_THAT(arguments, Contains("--peer-client-cert-auth=true"));
  EXPECT_THAT(arguments, Contains("--client-cert-auth=true"));
  EXPECT_THAT(arguments, Contains("--peer-skip-client-san-verification=true"));
  EXPECT_THAT(arguments, Contains("--listen-client-urls=https://0.0.0.0:2379"));
  EXPECT_THAT(arguments, Contains("--listen-metrics-urls=http://0.0.0.0:2381"));

  auto plain = make_etcd_arguments({{3, 6, 16}, "http://c-0:2379", false, false});
  for (const auto& argument : plain) {
    EXPECT_THAT(argument, Not(HasSubstr("https")));
    EXPECT_THAT(argument, Not(HasSubstr("cert")));
  }
}

// The launch guard adds these; the Pod's arguments carry no state.
TEST(EtcdArguments, CarryNoState) {
  for (const auto& argument : make_etcd_arguments({{3, 4, 23}, "http://c-0:2379", true, true}))
    for (const char* owned : {"--initial-", "--name", "--data-dir", "--force-new-cluster"})
      EXPECT_THAT(argument, Not(HasSubstr(owned)));
}

TEST(Defaults, AreRun) { EXPECT_TRUE(check_supported(*parse_etcd_version(kDefaultEtcdVersion))); }

}  // namespace
}  // namespace quorate::api
