#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/process.h"

// The program as people start it: what its flags say when they are wrong.
namespace quorate::test {
namespace {

using ::testing::HasSubstr;
using Environment = std::map<std::string, std::string>;

auto run_operator(std::vector<std::string> flags, Environment environment = {}) {
  support::Command command;
  command.argv = {std::string(QUORATE_BINARY_DIR) + "/quorate", "operator"};
  command.argv.insert(command.argv.end(), flags.begin(), flags.end());
  // A kubeconfig that is not there ends it where all flags were right.
  environment.try_emplace("KUBECONFIG", "/nonexistent/kubeconfig");
  command.env = std::move(environment);
  return support::run(command);
}

constexpr int kWrongUsage = 2;
constexpr int kFailed = 1;

TEST(OperatorFlags, SayWhichFlagWhichValueAndWhatWouldBeRight) {
  struct Case {
    std::string flag, value, right;
  };
  for (const auto& [flag, value, right] : std::vector<Case>{
           {"--namespace", "Team_A", "the name of a namespace"},
           {"--namespace", "a,,b", "separated by commas"},
           {"--selector", "team in", "a label selector, as in team=a"},
           {"--identity", "My Operator", "a name of lower-case letters"},
           {"--replica", "a b", "a name without spaces"},
           {"--lease", "quorate-operator", "NAMESPACE/NAME"},
           {"--lease", "n/", "NAMESPACE/NAME"},
           {"--workers", "0", "a whole number from 1 to 1024"},
           {"--workers", "many", "a whole number from 1 to 1024"},
           {"--default-version", "v3.6.16", "write 3.6.16"},
           {"--default-version", "3.3.1", "3.4"},
           {"--default-repository", "Gcr.io/etcd:v3", "as in gcr.io/etcd-development/etcd"},
           {"--launch-image", "a b", "an image"},
           {"--cluster-domain", "cluster..local", "a domain, as in cluster.local"},
           {"--listen", "8080", "ADDRESS:PORT"},
           {"--listen", "0.0.0.0:66000", "ADDRESS:PORT"},
           {"--listen", "::1:8080", "[::]:8080"},
           {"--metrics-listen", "localhost:80", "ADDRESS:PORT"},
           {"--log-format", "text", "json or human"},
           {"--log-level", "trace", "debug, info, warn or error"},
       }) {
    std::vector<std::string> flags = {flag, value};
    if (flag != "--launch-image") flags.insert(flags.end(), {"--launch-image", "quorate:0.1.0"});
    const auto output = run_operator(flags);
    EXPECT_EQ(output.status.code, kWrongUsage) << flag << " " << value << ": " << output.err;
    EXPECT_THAT(output.err, HasSubstr("quorate operator: " + flag + ": "));
    EXPECT_THAT(output.err, HasSubstr(right)) << flag << " " << value;
  }
}

TEST(OperatorFlags, AreTakenFromTheEnvironmentToo) {
  auto output =
      run_operator({}, {{"QUORATE_LAUNCH_IMAGE", "quorate:0.1.0"}, {"QUORATE_WORKERS", "none"}});
  EXPECT_EQ(output.status.code, kWrongUsage);
  EXPECT_THAT(output.err, HasSubstr("--workers: \"none\" is not"));
  // What stands on the command line counts.
  output = run_operator({"--workers", "4"},
                        {{"QUORATE_LAUNCH_IMAGE", "quorate:0.1.0"}, {"QUORATE_WORKERS", "none"}});
  EXPECT_EQ(output.status.code, kFailed) << output.err;
  EXPECT_THAT(output.err, HasSubstr("/nonexistent/kubeconfig"));
}

TEST(OperatorFlags, ThatAreNotThereAreAnsweredWithTheNearest) {
  const auto output = run_operator({"--worker=4", "--launch-image", "quorate:0.1.0"});
  EXPECT_EQ(output.status.code, kWrongUsage);
  EXPECT_THAT(output.err, HasSubstr("--worker=4: did you mean --workers?"));
}

TEST(OperatorFlags, NeedAnImageForMembersToStartWith) {
  const auto output = run_operator({});
  EXPECT_EQ(output.status.code, kWrongUsage);
  EXPECT_THAT(output.err, HasSubstr("--launch-image: not given"));
  EXPECT_THAT(output.err, HasSubstr("QUORATE_LAUNCH_IMAGE"));
}

TEST(OperatorFlags, StandInTheHelpWithDefaultAndVariable) {
  const auto output = run_operator({"--help"});
  ASSERT_EQ(output.status.code, 0) << output.err;
  for (const char* name :
       {"NAMESPACE", "SELECTOR", "IDENTITY", "REPLICA", "LEASE", "WORKERS", "LAUNCH_IMAGE",
        "DEFAULT_VERSION", "DEFAULT_REPOSITORY", "CLUSTER_DOMAIN", "LISTEN", "METRICS_LISTEN",
        "LOG_FORMAT", "LOG_LEVEL", "KUBECONFIG", "CONTEXT"})
    EXPECT_THAT(output.out, HasSubstr(std::string("QUORATE_") + name));
  for (const char* initial : {"=quorate ", "=16 ", "=3.6.16 ", "=gcr.io/etcd-development/etcd ",
                              "=0.0.0.0:8080 ", "=json ", "=info "})
    EXPECT_THAT(output.out, HasSubstr(initial));
}

}  // namespace
}  // namespace quorate::test
