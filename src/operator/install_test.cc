#include "operator/install.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "json/yaml.h"

namespace quorate::op {
namespace {

InstallOptions shipped() {
  InstallOptions out;
  out.image = "quorate.io/quorate:v0.1.0";
  return out;
}

json::Value find_kind(const std::vector<json::Value>& objects, std::string_view kind) {
  for (const auto& object : objects)
    if (json::text_or(object, "/kind", "") == kind) return object;
  return {};
}

// Committed for kustomize. QUORATE_REGENERATE=1 writes it anew.
void expect_committed(const std::string& file, const std::vector<json::Value>& objects) {
  const auto path = std::string(QUORATE_SOURCE_DIR) + "/deploy/kustomize/" + file;
  const auto text = json::render_yaml_stream(objects);
  if (std::getenv("QUORATE_REGENERATE")) std::ofstream(path) << text;
  std::stringstream committed;
  committed << std::ifstream(path).rdbuf();
  EXPECT_EQ(committed.str(), text) << path << ": run make manifests";
}

std::vector<json::Value> find_kinds(const std::vector<json::Value>& objects,
                                    std::initializer_list<std::string_view> kinds) {
  std::vector<json::Value> out;
  for (auto kind : kinds) out.push_back(find_kind(objects, kind));
  return out;
}

TEST(Install, IsWhatIsCommitted) {
  expect_committed("operator.yaml", make_install(shipped()));
  auto options = shipped();
  options.monitoring = options.admission_policy = true;
  const auto all = make_install(options);
  expect_committed("components/monitoring/monitors.yaml",
                   find_kinds(all, {"ServiceMonitor", "PodMonitor"}));
  expect_committed(
      "components/admission-policy/policy.yaml",
      find_kinds(all, {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}));
  options.rbac.watched_namespaces = {"team"};
  auto rights = make_rbac(options.rbac);
  std::erase_if(rights, [](const json::Value& object) {
    return json::text_or(object, "/metadata/namespace", "") != "team";
  });
  expect_committed("components/one-namespace/role.yaml", rights);
}

// What they name is not labelled with the namespace of whoever exports it.
TEST(Install, KeepsTheNamespacesOfClustersInMetrics) {
  auto options = shipped();
  options.monitoring = true;
  const auto monitor = find_kind(make_install(options), "ServiceMonitor");
  const auto* honored = json::find(monitor, "/spec/endpoints/0/honorLabels");
  ASSERT_TRUE(honored);
  EXPECT_TRUE(honored->as_bool());
}

TEST(Install, PutsAlertsWhereTheOperatorRuns) {
  auto options = shipped();
  options.rbac.operator_namespace = "here";
  EXPECT_TRUE(find_kind(make_install(options), "PrometheusRule").is_null());
  options.monitoring = true;
  const auto rule = find_kind(make_install(options), "PrometheusRule");
  EXPECT_EQ(json::text_or(rule, "/metadata/namespace", ""), "here");
  EXPECT_EQ(json::text_or(rule, "/spec/groups/0/rules/0/alert", ""), "QuorateClusterWithoutLeader");
}

TEST(Install, TellsTheOperatorWhichNamespaceItWatchesAndWhereItsLeaseIs) {
  auto options = shipped();
  options.rbac.operator_namespace = "here";
  options.rbac.watched_namespaces = {"there", "elsewhere"};
  const auto deployment = find_kind(make_install(options), "Deployment");
  const auto* arguments = json::find(deployment, "/spec/template/spec/containers/0/args");
  ASSERT_TRUE(arguments);
  const auto text = json::render(*arguments);
  EXPECT_NE(text.find("\"--namespace=there\",\"--namespace=elsewhere\""), std::string::npos)
      << text;
  EXPECT_NE(text.find("\"--lease=here/quorate-operator\""), std::string::npos) << text;
}

TEST(Install, LetsOnlyProbesAndMetricsIn) {
  const auto objects = make_install(shipped());
  const auto policy = find_kind(objects, "NetworkPolicy");
  const auto deployment = find_kind(objects, "Deployment");
  EXPECT_EQ(*json::find(policy, "/spec/podSelector/matchLabels"),
            *json::find(deployment, "/spec/template/metadata/labels"));
  EXPECT_EQ(*json::find(policy, "/spec/policyTypes"), json::Array{"Ingress"});
  const auto& open = json::find(policy, "/spec/ingress")->as_array();
  ASSERT_EQ(open.size(), 1U);
  const auto& ports = json::find(open[0], "/ports")->as_array();
  ASSERT_EQ(ports.size(), 1U);
  EXPECT_EQ(*json::find(ports[0], "/port"),
            *json::find(deployment, "/spec/template/spec/containers/0/ports/0/containerPort"));
}

TEST(Install, LetsTheAccountThatItRunsUnderDeleteRecords) {
  auto options = shipped();
  options.admission_policy = true;
  options.rbac.operator_namespace = "here";
  const auto policy = find_kind(make_install(options), "ValidatingAdmissionPolicy");
  const auto expression = json::text_or(policy, "/spec/validations/0/expression", "");
  EXPECT_NE(expression.find("'system:serviceaccount:here:quorate-operator'"), std::string::npos);
}

}  // namespace
}  // namespace quorate::op
