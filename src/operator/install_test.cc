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
TEST(Install, IsWhatIsCommitted) {
  const auto path = std::string(QUORATE_SOURCE_DIR) + "/deploy/kustomize/operator.yaml";
  const auto text = json::render_yaml_stream(make_install(shipped()));
  if (std::getenv("QUORATE_REGENERATE")) std::ofstream(path) << text;
  std::stringstream committed;
  committed << std::ifstream(path).rdbuf();
  EXPECT_EQ(committed.str(), text) << "run make manifests";
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
