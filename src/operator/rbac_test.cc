#include "operator/rbac.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "json/yaml.h"

namespace quorate::op {
namespace {

// Committed, so that people can read it. QUORATE_REGENERATE=1 writes it anew.
TEST(Rbac, IsWhatIsCommitted) {
  const auto path = std::string(QUORATE_SOURCE_DIR) + "/deploy/kustomize/rbac.yaml";
  const auto text = json::render_yaml_stream(make_rbac({}));
  if (std::getenv("QUORATE_REGENERATE")) std::ofstream(path) << text;
  std::stringstream committed;
  committed << std::ifstream(path).rdbuf();
  EXPECT_EQ(committed.str(), text) << "run make manifests";
}

TEST(Rbac, GrantsNoWildcardsAndNothingOverRolesNodesOrExec) {
  for (const auto& object : make_rbac({})) {
    const auto* rules = json::find(object, "/rules");
    if (!rules) continue;
    const auto text = json::render(*rules);
    for (const char* word :
         {"*", "pods/exec", "\"nodes\"", "roles", "impersonate", "escalate", "bind"})
      EXPECT_EQ(text.find(word), std::string::npos) << word;
  }
}

TEST(Rbac, StaysInTheNamespacesThatAreWatched) {
  RbacOptions options;
  options.watched_namespaces = {"team", "other"};
  std::vector<std::string> places;
  for (const auto& object : make_rbac(options)) {
    const std::string kind(json::text_or(object, "/kind", ""));
    EXPECT_NE(kind, "ClusterRole");
    EXPECT_NE(kind, "ClusterRoleBinding");
    if (json::text_or(object, "/metadata/name", "") == "quorate-operator" &&
        kind != "ServiceAccount")
      places.push_back(kind + " " + std::string(json::text_or(object, "/metadata/namespace", "")));
  }
  EXPECT_EQ(places, (std::vector<std::string>{"Role team", "RoleBinding team", "Role other",
                                              "RoleBinding other"}));
}

}  // namespace
}  // namespace quorate::op
