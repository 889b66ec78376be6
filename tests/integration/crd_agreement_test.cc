// What a real kube-apiserver says of generated declarations and edits, by our CRD alone, is what
// our own validation says of them; but for a few, and for each of those it is said here why.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "api/codec.h"
#include "api/validate.h"
#include "base/strings.h"
#include "tests/integration/crd_mutations.h"
#include "tests/support/our_kinds.h"
#include "tests/support/wait.h"

namespace quorate::test {
namespace {

using namespace std::chrono_literals;

constexpr auto kVersion = api::EtcdVersion{3, 6, 16};

// Fields, by a regular expression over "path: kind", of which we know more than the schema, and
// why it cannot say so. The server takes what we refuse, never the other way.
struct Exception {
  const char* fields;
  const char* why;
};
constexpr Exception kOursAlone[] = {
    {R"(.*\.\*: null)", "the server drops entries that are null before it looks at them"},
    {R"(podTemplate\.spec: unknown field)",
     "any Pod spec is taken: which of Kubernetes' own fields may be set, a schema cannot list"},
};

class Agreement : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    kube_ = new support::KubeCluster();
    support::serve_our_kinds(*kube_);
  }
  static void TearDownTestSuite() {
    delete kube_;
    kube_ = nullptr;
  }

  static std::string document(const std::string& name, const json::Value& spec,
                              const std::string& more = "") {
    return fmt::format(R"({{"apiVersion":"quorate.io/v1alpha1","kind":"EtcdCluster",)"
                       R"("metadata":{{"name":"{}","namespace":"default"}},"spec":{}{}}})",
                       name, json::render(spec), more);
  }

  // The names of those that the server takes, of many at once.
  static std::set<std::string> taken(std::vector<std::string> arguments,
                                     const std::vector<std::string>& documents) {
    arguments.insert(arguments.end(), {"-f", "-", "-o", "name"});
    std::string all;
    for (const auto& one : documents) all += one + "\n---\n";
    const auto output = kube_->kubectl(arguments, all);
    std::set<std::string> out;
    for (const auto line : split(output.out, '\n'))
      if (const auto slash = line.find('/'); slash != std::string_view::npos)
        out.emplace(line.substr(slash + 1));
    return out;
  }

  // Whether somebody has said why they may differ there.
  static bool is_ours_alone(const std::string& name, std::set<std::string>& used) {
    for (const auto& exception : kOursAlone)
      if (std::regex_match(name, std::regex(exception.fields))) {
        used.insert(exception.fields);
        return true;
      }
    return false;
  }

  static std::string judge(const json::Value& spec) {
    const auto decoded = api::decode_cluster_spec(spec);
    if (!decoded) return decoded.error().message();
    return api::text(api::validate(*decoded, kVersion));
  }

  static support::KubeCluster* kube_;
};
support::KubeCluster* Agreement::kube_ = nullptr;

TEST_F(Agreement, HoldsForEveryFieldGoodOrBad) {
  const auto mutants = make_mutants();
  ASSERT_GT(mutants.size(), 500u);
  std::vector<std::string> documents;
  for (std::size_t i = 0; i < mutants.size(); ++i)
    documents.push_back(document(fmt::format("m-{}", i), mutants[i].spec));
  const auto theirs = taken({"create", "--dry-run=server"}, documents);
  std::set<std::string> exceptions;
  int good = 0;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const auto ours = judge(mutants[i].spec);
    const bool server_takes = theirs.contains(fmt::format("m-{}", i));
    good += server_takes ? 1 : 0;
    if (ours.empty() == server_takes) continue;
    const bool known = server_takes && is_ours_alone(mutants[i].name(), exceptions);
    EXPECT_TRUE(known) << mutants[i].name() << ": " << json::render(mutants[i].spec).substr(0, 300)
                       << "\n  the server " << (server_takes ? "takes" : "refuses")
                       << " it; we say: " << (ours.empty() ? "nothing" : ours);
  }
  EXPECT_GT(good, 150) << "most fields have a value that is taken";
  EXPECT_GT(static_cast<int>(mutants.size()) - good, 300);
  EXPECT_EQ(exceptions.size(), std::size(kOursAlone)) << "an exception is not needed any more";
}

TEST_F(Agreement, HoldsForEveryEditBeforeAndAfterTheClusterHasFormed) {
  for (const bool formed : {false, true}) {
    std::vector<GeneratedEdit> edits;
    for (auto& edit : make_edits())
      if (judge(edit.before).empty()) edits.push_back(std::move(edit));
    ASSERT_GT(edits.size(), 250u);
    const auto name = [&](std::size_t i) { return fmt::format("e-{}-{}", formed ? "f" : "u", i); };
    std::vector<std::string> before, after;
    for (std::size_t i = 0; i < edits.size(); ++i) {
      before.push_back(document(name(i), edits[i].before));
      after.push_back(document(name(i), edits[i].after));
    }
    const auto there = taken({"create"}, before);
    if (formed) {
      for (std::size_t i = 0; i < edits.size(); ++i)
        before[i] = document(name(i), edits[i].before,
                             R"(,"status":{"clusterID":"cafe","target":{"version":"3.6.16"}})");
      ASSERT_EQ(taken({"replace", "--subresource=status"}, before).size(), there.size());
    }
    const auto theirs = taken({"replace", "--dry-run=server"}, after);
    std::set<std::string> exceptions;
    for (std::size_t i = 0; i < edits.size(); ++i) {
      if (!there.contains(name(i))) continue;
      auto old = *api::decode_cluster_spec(edits[i].before);
      if (!old.version) old.version = kVersion;
      auto ours = judge(edits[i].after);
      if (ours.empty())
        ours =
            api::text(api::validate_change(old, *api::decode_cluster_spec(edits[i].after), formed));
      const bool server_takes = theirs.contains(name(i));
      if (ours.empty() == server_takes) continue;
      const bool known = server_takes && is_ours_alone(edits[i].name(), exceptions);
      EXPECT_TRUE(known) << edits[i].name() << (formed ? ", formed" : "") << ": "
                         << json::render(edits[i].before).substr(0, 200) << " -> "
                         << json::render(edits[i].after).substr(0, 200) << "\n  the server "
                         << (server_takes ? "takes" : "refuses")
                         << " it; we say: " << (ours.empty() ? "nothing" : ours);
    }
  }
}

}  // namespace
}  // namespace quorate::test
