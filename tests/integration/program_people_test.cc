#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "json/document.h"
#include "tests/support/our_kinds.h"
#include "tests/support/process.h"
#include "tests/support/wait.h"

// The commands for people, as they are typed, against a real API server. No operator runs: what is
// shown and written here is the commands' own.
namespace quorate::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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
    command.argv = {std::string(QUORATE_BINARY_DIR) + "/quorate"};
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

  static support::KubeCluster* kube_;
  static int count_;
  std::string ns_;
};
support::KubeCluster* People::kube_ = nullptr;
int People::count_ = 0;

TEST_F(People, DeclareAClusterAndChangeIt) {
  EXPECT_EQ(done({"create", "db", "--replicas", "3", "--size", "2Gi", "--version", "3.6.16"}),
            "create " + ns_ + "/db\n");
  EXPECT_EQ(field(".spec.replicas"), "3");
  EXPECT_EQ(field(".spec.storage.claim.size"), "2Gi");
  EXPECT_THAT(done({"scale", "db", "--replicas", "5"}), HasSubstr("from 3 to 5 members"));
  EXPECT_EQ(field(".spec.replicas"), "5");
  done({"pause", "db"});
  EXPECT_EQ(field(".spec.paused"), "true");
  done({"resume", "db"});
  EXPECT_EQ(field(".spec.paused"), "false");
  done({"hibernate", "db"});
  EXPECT_EQ(field(".spec.replicas"), "0");
  done({"wake", "db", "--replicas", "3"});
  EXPECT_EQ(field(".spec.replicas"), "3");
  done({"restart", "db"});
  EXPECT_THAT(field(".spec.podTemplate.metadata.annotations"), HasSubstr("restartedAt"));
  EXPECT_THAT(done({"delete", "db", "--yes", "--wait"}),
              AllOf(HasSubstr("volumes stay"), HasSubstr("is gone")));
  EXPECT_EQ(quorate({"status", "db"}).status.code, 4);
}

TEST_F(People, TryAndShowWithoutChangingAnything) {
  done({"create", "db"});
  const auto before = field(".metadata.resourceVersion");
  EXPECT_THAT(done({"scale", "db", "--replicas", "5", "--dry-run"}),
              HasSubstr("nothing was stored"));
  const auto shown = done({"scale", "db", "--replicas", "5", "--show"});
  EXPECT_THAT(shown, HasSubstr("kubectl patch etcdcluster -n " + ns_ + " db --type merge -p"));
  EXPECT_THAT(done({"delete", "db", "--dry-run"}), HasSubstr("nothing was done"));
  EXPECT_THAT(done({"create", "other", "--dry-run"}), HasSubstr("nothing was stored"));
  EXPECT_EQ(field(".metadata.resourceVersion"), before);
  EXPECT_EQ(quorate({"status", "other"}).status.code, 4);

  // What is shown for `create` is what kubectl takes.
  auto manifest = done({"create", "third", "--show", "--replicas", "1"});
  manifest = manifest.substr(manifest.find('\n') + 1);
  manifest = manifest.substr(0, manifest.rfind("EOF\n"));
  kube_->apply(manifest);
  EXPECT_EQ(
      kube_->kubectl({"get", "etcd", "third", "-n", ns_, "-o", "jsonpath={.spec.replicas}"}).out,
      "1");
}

TEST_F(People, AreToldWhatIsWrongAndWhatToDo) {
  auto output = quorate({"status", "db"});
  EXPECT_EQ(output.status.code, 4);
  EXPECT_THAT(output.err, HasSubstr("there is no EtcdCluster db in namespace " + ns_));
  done({"create", "db"});
  output = quorate({"status", "bd"});
  EXPECT_THAT(output.err, HasSubstr("there is " + ns_ + "/db"));

  output = quorate({"scale", "db", "--replicas", "0"});
  EXPECT_EQ(output.status.code, 2);
  EXPECT_THAT(output.err, HasSubstr("quorate hibernate"));
  output = quorate({"create", "Db"});
  EXPECT_NE(output.status.code, 0);
  EXPECT_THAT(output.err, HasSubstr("Db"));
  output = quorate({"create", "db"});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.err, HasSubstr("exists"));
  output = quorate({"delete", "db"});  // nobody there to answer
  EXPECT_EQ(output.status.code, 2);
  EXPECT_THAT(output.err, HasSubstr("--yes"));
  EXPECT_EQ(field(".metadata.name"), "db") << "it stays";
  output = quorate({"scale", "db", "--replicas", "5", "--wait", "--timeout", "1s"});
  EXPECT_EQ(output.status.code, 5);
  EXPECT_THAT(output.err, HasSubstr("quorate why -n " + ns_ + " db"));
}

TEST_F(People, SeeHowAClusterIs) {
  EXPECT_THAT(done({"status"}), HasSubstr("There is no EtcdCluster in namespace " + ns_));
  done({"create", "db"});
  EXPECT_THAT(done({"status"}),
              AllOf(HasSubstr("NAMESPACE"), HasSubstr("No operator has looked at it yet")));
  EXPECT_THAT(done({"status", "-A"}), HasSubstr(ns_));
  EXPECT_THAT(done({"why", "db"}), HasSubstr("Is an operator running"));
  const auto page = done({"status", "db"});
  EXPECT_THAT(page,
              AllOf(HasSubstr(ns_ + "/db"), HasSubstr("no members yet"), Not(HasSubstr("\x1b"))));
  const auto document = json::parse(done({"status", "db", "-o", "json"}));
  ASSERT_TRUE(document);
  EXPECT_EQ(json::text_or(*document, "/metadata/name", ""), "db");
  EXPECT_THAT(done({"status", "db", "-o", "yaml"}), HasSubstr("kind: EtcdCluster"));
  EXPECT_THAT(done({"status", "-o", "yaml"}), HasSubstr("kind: List"));
}

// What bash offers after these words; the last one is being typed.
TEST_F(People, HaveTheirWordsCompleted) {
  done({"create", "db"});
  const auto offered = [&](const std::string& typed) {
    support::Command command;
    command.argv = {"bash",
                    "-c",
                    "PATH=$1:$PATH; source <(quorate completion bash); COMP_WORDS=($2 \"$3\");"
                    "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _quorate; echo \"${COMPREPLY[@]}\"",
                    "bash",
                    QUORATE_BINARY_DIR,
                    typed.substr(0, typed.rfind(' ')),
                    typed.substr(typed.rfind(' ') + 1)};
    command.env = {{"KUBECONFIG", kube_->admin_kubeconfig().string()},
                   {"PATH", std::getenv("PATH")}};
    return support::run(command).out;
  };
  EXPECT_EQ(offered("quorate st"), "status\n");
  EXPECT_EQ(offered("quorate scale --rep"), "--replicas\n");
  EXPECT_EQ(offered("quorate why -n " + ns_ + " d"), "db\n");
  EXPECT_EQ(offered("quorate etcdctl -n " + ns_ + " d"), "db\n");
  EXPECT_EQ(offered("quorate dashboard --all"), "--all-namespaces\n");
}

}  // namespace
}  // namespace quorate::test
