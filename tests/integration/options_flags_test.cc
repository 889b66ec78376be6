// The table of etcd's flags against the real programs. With `--version` etcd reads its flags, which
// tells whether it knows them and what it takes, and starts nothing.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "api/flags.h"
#include "api/options.h"
#include "base/strings.h"
#include "datadir/environment.h"
#include "tests/support/parts.h"
#include "tests/support/process.h"

namespace quorate::test {
namespace {

using api::EtcdFlag;
using api::EtcdVersion;
using api::FlagKind;
using ::testing::HasSubstr;

class EtcdFlags : public ::testing::TestWithParam<EtcdVersion> {
 protected:
  // What etcd says of these flags; empty if it takes them.
  static std::string complaint(std::vector<std::string> flags) {
    std::vector<std::string> argv{support::part("etcd-" + GetParam().text()) / "etcd"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.push_back("--version");
    auto output = support::run({.argv = std::move(argv)});
    if (output.ok()) return "";
    const auto line = cut(output.err, "\n");
    return std::string(line ? line->before : output.err);
  }
  static std::string help() {
    auto output =
        support::run({.argv = {support::part("etcd-" + GetParam().text()) / "etcd", "--help"}});
    return output.out + output.err;
  }
  static std::string given(const EtcdFlag& flag, std::string_view value) {
    return fmt::format("--{}={}", flag.name, value);
  }
};

std::string good_value(const EtcdFlag& flag) {
  switch (flag.kind) {
    case FlagKind::kBool:
      return "false";
    case FlagKind::kWhole:
      return std::to_string(flag.least);
    case FlagKind::kDuration:
      return "1h30m";
    case FlagKind::kChoice:
      return std::string(split(flag.choices, '|').front());
    case FlagKind::kRetention:
      return "30m";
    case FlagKind::kGates:
      return "InitialCorruptCheck=true";
    case FlagKind::kOrigins:
      return "*";
    case FlagKind::kText:
      break;
  }
  if (flag.name.ends_with("-urls")) return "http://localhost:1";
  if (flag.name == "initial-cluster-state") return "existing";
  if (flag.name == "discovery-fallback") return "exit";
  if (flag.name == "proxy") return "off";
  if (flag.name == "v2-deprecation") return "write-only";
  return "x";
}

TEST_P(EtcdFlags, ThatWeThinkItKnowsAreTaken) {
  std::vector<std::string> all;
  for (const auto& flag : api::etcd_flags())
    if (flag.known_to(GetParam())) all.push_back(given(flag, good_value(flag)));
  EXPECT_GT(all.size(), 80U);
  EXPECT_EQ(complaint(all), "");
}

TEST_P(EtcdFlags, ThatWeThinkItDoesNotKnowAreRefused) {
  for (const auto& flag : api::etcd_flags())
    if (!flag.known_to(GetParam()))
      EXPECT_THAT(complaint({given(flag, good_value(flag))}), HasSubstr("not defined"));
}

TEST_P(EtcdFlags, ThatItsHelpShowsAreInTheTable) {
  const auto text = help();
  const std::regex shown("\n *--([a-z0-9][a-z0-9-]+)");
  int count = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), shown), end; at != end; ++at) {
    const auto name = (*at)[1].str();
    const auto* flag = api::find_flag(name);
    ASSERT_NE(flag, nullptr) << name;
    // The help of 3.7 still shows flags that it does not know any more.
    if (!flag->known_to(GetParam()))
      EXPECT_THAT(complaint({given(*flag, good_value(*flag))}), HasSubstr("not defined"));
    ++count;
  }
  EXPECT_GT(count, 60);
}

TEST_P(EtcdFlags, HaveValuesOfTheKindThatWeThink) {
  for (const auto& flag : api::etcd_flags()) {
    if (!flag.known_to(GetParam())) continue;
    switch (flag.kind) {
      case FlagKind::kBool:
        EXPECT_THAT(complaint({given(flag, "7")}), HasSubstr("invalid boolean value"));
        break;
      case FlagKind::kWhole:
        EXPECT_THAT(complaint({given(flag, "1h")}), HasSubstr("invalid value")) << flag.name;
        break;
      case FlagKind::kDuration:
        EXPECT_THAT(complaint({given(flag, "7")}), HasSubstr("invalid value")) << flag.name;
        break;
      case FlagKind::kGates:
        EXPECT_THAT(complaint({given(flag, "NoSuchGate=true")}), HasSubstr("NoSuchGate"));
        break;
      case FlagKind::kOrigins:
        EXPECT_THAT(complaint({given(flag, "x")}), HasSubstr("invalid value")) << flag.name;
        break;
      case FlagKind::kText:
      case FlagKind::kChoice:
      case FlagKind::kRetention:
        break;  // etcd looks at these when it starts
    }
  }
}

TEST_P(EtcdFlags, OfFeaturesAreTheGatesThatItsHelpShows) {
  const auto text = help();
  std::set<std::string> shown;
  const std::regex gate("([A-Za-z0-9]+)=true\\|false");
  for (std::sregex_iterator at(text.begin(), text.end(), gate), end; at != end; ++at)
    shown.insert((*at)[1].str());
  const auto known = api::feature_gates(GetParam());
  EXPECT_EQ(shown, std::set<std::string>(known.begin(), known.end()));
}

TEST_P(EtcdFlags, ThatWeTranslateAreTaken) {
  const api::TextTable options{{"experimental-initial-corrupt-check", "true"},
                               {"experimental-corrupt-check-time", "1h"},
                               {"backend-bbolt-freelist-type", "map"},
                               {"experimental-enable-lease-checkpoint", "true"},
                               {"quota-backend-bytes", "1073741824"},
                               {"auto-compaction-mode", "revision"},
                               {"auto-compaction-retention", "1000"}};
  EXPECT_EQ(api::text(api::validate_options(options, GetParam(), std::nullopt)), "");
  EXPECT_EQ(complaint(api::option_arguments(options, GetParam())), "");
}

INSTANTIATE_TEST_SUITE_P(Of, EtcdFlags,
                         ::testing::Values(EtcdVersion{3, 4, 23}, EtcdVersion{3, 5, 35},
                                           EtcdVersion{3, 6, 16}, EtcdVersion{3, 7, 3}),
                         [](const auto& of) {
                           return fmt::format("{}_{}_{}", of.param.major, of.param.minor,
                                              of.param.patch);
                         });

// What the guard would not start etcd with never reaches it.
TEST(LaunchGuard, RefusesNoOptionThatWeTake) {
  datadir::Told told;
  told.member = "c-0";
  int refused = 0;
  for (const auto& flag : api::etcd_flags()) {
    auto command = datadir::make_command({"etcd", fmt::format("--{}=x", flag.name)}, told, {}, "d");
    if (command) continue;
    EXPECT_NE(flag.owner, api::FlagOwner::kDeclared) << flag.name;
    ++refused;
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace quorate::test
