#include "tests/integration/sandbox_rig.h"

// `quorate etcdctl` where there are nodes: real etcdctl beside real members.
namespace quorate::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SandboxEtcdctlTest : public SandboxTest {
 protected:
  void SetUp() override {
    SandboxTest::SetUp();
    if (IsSkipped()) return;
    start();
    quorate({"create", "db", "--wait"});
  }
  support::Output etcdctl(Words arguments, const std::string& input = "", Words flags = {}) {
    Words all{kQuorate, "etcdctl", "db"};
    all.insert(all.end(), flags.begin(), flags.end());
    all.push_back("--");
    all.insert(all.end(), arguments.begin(), arguments.end());
    support::Command command{.argv = std::move(all), .input = input};
    command.env = {{"KUBECONFIG", kubeconfig().string()}, {"HOME", folder_.path().string()}};
    return support::run(command);
  }
};

TEST_F(SandboxEtcdctlTest, PassesInputOutputsAndTheExitCode) {
  const auto members = etcdctl({"member", "list"});
  EXPECT_EQ(members.status.code, 0) << members.err;
  EXPECT_THAT(members.out, AllOf(HasSubstr("db-0"), HasSubstr("db-1"), HasSubstr("db-2")));

  const std::string large(1'000'000, 'x');
  EXPECT_EQ(etcdctl({"put", "key with spaces"}, large).out, "OK\n");
  EXPECT_EQ(etcdctl({"get", "key with spaces", "--print-value-only"}).out, large + "\n");

  const auto wrong = etcdctl({"get"});
  EXPECT_EQ(wrong.status.code, 128) << "etcdctl's own";
  EXPECT_EQ(wrong.out, "");
  EXPECT_THAT(wrong.err, HasSubstr("needs one argument"));
}

TEST_F(SandboxEtcdctlTest, RunsBesideTheMemberThatIsNamed) {
  const auto names = [&](const std::string& member) {
    return etcdctl({"endpoint", "status", "-w", "fields"}, "", {"--member", member}).out;
  };
  const auto first = names("db-0"), second = names("db-1");
  EXPECT_THAT(first, HasSubstr("\"MemberID\""));
  EXPECT_NE(first, second);
  EXPECT_THAT(etcdctl({"endpoint", "health", "--cluster"}).out,
              AllOf(HasSubstr("db-0"), HasSubstr("db-2")));
}

TEST_F(SandboxEtcdctlTest, SaysThatAClusterHibernates) {
  quorate({"hibernate", "db", "--wait"});
  const auto said = etcdctl({"version"});
  EXPECT_EQ(said.status.code, 1);
  EXPECT_THAT(said.err, HasSubstr("quorate wake -n default db"));
}

}  // namespace
}  // namespace quorate::test
