// What a client may believe when the network or the server fails: through a proxy that cuts, delays
// and loses.

#include "tests/integration/kube_harness.h"

namespace quorate::kube {
namespace {

using ::testing::HasSubstr;

class KubeFaults : public KubeTest {
 protected:
  KubeFaults() : proxy_(kube_.api_server().endpoint()) {
    behind_ = std::make_unique<Connection>(
        loop_,
        kube_.kubeconfig(ns_, {.token = KubeCluster::admin_token(), .server = proxy_.endpoint()}));
  }
  ~KubeFaults() override {
    proxy_.heal();
    behind_.reset();
  }
  Client& behind() { return behind_->client(); }
  Result<Object> create_behind(const std::string& name, Duration within = 30s) {
    return run(behind().create(kConfigMaps, ns_, config_map(name), here_.in(within)));
  }

  FaultProxy proxy_;
  std::unique_ptr<Connection> behind_;
};

TEST_F(KubeFaults, ALostAnswerOfACreateIsUnknownAndTheObjectIsThere) {
  must(create_behind("warm-up"));
  proxy_.reset_at_next_answer();
  expect_refused(create_behind("a"), Code::kUnknownOutcome);
  must(get(kConfigMaps, "a"));
  // Look, then act: the name is taken, by our own write.
  EXPECT_TRUE(is_already_exists(refused(create_behind("a"), Code::kConflict)));
}

TEST_F(KubeFaults, AnAnswerThatNeverComesIsUnknownAtTheDeadline) {
  must(create_behind("warm-up"));
  proxy_.lose_answers();
  expect_refused(create_behind("a", 1s), Code::kUnknownOutcome);
  must(get(kConfigMaps, "a"));
}

TEST_F(KubeFaults, AServerThatIsNotThereDidNotAct) {
  proxy_.refuse();
  expect_refused(create_behind("a", 2s), Code::kUnavailable);
  expect_refused(get(kConfigMaps, "a"), Code::kNotFound);
  proxy_.heal();
  must(create_behind("a"));
}

TEST_F(KubeFaults, AReadIsRepeatedThroughACut) {
  must(create_behind("a"));
  for (int i = 0; i < 3; ++i) {
    proxy_.reset_at_next_answer();
    must(run(behind().get(kConfigMaps, key("a"), soon())));
  }
  EXPECT_GE(behind().counters().repeated, 3u);
}

TEST_F(KubeFaults, AReadThatIsNotAnsweredTimesOut) {
  must(create_behind("a"));
  proxy_.lose_answers();
  expect_refused(run(behind().get(kConfigMaps, key("a"), here_.in(1s))), Code::kTimeout);
}

TEST_F(KubeFaults, AHalfClosedConnectionIsReplaced) {
  must(create_behind("a"));
  proxy_.half_close_answers();
  must(run(behind().get(kConfigMaps, key("a"), soon())));
  proxy_.half_close_requests();
  must(run(behind().get(kConfigMaps, key("a"), soon())));
}

TEST_F(KubeFaults, ASlowNetworkIsOnlySlow) {
  proxy_.delay(300ms);
  must(create_behind("a"));
  must(run(behind().remove(kConfigMaps, key("a"), soon())));
  expect_refused(get(kConfigMaps, "a"), Code::kNotFound);
}

TEST_F(KubeFaults, AListThatIsCutIsSaidToBe) {
  const std::string value(100'000, 'x');
  for (int i = 0; i < 20; ++i)
    must(create(kConfigMaps, config_map("m" + std::to_string(i), value)));
  proxy_.delay(5ms);
  int items = 0;
  EachItem cut_after_one = [&](json::PaddedView) {
    if (items++ == 0) proxy_.cut();
    return Result<void>();
  };
  const auto error =
      refused(run(behind().list(kConfigMaps, {.ns = ns_, .page_size = 0}, 30s, cut_after_one)),
              Code::kUnavailable);
  EXPECT_THAT(error.text(), HasSubstr("list configmaps"));
}

TEST_F(KubeFaults, AServerThatHangsIsLeftAtTheDeadline) {
  must(create_behind("a"));
  kube_.api_server().pause();
  const auto started = here_.clock->now();
  expect_refused(create_behind("b", 1s), Code::kUnknownOutcome);
  expect_refused(run(behind().get(kConfigMaps, key("a"), here_.in(1s))), Code::kTimeout);
  EXPECT_LT(here_.clock->now() - started, 10s);
  kube_.api_server().resume();
  must(run(behind().get(kConfigMaps, key("a"), soon())));
}

TEST_F(KubeFaults, OurOwnBudgetSpreadsRequestsOut) {
  ClientOptions options;
  options.limit = {.per_second = 50, .burst = 5};
  Client polite(here_, behind_->api(), options);
  must(create_behind("a"));
  const auto started = here_.clock->now();
  for (int i = 0; i < 30; ++i) must(run(polite.get(kConfigMaps, key("a"), soon())));
  EXPECT_GE(here_.clock->now() - started, 490ms);
}

}  // namespace
}  // namespace quorate::kube
