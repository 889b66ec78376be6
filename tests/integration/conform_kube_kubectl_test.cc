// kubectl, typed the same at the real server and at ours, prints the same.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <regex>
#include <set>

#include "base/strings.h"
#include "conform_kube_commands.h"
#include "conform_kube_judge.h"
#include "conform_kube_served.h"
#include "conform_kube_servers.h"
#include "tests/support/parts.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace quorate::conform {
namespace {

// One server, seen by somebody who types.
class Terminal {
 public:
  Terminal(std::filesystem::path home, std::filesystem::path kubeconfig)
      : home_(std::move(home)), kubeconfig_(std::move(kubeconfig)) {}

  support::Output type(const KubectlCommand& typed) const {
    support::Command command{.argv = {(support::part("kubectl-1.34.4") / "kubectl").string()},
                             .env = {{"KUBECONFIG", kubeconfig_.string()},
                                     {"HOME", home_.string()},
                                     {"KUBE_EDITOR", "sed -i s/old-note/new-note/"}},
                             .input = typed.input};
    for (const auto word : split(typed.line, ' ')) command.argv.emplace_back(word);
    command.argv.emplace_back("--namespace=shop");
    return support::run(command);
  }

 private:
  std::filesystem::path home_, kubeconfig_;
};

// What is rightly different, made equal: ages, times, UIDs, versions, addresses, widths of columns.
std::string masked(std::string text) {
  static const std::pair<std::regex, const char*> kMasks[] = {
      {std::regex(R"([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})"), "<uid>"},
      {std::regex(R"(20[2-9][1-9]-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)"), "<time>"},
      {std::regex(R"([A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d [-+]\d{4})"),
       "<time>"},
      {std::regex(R"(20[2-9][1-9]-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [-+]\d{4})"), "<time>"},
      {std::regex(R"(resourceVersion: "\d+")"), "resourceVersion: <version>"},
      {std::regex(R"((Resource Version: +)\d+)"), "$1<version>"},
      {std::regex(R"(198\.19\.\d+\.\d+)"), "<address>"},
      {std::regex(R"(/tmp/(LIVE|MERGED)-\d+)"), "<$1>"},
      {std::regex(R"((kubectl-[a-z-]+-)\d+)"), "$1<number>"},
      {std::regex(R"(127\.0\.0\.1:\d+)"), "<server>"},
      {std::regex(R"(\b\d+s\b)"), "<age>"},
      {std::regex(R"( +)"), " "},
      {std::regex(R"( $)"), ""},
  };
  for (const auto& [pattern, put] : kMasks) text = std::regex_replace(text, pattern, put);
  return text;
}

json::Array lines_of(const std::string& text) {
  json::Array out;
  for (const auto line : split(text, '\n')) out.emplace_back(masked(std::string(line)));
  return out;
}

// Our tables hold neither prose nor the values of enumerations of the built-in kinds.
std::string fields_alone(const std::string& text) {
  std::string out;
  bool prose = false;
  for (const auto line : split(text, '\n')) {
    if (line.starts_with("DESCRIPTION:")) prose = true;
    if (line.starts_with("FIELDS:")) prose = false;
    if (!prose && !trim(line).starts_with("enum:")) out.append(line).append("\n");
  }
  return out;
}

Reply reply_of(const KubectlCommand& command, const support::Output& output) {
  const bool explains = command.line.starts_with("explain --recursive");
  return json::Object{{"status", output.status.code},
                      {"out", lines_of(explains ? fields_alone(output.out) : output.out)},
                      {"err", masked(output.err)}};
}

struct KubectlConformance : ::testing::Test {
  support::TempDir folder;
  support::KubeCluster real =
      support::KubeCluster({.api_server_flags = {"--service-cluster-ip-range=198.19.0.0/16"}});
  ServedKube ours{folder.path() / "kubeconfig"};
  Terminal at_real{folder.path() / "real", real.admin_kubeconfig()};
  Terminal at_ours{folder.path() / "ours", folder.path() / "kubeconfig"};

  void SetUp() override { install_kinds(real); }
};

TEST_F(KubectlConformance, PrintsTheSame) {
  auto known = known_differences(kOfKubectl);
  std::size_t equal = 0, explained = 0;
  for (const auto& command : kubectl_commands()) {
    const auto theirs = reply_of(command, at_real.type(command));
    const auto own = reply_of(command, at_ours.type(command));
    const auto how = compare_replies(command.line, theirs, own, known);
    equal += how == Agreement::kEqual;
    explained += how == Agreement::kListed;
    EXPECT_NE(how, Agreement::kDifferent) << "kubectl " << command.line << '\n'
                                          << describe_difference(theirs, own);
  }
  std::cout << fmt::format(
      "kubectl: {} commands, {} print the same, {} but for known differences\n",
      kubectl_commands().size(), equal, explained);
  for (const auto& difference : known)
    EXPECT_GT(difference.used, 0) << difference.id << " is listed but was not seen: is it so?";
}

// We hold fewer kinds than a real server, and no others.
TEST_F(KubectlConformance, ListsTheKindsThatWeHold) {
  for (const auto* line :
       {"api-resources --no-headers", "api-resources --no-headers -o wide", "api-versions"}) {
    const auto theirs = at_real.type({line}), own = at_ours.type({line});
    ASSERT_TRUE(own.ok()) << own.err;
    std::set<std::string> known;
    for (const auto one : split(theirs.out, '\n')) known.insert(masked(std::string(one)));
    for (const auto one : split(own.out, '\n'))
      EXPECT_TRUE(known.contains(masked(std::string(one)))) << line << ": " << one;
    EXPECT_GT(split(own.out, '\n').size(), 5u) << own.out;
  }
}

TEST_F(KubectlConformance, KnowsWhoAsks) {
  const auto own = at_ours.type({"auth whoami"});
  EXPECT_TRUE(own.ok()) << own.err;
  EXPECT_EQ(masked(own.out),
            "ATTRIBUTE VALUE\nUsername sandbox-admin\nGroups [system:masters "
            "system:authenticated]\n");
}

}  // namespace
}  // namespace quorate::conform
