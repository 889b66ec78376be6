#include "api/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/flags.h"

namespace quorate::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr EtcdVersion k34{3, 4, 23}, k35{3, 5, 35}, k36{3, 6, 16}, k37{3, 7, 3};

std::string problems_of(const TextTable& options, const EtcdVersion& version = k36) {
  return text(validate_options(options, version, json::Quantity::of(Bytes(std::int64_t{4} << 30))));
}

TEST(Flags, AreInOrderAndFoundByName) {
  const auto flags = etcd_flags();
  EXPECT_TRUE(std::is_sorted(flags.begin(), flags.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const auto& flag : flags) EXPECT_EQ(find_flag(flag.name), &flag);
  EXPECT_EQ(find_flag("no-such-flag"), nullptr);
}

TEST(Flags, LeadToOnesOfTheSameKindThatTheirSuccessorsKnow) {
  for (const auto& flag : etcd_flags()) {
    if (!flag.gate.empty()) {
      const auto gates = feature_gates(k37);
      EXPECT_NE(std::find(gates.begin(), gates.end(), flag.gate), gates.end()) << flag.name;
    }
    if (flag.becomes.empty()) continue;
    const auto* later = find_flag(flag.becomes);
    ASSERT_NE(later, nullptr) << flag.name;
    EXPECT_EQ(later->kind, flag.kind) << flag.name;
    EXPECT_EQ(later->owner, flag.owner) << flag.name;
    EXPECT_TRUE(later->known_to(k37)) << flag.name;
  }
}

TEST(Flags, AreKnownFromAPatchOnWhereTheyWereAddedToAnOlderRelease) {
  const auto* streams = find_flag("max-concurrent-streams");
  EXPECT_FALSE(streams->known_to({3, 4, 19}));
  EXPECT_TRUE(streams->known_to({3, 4, 20}));
  EXPECT_FALSE(streams->known_to({3, 5, 4}));
  EXPECT_TRUE(streams->known_to({3, 6, 0}));
  EXPECT_EQ(streams->known_where(), "3.4 from 3.4.20 on, 3.5 from 3.5.5 on, 3.6, 3.7");
}

struct Case {
  TextTable options;
  const char* problem;
};

TEST(ValidateOptions, NamesOptionValueAndRule) {
  const Case cases[] = {
      {{{"snapshot-cont", "5"}},
       "spec.options.snapshot-cont: etcd has no such flag; did you mean snapshot-count?"},
      {{{"zzzzz", "5"}}, "spec.options.zzzzz: etcd has no such flag"},
      {{{"--snapshot-count", "5"}},
       "spec.options.--snapshot-count: is written without dashes: snapshot-count"},
      {{{"data-dir", "/"}},
       "spec.options.data-dir: is set by Quorate: it says which member this is, and on whose data; "
       "leave it out"},
      {{{"initial-cluster", "a=b"}},
       "spec.options.initial-cluster: is set by Quorate: it says which member this is, and on "
       "whose data; leave it out"},
      {{{"unsafe-no-fsync", "true"}},
       "spec.options.unsafe-no-fsync: is set by Quorate: another value could lose data or quorum; "
       "leave it out"},
      {{{"auto-tls", "true"}},
       "spec.options.auto-tls: is set by Quorate: spec.tls says how connections are secured; leave "
       "it out"},
      {{{"pre-vote", "yes"}}, "spec.options.pre-vote: \"yes\" must be true or false"},
      {{{"snapshot-count", "0"}},
       "spec.options.snapshot-count: \"0\" must be a whole number, at least 1"},
      {{{"max-wals", "1"}}, "spec.options.max-wals: \"1\" must be a whole number, at least 2"},
      {{{"max-request-bytes", "2147483648"}},
       "spec.options.max-request-bytes: \"2147483648\" must be a whole number from 1024 to "
       "134217728"},
      {{{"heartbeat-interval", "0"}},
       "spec.options.heartbeat-interval: \"0\" must be a whole number from 1 to 10000"},
      {{{"heartbeat-interval", "300"}},
       "spec.options.election-timeout: 1000 must be at least five times the heartbeat-interval of "
       "300: 1500"},
      {{{"election-timeout", "3600000"}},
       "spec.options.election-timeout: \"3600000\" must be a whole number from 5 to 50000"},
      {{{"quota-backend-bytes", "-1"}},
       "spec.options.quota-backend-bytes: \"-1\" must be a whole number, at least 16777216"},
      {{{"quota-backend-bytes", "1"}},
       "spec.options.quota-backend-bytes: \"1\" must be a whole number, at least 16777216"},
      {{{"quota-backend-bytes", "8589934592"}},
       "spec.options.quota-backend-bytes: 8589934592 must be at most the size of the volume, 4Gi"},
      {{{"auto-compaction-mode", "sometimes"}},
       "spec.options.auto-compaction-mode: \"sometimes\" must be one of periodic, revision"},
      {{{"auto-compaction-retention", "abc"}},
       "spec.options.auto-compaction-retention: \"abc\" must be a span of time as in 30m, or a "
       "number of hours"},
      {{{"auto-compaction-retention", "-1h"}},
       "spec.options.auto-compaction-retention: \"-1h\" must be a span of time as in 30m, or a "
       "number of hours"},
      {{{"auto-compaction-mode", "revision"}, {"auto-compaction-retention", "30m"}},
       "spec.options.auto-compaction-retention: \"30m\" must be a number of revisions, since "
       "auto-compaction-mode is revision"},
      {{{"warning-apply-duration", "100"}},
       "spec.options.warning-apply-duration: \"100\" must be a span of time, as in 100ms or 1h30m"},
      {{{"cors", "example.com"}},
       "spec.options.cors: \"example.com\" must be * or origins as in https://example.com, "
       "separated by commas"},
      {{{"feature-gates", "InitialCorruptChek=true"}},
       "spec.options.feature-gates: etcd 3.6.16 has no gate InitialCorruptChek; did you mean "
       "InitialCorruptCheck?"},
      {{{"feature-gates", "InitialCorruptCheck"}},
       "spec.options.feature-gates: \"InitialCorruptCheck\" must be a gate and its value, as in "
       "InitialCorruptCheck=true"},
      {{{"corrupt-check-time", "1h"}, {"experimental-corrupt-check-time", "2h"}},
       "spec.options.experimental-corrupt-check-time: corrupt-check-time is given twice, under two "
       "names; leave out one"},
      {{{"log-outputs", ""}},
       "spec.options.log-outputs: \"\" must be something: to leave it at its default, leave it "
       "out"},
  };
  for (const auto& one : cases) EXPECT_EQ(problems_of(one.options), one.problem);
}

TEST(ValidateOptions, AsksTheVersionThatRuns) {
  EXPECT_EQ(problems_of({{"log-format", "json"}}, k36), "");
  EXPECT_EQ(problems_of({{"log-format", "json"}}, k35),
            "spec.options.log-format: etcd 3.5.35 has no such flag; 3.6, 3.7 have it");
  EXPECT_EQ(problems_of({{"enable-v2", "true"}}, k35), "");
  EXPECT_THAT(problems_of({{"enable-v2", "true"}}, k36), HasSubstr("3.4, 3.5 have it"));
  EXPECT_THAT(problems_of({{"max-concurrent-streams", "64"}}, {3, 5, 4}), HasSubstr("3.5.5"));
}

TEST(ValidateOptions, TakesEveryFlagThatIsNotOursInEveryVersionThatHasIt) {
  for (const auto& version : {k34, k35, k36, k37})
    for (const auto& flag : etcd_flags()) {
      if (!flag.known_to(version) || flag.owner != FlagOwner::kDeclared) continue;
      std::string value = "x";
      if (flag.kind == FlagKind::kBool) value = "true";
      if (flag.kind == FlagKind::kWhole) value = std::to_string(std::max<long>(flag.least, 500));
      if (flag.name == "bcrypt-cost") value = "10";
      if (flag.name == "heartbeat-interval") value = "100";
      if (flag.name == "election-timeout") value = "1000";
      if (flag.kind == FlagKind::kDuration || flag.kind == FlagKind::kRetention) value = "1h30m";
      if (flag.kind == FlagKind::kChoice)
        value = std::string(flag.choices.substr(0, flag.choices.find('|')));
      if (flag.kind == FlagKind::kGates) value = "InitialCorruptCheck=true";
      if (flag.kind == FlagKind::kOrigins) value = "*";
      EXPECT_EQ(problems_of({{flag.name, value}}, version), "") << version.text();
    }
}

TEST(OptionArguments, HaveTheNameThatTheReleaseKnows) {
  for (const char* name : {"corrupt-check-time", "experimental-corrupt-check-time"}) {
    const TextTable options{{name, "1h"}};
    EXPECT_THAT(option_arguments(options, k35),
                ElementsAre("--experimental-corrupt-check-time=1h"));
    EXPECT_THAT(option_arguments(options, k36), ElementsAre("--corrupt-check-time=1h"));
    EXPECT_THAT(option_arguments(options, k37), ElementsAre("--corrupt-check-time=1h"));
  }
  EXPECT_THAT(option_arguments({{"backend-bbolt-freelist-type", "map"}}, k34),
              ElementsAre("--experimental-backend-bbolt-freelist-type=map"));
  EXPECT_THAT(option_arguments({}, k36), IsEmpty());
}

TEST(OptionArguments, TurnFlagsIntoGatesAndBack) {
  const TextTable flags{{"experimental-initial-corrupt-check", "true"},
                        {"feature-gates", "CompactHashCheck=true"}};
  EXPECT_THAT(option_arguments(flags, k37),
              ElementsAre("--feature-gates=CompactHashCheck=true,InitialCorruptCheck=true"));
  EXPECT_THAT(option_arguments(flags, k35),
              ElementsAre("--experimental-compact-hash-check-enabled=true",
                          "--experimental-initial-corrupt-check=true"));
  EXPECT_EQ(
      problems_of({{"experimental-initial-corrupt-check", "true"},
                   {"feature-gates", "InitialCorruptCheck=false"}}),
      "spec.options.feature-gates: InitialCorruptCheck is given twice, under two names; leave "
      "out one");
}

}  // namespace
}  // namespace quorate::api
