#include <gmock/gmock.h>

#include "tests/integration/slice_world.h"

// Writes that the API server does not let pass for a while, though the operator has the right to
// them. No node runs here.
namespace quorate::slice {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

// Refuses claims in one namespace. It takes effect when the server has noticed.
constexpr const char* kPolicy = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: "no-claims-in-{0}"}}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: "{0}"}}}}
    resourceRules:
    - {{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [persistentvolumeclaims]}}
  validations:
  - {{expression: "false", message: "no claims today"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: "no-claims-in-{0}"}}
spec: {{policyName: "no-claims-in-{0}", validationActions: [Deny]}}
)";

constexpr const char* kQuota = R"(
apiVersion: v1
kind: ResourceQuota
metadata: {{name: one-pod, namespace: "{0}"}}
spec: {{hard: {{pods: "1"}}}}
)";

Task<Result<std::string>> try_a_claim(World& world, std::string ns) {
  auto claim = kube::make_object(kube::kPersistentVolumeClaims, {ns, "try"});
  CO_TRY(claim.as_object()["spec"], json::parse(R"({"accessModes": ["ReadWriteOnce"],
                         "resources": {"requests": {"storage": "1Gi"}}})"));
  kube::WriteOptions options;
  options.dry_run = true;
  auto made = co_await world.admin().create(kube::kPersistentVolumeClaims, ns, std::move(claim),
                                            world.runtime().in(30s), options);
  co_return made ? "accepted" : made.error().text();
}

class Refused : public SliceTest {
 protected:
  void wait_until_told(const std::vector<std::string>& texts) {
    world().run(world().until(
        kube::kEtcdClusters, key("c"), 90s, "tells what is refused",
        [&](const json::Value& cluster) { return waits_for(cluster, "Refused", texts); }));
  }
  void lift(const std::string& kind, const std::string& name) {
    const auto gone = world().kube().kubectl({"delete", kind, name, "--namespace=" + ns_});
    ASSERT_TRUE(gone.ok()) << gone.err;
  }
  // It would be tried again anyway, in its own time: slice_lifecycle_test.cc.
  void touch(const std::string& value) {
    edit(fmt::format(R"({{"metadata": {{"annotations": {{"touched": "{}"}}}}}})", value));
  }
  void wait_until_claims_are(const std::string& answer) {
    support::eventually(60s, "the policy is in force, or not", [&] {
      const auto said = world().run(try_a_claim(world(), ns_));
      return Look(said.find(answer) != std::string::npos, said);
    });
  }

  Ledger ledger_;
};

TEST_F(Refused, ByAPolicyAndThenByAQuotaItIsMadeWhenBothAreLifted) {
  world().kube().apply(fmt::format(kPolicy, ns_));
  wait_until_claims_are("no claims today");
  start_operator(ledger_);
  declare("c");
  wait_until_told({"create claim data-c-0", "no claims today"});
  EXPECT_FALSE(world().run(world().look(ns_)).contains("Pod c-0"));

  world().kube().apply(fmt::format(kQuota, ns_));
  lift("validatingadmissionpolicybinding", "no-claims-in-" + ns_);
  wait_until_claims_are("accepted");
  touch("without policy");
  wait_until_told({"Pod c-", "exceeded quota"});

  lift("resourcequota", "one-pod");
  touch("without quota");
  wait_until_settled("c", 180s);
  for (const auto& write : ledger_.writes())
    if (write.creates()) EXPECT_EQ(ledger_.count_effects(write.what), 1) << write.what;
  EXPECT_THAT(ledger_.denied(), Each(HasSubstr("quota")));
}

}  // namespace
}  // namespace quorate::slice
