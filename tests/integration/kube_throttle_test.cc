// A server that has no time for us: 429 with Retry-After, from a real kube-apiserver whose priority
// and fairness gives a user one seat, and no queue to wait in.

#include "tests/integration/kube_harness.h"

namespace quorate::kube {
namespace {

// What one write took, by a client of its own.
struct Call {
  Client::Counters counters;
  Duration took{};
};

Task<Result<Call>> create_one(rt::Runtime here, Api& api, ClientOptions options, std::string ns,
                              json::Value object) {
  Client client(here, api, options);
  const auto begun = here.clock->now();
  const auto deadline = here.in(std::chrono::minutes(2));
  CO_TRY(auto made,
         co_await client.create(kConfigMaps, std::move(ns), std::move(object), deadline));
  (void)made;
  co_return Call{client.counters(), here.clock->now() - begun};
}

// A user of this test alone. Without a share of its own, and with nobody to borrow from, one
// request of it is served at a time; another that comes meanwhile is refused.
class KubeThrottle : public KubeTest {
 protected:
  KubeThrottle() : user_("hurried-" + ns_) {
    kube_.apply(fmt::format(R"(
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {{name: {0}}}
spec:
  type: Limited
  limited:
    nominalConcurrencyShares: 0
    lendablePercent: 0
    borrowingLimitPercent: 0
    limitResponse: {{type: Reject}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {{name: {0}}}
spec:
  priorityLevelConfiguration: {{name: {0}}}
  matchingPrecedence: 2
  rules:
  - subjects: [{{kind: User, user: {{name: {0}}}}}]
    resourceRules:
    - {{verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: hurried, namespace: {1}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}}
subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: {0}}}]
)",
                            user_, ns_));
    const auto pair = kube_.authority().issue(user_, {.common_name = user_});
    config_ = kube_.kubeconfig(user_, {.certificate = pair});
  }
  ~KubeThrottle() override {
    kube_.kubectl({"delete", "flowschema,prioritylevelconfiguration", user_});
  }

  // Without delays of its own, so that whoever waits does so because the server said it.
  static ClientOptions impatient() {
    ClientOptions options;
    options.attempts = 1000;
    options.first_delay = options.longest_delay = 1ms;
    return options;
  }

  // Writes that are under way at once, each of an object of its own.
  std::vector<Result<Call>> create_at_once(Api& api, int round) {
    constexpr int kAtOnce = 6;
    std::vector<Task<Result<Call>>> calls;
    for (int i = 0; i < kAtOnce; ++i)
      calls.push_back(
          create_one(here_, api, impatient(), ns_, config_map(fmt::format("r{}-{}", round, i))));
    return run(rt::all(here_, std::move(calls), kAtOnce));
  }

  std::string user_;
  std::filesystem::path config_;
};

TEST_F(KubeThrottle, RetryAfterIsObeyedAndEveryWriteIsDoneOnce) {
  Connection me(loop_, config_);
  std::uint64_t refusals = 0;
  // The server learns of its own settings by a watch: until then it refuses nobody.
  for (int round = 0; round < 100 && refusals == 0; ++round) {
    for (auto& result : create_at_once(me.api(), round)) {
      const auto [counters, took] = must(std::move(result));
      EXPECT_EQ(counters.requests, counters.throttled + 1) << "as many refusals, and one success";
      EXPECT_GE(took, counters.throttled * 1s) << "Retry-After is a second at least";
      refusals += counters.throttled;
    }
  }
  EXPECT_GT(refusals, 0u) << "the server refused nobody: nothing was shown";
}

}  // namespace
}  // namespace quorate::kube
