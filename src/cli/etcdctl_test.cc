#include "cli/etcdctl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/facts_test.h"

namespace quorate::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The three Pods, of which these run and are ready.
ClusterFacts facts_with(std::vector<bool> running, std::vector<bool> ready,
                        const std::string& spec = "{}", const std::string& status = "{}") {
  auto facts = make_facts(spec, status);
  for (std::size_t i = 0; i < facts.pods.size(); ++i) {
    facts.pods[i].etcd.running = running[i];
    facts.pods[i].ready = ready[i];
  }
  return facts;
}

std::string pod_for(const ClusterFacts& facts, const std::string& member = "") {
  const auto call = make_etcdctl_call(facts, member, {"version"});
  return call ? call->pod.name : call.error().text();
}

TEST(Etcdctl, ReachesTheMemberOfItsPodWithTheCertificateThatIsThere) {
  const auto call = make_etcdctl_call(facts_with({true, true, true}, {true, true, true}), "",
                                      {"get", "--prefix", "a b"});
  ASSERT_TRUE(call);
  EXPECT_EQ(call->pod, (ObjectKey{"n", "c-0"}));
  EXPECT_THAT(
      call->command,
      ElementsAre("/usr/local/bin/etcdctl", "--endpoints=https://127.0.0.1:2379",
                  "--cacert=/etc/etcd/server-tls/ca.crt", "--cert=/etc/etcd/server-tls/tls.crt",
                  "--key=/etc/etcd/server-tls/tls.key", "get", "--prefix", "a b"));
}

TEST(Etcdctl, NeedsNoCertificateWhereClientsSpeakPlain) {
  const auto call = make_etcdctl_call(facts_with({true, true, true}, {true, true, true},
                                                 R"({"tls": {"client": {"mode": "Disabled"}}})"),
                                      "", {"version"});
  ASSERT_TRUE(call);
  EXPECT_THAT(call->command, ElementsAre("/usr/local/bin/etcdctl",
                                         "--endpoints=http://127.0.0.1:2379", "version"));
}

TEST(Etcdctl, LeavesEndpointsToWhoeverNamesThem) {
  const auto facts = facts_with({true, true, true}, {true, true, true});
  for (const auto& words : {std::vector<std::string>{"--endpoints=https://x:2379", "version"},
                            std::vector<std::string>{"version", "--endpoints", "https://x:2379"}}) {
    const auto call = make_etcdctl_call(facts, "", words);
    ASSERT_TRUE(call);
    EXPECT_THAT(call->command, ::testing::Not(::testing::Contains(HasSubstr("127.0.0.1"))));
  }
}

TEST(Etcdctl, PrefersAMemberThatIsReadyAndTakesOneThatRuns) {
  EXPECT_EQ(pod_for(facts_with({true, true, true}, {false, false, true})), "c-2");
  EXPECT_EQ(pod_for(facts_with({false, true, true}, {false, false, false})), "c-1");
  EXPECT_EQ(pod_for(facts_with({true, true, true}, {true, true, true}), "c-2"), "c-2");
}

TEST(Etcdctl, SaysWhatToDoWhereNoMemberRuns) {
  const std::vector<bool> none{false, false, false};
  EXPECT_EQ(pod_for(facts_with(none, none)),
            "no member of n/c runs; quorate why -n n c says what it waits for");
  EXPECT_EQ(pod_for(facts_with(none, none, R"({"replicas": 0})")),
            "n/c hibernates; quorate wake -n n c starts its members");
  auto unseen = facts_with(none, none);
  unseen.pods.clear();
  unseen.unknown.push_back("Pods: forbidden");
  EXPECT_EQ(pod_for(unseen), "Pods: forbidden");
  EXPECT_EQ(pod_for(facts_with(none, none), "c-1"), "etcd does not run in Pod c-1");
  EXPECT_EQ(pod_for(facts_with(none, none), "c-7"), "n/c has no Pod c-7; there is c-0, c-1, c-2");
}

TEST(Etcdctl, SaysThatAnImageHasNone) {
  const auto said =
      explain_exec_failure(Error(Code::kInvalid,
                                 "failed to exec: exec: \"/usr/local/bin/etcdctl\": stat "
                                 "/usr/local/bin/etcdctl: no such file or directory"),
                           {"n", "c-0"});
  EXPECT_THAT(said.text(), HasSubstr("the image of Pod n/c-0 has no /usr/local/bin/etcdctl"));
  EXPECT_EQ(explain_exec_failure(Error(Code::kForbidden, "no"), {"n", "c-0"}).text(), "no");
}

}  // namespace
}  // namespace quorate::cli
