#pragma once

#include <gtest/gtest.h>

#include "tests/support/our_kinds.h"
#include "tests/support/process.h"

namespace quorate::test {

// The commands for people, as they are typed, against a real API server. No operator runs: what is
// shown and written here is the commands' own.
class People : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    kube_ = new support::KubeCluster();
    support::serve_our_kinds(*kube_);
  }
  static void TearDownTestSuite() {
    delete kube_;
    kube_ = nullptr;
  }
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    ns_ = "t" + std::to_string(++count_);
    ASSERT_TRUE(kube_->kubectl({"create", "namespace", ns_}).ok()) << test->name();
  }

  support::Output quorate(std::vector<std::string> words) {
    support::Command command;
    command.argv = {program()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.argv.insert(command.argv.end(), {"-n", ns_});
    command.env = {{"KUBECONFIG", kube_->admin_kubeconfig().string()}};
    return support::run(command);
  }
  // Words that must work.
  std::string done(std::vector<std::string> words) {
    const auto output = quorate(std::move(words));
    EXPECT_EQ(output.status.code, 0) << output.err;
    return output.out;
  }
  std::string field(const std::string& path) {
    return kube_->kubectl({"get", "etcd", "db", "-n", ns_, "-o", "jsonpath={" + path + "}"}).out;
  }

  // The same words at a terminal, for commands that look whether there is one; keys are typed.
  support::Output quorate_at_terminal(const std::string& words, const std::string& keys = "",
                                      std::map<std::string, std::string> env = {}) {
    auto command = at_terminal(words, std::move(env));
    command.input = keys;
    return support::run(command);
  }
  support::Command at_terminal(const std::string& words,
                               std::map<std::string, std::string> env = {}) const {
    support::Command command;
    command.argv = {"script", "-qec", program() + " " + words + " -n " + ns_, "/dev/null"};
    command.env = std::move(env);
    command.env["KUBECONFIG"] = kube_->admin_kubeconfig().string();
    return command;
  }
  static std::string program() { return std::string(QUORATE_BINARY_DIR) + "/quorate"; }

  // As an operator would write it.
  void say_in_status(const std::string& status) {
    const auto patched = kube_->kubectl({"patch", "etcd", "db", "-n", ns_, "--subresource=status",
                                         "--type=merge", "-p", R"({"status": )" + status + "}"});
    ASSERT_TRUE(patched.ok()) << patched.err;
  }

  inline static support::KubeCluster* kube_ = nullptr;
  inline static int count_ = 0;
  std::string ns_;
};

}  // namespace quorate::test
