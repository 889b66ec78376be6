#include "apiserver/openapi.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "api/crd.h"
#include "base/strings.h"

namespace quorate::apiserver {
namespace {

struct OpenapiTest : ::testing::Test {
  OpenapiTest() {
    for (const auto& crd : api::make_crds()) EXPECT_TRUE(registry.add_crd(crd));
  }
  json::Value document(std::string_view place) const {
    std::vector<std::string> parts;
    for (const auto part : split(place, '/')) parts.emplace_back(part);
    return find_openapi(registry, parts).value();
  }
  Registry registry;
};

void each_reference(const json::Value& value, const std::function<void(std::string)>& visit) {
  if (const auto* object = value.if_object()) {
    for (const auto& [key, member] : *object) {
      if (key == "$ref" && member.is_string()) visit(std::string(member.get_string()));
      each_reference(member, visit);
    }
  } else if (const auto* array = value.if_array()) {
    for (const auto& element : *array) each_reference(element, visit);
  }
}

TEST_F(OpenapiTest, EveryReferenceLeadsToASchemaOfTheSameDocument) {
  const auto index = find_openapi(registry, {}).value();
  int references = 0;
  for (const auto& [place, entry] : index.at("paths").get_object()) {
    const auto whole = document(place);
    each_reference(whole, [&](const std::string& reference) {
      ++references;
      const auto* schema = json::find(whole, reference.substr(1));
      EXPECT_TRUE(schema && schema->is_object()) << std::string_view(place) << ' ' << reference;
    });
  }
  EXPECT_GT(references, 500);
}

TEST_F(OpenapiTest, SaysThatPatchesOfEveryKindCanBeValidated) {
  for (const auto& kind : registry.kinds()) {
    const auto whole =
        document(kind->group.empty() ? fmt::format("api/{}", kind->version)
                                     : fmt::format("apis/{}/{}", kind->group, kind->version));
    bool found = false;
    for (const auto& [path, item] : whole.at("paths").get_object()) {
      const auto* patch = item.get_object().if_contains("patch");
      if (!patch ||
          json::text_or(*patch, "/x-kubernetes-group-version-kind/kind", "") != kind->kind)
        continue;
      for (const auto& parameter : patch->at("parameters").get_array())
        found |= parameter.at("name") == "fieldValidation" && parameter.at("in") == "query";
    }
    EXPECT_TRUE(found) << kind->kind;
  }
}

TEST_F(OpenapiTest, SaysHowListsAreMerged) {
  const auto core = document("api/v1");
  const auto& containers =
      core.at_pointer("/components/schemas/io.k8s.api.core.v1.PodSpec/properties/containers");
  EXPECT_EQ(containers.at("x-kubernetes-patch-strategy"), "merge");
  EXPECT_EQ(containers.at("x-kubernetes-patch-merge-key"), "name");
  EXPECT_EQ(containers.at("x-kubernetes-list-type"), "map");
  EXPECT_EQ(
      json::render(core.at_pointer("/components/schemas/io.k8s.api.core.v1.PodSpec/required")),
      R"(["containers"])");
}

TEST_F(OpenapiTest, GivesACustomKindAsItWasDeclared) {
  const auto ours = document("apis/quorate.io/v1alpha1");
  const auto& cluster = ours.at_pointer("/components/schemas/io.quorate.v1alpha1.EtcdCluster");
  EXPECT_EQ(cluster.at_pointer("/x-kubernetes-group-version-kind/0/kind"), "EtcdCluster");
  EXPECT_TRUE(json::find(cluster, "/properties/spec/properties/replicas/description"));
  EXPECT_EQ(cluster.at_pointer("/properties/metadata/allOf/0/$ref"),
            "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
}

TEST_F(OpenapiTest, KnowsNoDocumentOfWhatIsNotServed) {
  EXPECT_FALSE(find_openapi(registry, {"apis", "apps", "v1"}));
  EXPECT_FALSE(find_openapi(registry, {"api"}));
}

}  // namespace
}  // namespace quorate::apiserver
