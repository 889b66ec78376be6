#include <gmock/gmock.h>

#include <fstream>

#include "tests/integration/program_people.h"
#include "tests/support/temp_dir.h"

// What the commands say, and with what they end, where there is nothing to work with.
namespace quorate::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Errors : public ::testing::Test {
 protected:
  support::Output quorate(std::vector<std::string> words,
                          std::map<std::string, std::string> env = {}) {
    words.insert(words.begin(), std::string(QUORATE_BINARY_DIR) + "/quorate");
    return support::run({.argv = std::move(words), .env = std::move(env)});
  }
  std::string write(const std::string& name, const std::string& text) {
    const auto path = (folder_.path() / name).string();
    std::ofstream(path) << text;
    return path;
  }

  support::TempDir folder_;
};

TEST_F(Errors, SayThatThereIsNoKubeconfigAndHowToNameOne) {
  const auto home = folder_.path().string();
  const auto output = quorate({"status"}, {{"HOME", home}});
  EXPECT_EQ(output.status.code, 1) << "it is not that a cluster is not there";
  EXPECT_THAT(output.err, AllOf(HasSubstr(home + "/.kube/config: no such file"),
                                HasSubstr("eval $(quorate sandbox env)"), HasSubstr("KUBECONFIG"),
                                HasSubstr("--kubeconfig")));
  EXPECT_EQ(quorate({"why", "db", "--kubeconfig", home + "/none"}).status.code, 1);
}

TEST_F(Errors, SayThatNobodyAnswers) {
  const auto closed = support::free_endpoint();
  const auto config = write("config",
                            "current-context: here\n"
                            "contexts: [{name: here, context: {cluster: c}}]\n"
                            "clusters: [{name: c, cluster: {server: \"http://" +
                                closed.text() + "\"}}]\n");
  const auto output = quorate({"status", "--kubeconfig", config});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.err, AllOf(HasSubstr("connection refused"), HasSubstr("context here"),
                                HasSubstr("http://" + closed.text()), HasSubstr("--context")));
}

TEST_F(Errors, SayThatTheKindsAreNotInstalledOrCredentialsAreNotAccepted) {
  support::KubeCluster kube;
  const auto config = kube.admin_kubeconfig().string();
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"status"}, {"status", "db"}, {"create", "db"}, {"delete", "db", "--yes"}}) {
    auto typed = words;
    typed.insert(typed.end(), {"--kubeconfig", config});
    const auto output = quorate(typed);
    EXPECT_EQ(output.status.code, 1) << words[0];
    EXPECT_THAT(output.err, HasSubstr("quorate manifests | kubectl apply -f -")) << words[0];
  }
  const auto stranger = kube.kubeconfig("stranger", {.token = "of-nobody"}).string();
  const auto output = quorate({"status", "--kubeconfig", stranger});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.err, AllOf(HasSubstr("renew the credentials"), HasSubstr("--context")));
}

TEST_F(People, AreToldThatANamespaceIsMissing) {
  const auto output = support::run({.argv = {program(), "create", "db", "-n", "nowhere"},
                                    .env = {{"KUBECONFIG", kube_->admin_kubeconfig().string()}}});
  EXPECT_EQ(output.status.code, 2);
  EXPECT_THAT(output.err, HasSubstr("kubectl create namespace nowhere"));
}

}  // namespace
}  // namespace quorate::test
