#include "api/crd.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "api/codec.h"
#include "api/names.h"
#include "api/validate.h"
#include "json/document.h"
#include "json/yaml.h"

namespace quorate::api {
namespace {

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// The generated files are committed. QUORATE_REGENERATE=1 writes them anew.
TEST(GeneratedFiles, AreThoseThatAreCommitted) {
  auto files = render_crds();
  files.push_back(render_reference());
  for (const auto& file : files) {
    auto path = std::string(QUORATE_SOURCE_DIR) + "/" + file.path;
    if (std::getenv("QUORATE_REGENERATE")) std::ofstream(path) << file.text;
    EXPECT_EQ(read(path), file.text)
        << file.path << " is not what src/api describes: run api_test with QUORATE_REGENERATE=1";
  }
}

TEST(Examples, AreValid) {
  for (const char* name : {"cluster", "single", "tuned"}) {
    auto text = read(fmt::format("{}/examples/{}.yaml", QUORATE_SOURCE_DIR, name));
    auto document = json::parse_yaml(text);
    ASSERT_TRUE(document) << name << ": " << document.error().text();
    EXPECT_EQ(json::text_or(document->value, "/apiVersion", ""), kApiVersion);
    auto spec = decode_cluster_spec(*json::find(document->value, "/spec"));
    ASSERT_TRUE(spec) << name << ": " << spec.error().text();
    EXPECT_EQ(api::text(validate(*spec)), "");
    const bool alone = spec->replicas == 1;
    EXPECT_EQ(warnings(*spec).size(), alone ? 1U : 0U) << api::text(warnings(*spec));
    EXPECT_EQ(api::text(validate_name(json::text_or(document->value, "/metadata/name", ""))), "");
  }
}

json::Value cluster_crd() { return make_crds().front(); }

const json::Value& schema_at(const json::Value& crd, const std::string& path) {
  const auto* found = json::find(crd, "/spec/versions/0/schema/openAPIV3Schema/properties" + path);
  EXPECT_NE(found, nullptr) << path;
  static const json::Value none;
  return found ? *found : none;
}

TEST(Crd, CarriesDefaultsLimitsAndTexts) {
  auto crd = cluster_crd();
  const auto& replicas = schema_at(crd, "/spec/properties/replicas");
  EXPECT_EQ(*json::integer_at(replicas, "/default"), 3);
  EXPECT_EQ(*json::integer_at(replicas, "/minimum"), 0);
  EXPECT_EQ(*json::integer_at(replicas, "/maximum"), 9);
  EXPECT_FALSE(json::text_or(replicas, "/description", "").empty());
  EXPECT_EQ(json::text_or(schema_at(crd, "/spec/properties/storage/default"), "/claim/size", ""),
            "1Gi");
  EXPECT_EQ(json::find(schema_at(crd, "/spec/properties/version"), "/default"), nullptr)
      << "pinned by the operator, not by the schema";
}

TEST(Crd, HasWhatKubectlNeeds) {
  auto crd = cluster_crd();
  EXPECT_EQ(json::text_or(crd, "/spec/names/shortNames/0", ""), "etcd");
  EXPECT_EQ(json::text_or(crd, "/spec/versions/0/subresources/scale/specReplicasPath", ""),
            ".spec.replicas");
  EXPECT_NE(json::find(crd, "/spec/versions/0/subresources/status"), nullptr);
  std::vector<std::string> columns;
  for (const auto& column :
       json::find(crd, "/spec/versions/0/additionalPrinterColumns")->as_array())
    columns.emplace_back(json::text_or(column, "/name", ""));
  EXPECT_THAT(columns, ::testing::ElementsAre("Ready", "Status", "Version", "Leader", "DB", "Age"));
}

// Every schema is structural: it says its type (or int-or-string) everywhere, describes itself, and
// bounds what CEL looks at.
void check_structural(const json::Value& schema, const std::string& path) {
  const auto& object = schema.as_object();
  bool int_or_string = object.contains("x-kubernetes-int-or-string");
  EXPECT_TRUE(int_or_string != object.contains("type")) << path;
  if (const auto* properties = object.if_contains("properties"))
    for (const auto& member : properties->as_object())
      check_structural(member.value(), path + "." + std::string(member.key()));
  if (const auto* values = object.if_contains("additionalProperties")) {
    EXPECT_TRUE(object.contains("maxProperties")) << path;
    check_structural(*values, path + "{}");
  }
  if (const auto* items = object.if_contains("items")) {
    EXPECT_TRUE(object.contains("maxItems")) << path;
    check_structural(*items, path + "[]");
  }
}

TEST(Crd, IsStructural) {
  for (const auto& crd : make_crds())
    check_structural(*json::find(crd, "/spec/versions/0/schema/openAPIV3Schema"), "");
}

TEST(Crd, IsYamlThatReadsBack) {
  auto files = render_crds();
  auto crds = make_crds();
  ASSERT_EQ(files.size(), crds.size());
  for (std::size_t i = 0; i < files.size(); ++i)
    EXPECT_EQ(json::render_sorted(json::parse_yaml(files[i].text)->value),
              json::render_sorted(crds[i]));
}

}  // namespace
}  // namespace quorate::api
