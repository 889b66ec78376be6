#include "node/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quorate::node {
namespace {

using testing::ElementsAre;
using testing::Pair;

class EnvironmentTest : public testing::Test {
 protected:
  EnvironmentTest() {
    pod_.meta.key = {"n", "p"};
    pod_.annotations["quorate.io/seen"] = "yes";
    secret_.data["password"] = "hunter2";
    config_.data["a"] = "1";
    config_.data["b"] = "2";
  }

  Result<Environment> resolve() {
    ObjectFinder objects;
    objects.secret = [&](const ObjectKey& key) {
      return key == ObjectKey{"n", "s"} ? &secret_ : nullptr;
    };
    objects.config_map = [&](const ObjectKey& key) {
      return key == ObjectKey{"n", "c"} ? &config_ : nullptr;
    };
    return resolve_environment(container_, {pod_, "198.18.1.2", "198.18.1.1"}, objects,
                               {{"PATH", "/bin"}});
  }
  EnvVar field(std::string name, std::string path) {
    return {std::move(name), EnvVar::From::kField, "", std::move(path), "", false};
  }

  PodView pod_;
  ContainerSpec container_;
  SecretView secret_;
  ConfigMapView config_;
};

TEST_F(EnvironmentTest, FieldsAreReadAsTheyAreNow) {
  container_.env = {field("SEEN", "metadata.annotations['quorate.io/seen']"),
                    field("NONE", "metadata.annotations['other']"), field("IP", "status.podIP"),
                    field("NAME", "metadata.name")};
  EXPECT_THAT(*resolve(), ElementsAre(Pair("PATH", "/bin"), Pair("SEEN", "yes"), Pair("NONE", ""),
                                      Pair("IP", "198.18.1.2"), Pair("NAME", "p")));
  pod_.annotations["quorate.io/seen"] = "no";
  EXPECT_THAT(*resolve(), testing::Contains(Pair("SEEN", "no")));
}

TEST_F(EnvironmentTest, ObjectsGiveKeysOrEverything) {
  container_.env_from = {{false, "c", "X_", false}};
  container_.env = {{"P", EnvVar::From::kSecret, "", "s", "password", false},
                    {"Q", EnvVar::From::kSecret, "", "gone", "password", true}};
  EXPECT_THAT(*resolve(), ElementsAre(Pair("PATH", "/bin"), Pair("X_a", "1"), Pair("X_b", "2"),
                                      Pair("P", "hunter2")));
}

TEST_F(EnvironmentTest, WhatIsMissingIsNamed) {
  container_.env = {{"P", EnvVar::From::kSecret, "", "gone", "password", false}};
  EXPECT_EQ(resolve().error().text(), "env P: secret \"gone\" not found");
  container_.env = {{"P", EnvVar::From::kConfigMap, "", "c", "z", false}};
  EXPECT_EQ(resolve().error().text(), "env P: couldn't find key z in ConfigMap n/c");
  container_.env = {field("P", "spec.containers")};
  EXPECT_EQ(resolve().error().code(), Code::kInvalid);
}

TEST_F(EnvironmentTest, LaterVariablesMayUseEarlierOnes) {
  container_.env = {{"A", EnvVar::From::kValue, "x$(PATH)", "", "", false},
                    {"PATH", EnvVar::From::kValue, "$(A):/sbin", "", "", false}};
  EXPECT_THAT(*resolve(), ElementsAre(Pair("PATH", "x/bin:/sbin"), Pair("A", "x/bin")));
}

TEST(Expand, KnowsEscapesAndLeavesTheRestAlone) {
  Environment variables{{"A", "1"}};
  EXPECT_EQ(expand("$(A) $(B) $A $$(A) $", variables), "1 $(B) $A $(A) $");
  EXPECT_EQ(expand("$(A", variables), "$(A");
  EXPECT_EQ(expand("", variables), "");
}

}  // namespace
}  // namespace quorate::node
