#include "apiserver/controller_spread.h"

#include <gtest/gtest.h>

namespace quorate::apiserver {
namespace {

json::Value node(const char* name, const char* zone) {
  json::Value made{{"metadata", {{"name", name}, {"labels", json::Object{}}}}};
  if (zone) made.at("metadata").at("labels").as_object()["zone"] = zone;
  return made;
}

json::Value pod(json::Object constraint) {
  constraint["topologyKey"] = "zone";
  constraint["labelSelector"] = {{"matchLabels", {{"app", "x"}}}};
  return {{"metadata", {{"namespace", "n"}, {"labels", {{"app", "x"}}}}},
          {"spec", {{"topologySpreadConstraints", json::Array{std::move(constraint)}}}}};
}

Placed placed(const char* on, json::Object metadata = {}) {
  metadata["namespace"] = "n";
  metadata["labels"] = {{"app", "x"}};
  return {{{"metadata", std::move(metadata)}}, on};
}

const std::vector<json::Value> kNodes = {node("a1", "a"), node("a2", "a"), node("b1", "b"),
                                         node("none", nullptr)};
const json::Object kHard = {{"maxSkew", 1}, {"whenUnsatisfiable", "DoNotSchedule"}};
constexpr const char* kUneven = "node(s) didn't match pod topology spread constraints";

TEST(Spread, RefusesTheFullerDomain) {
  const std::vector<Placed> there = {placed("a1")};
  const Spread spread(pod(kHard), kNodes, there);
  EXPECT_EQ(spread.refuse(kNodes[0]), kUneven);
  EXPECT_EQ(spread.refuse(kNodes[1]), kUneven) << "another node of the same zone";
  EXPECT_EQ(spread.refuse(kNodes[2]), "");
}

TEST(Spread, RefusesANodeWithoutTheLabel) {
  EXPECT_EQ(Spread(pod(kHard), kNodes, {}).refuse(kNodes[3]),
            std::string(kUneven) + " (missing required label)");
}

TEST(Spread, CountsNeitherPodsThatGoNorThoseOfOthers) {
  auto other = placed("a1");
  other.pod.at("metadata").as_object()["namespace"] = "elsewhere";
  const std::vector<Placed> there = {placed("a1", {{"deletionTimestamp", "2030-01-01T00:00:00Z"}}),
                                     other};
  EXPECT_EQ(Spread(pod(kHard), kNodes, there).refuse(kNodes[0]), "");
}

TEST(Spread, TakesTooFewDomainsForAnEmptyOne) {
  auto constraint = kHard;
  constraint["minDomains"] = 3;
  const std::vector<Placed> there = {placed("a1"), placed("b1")};
  EXPECT_EQ(Spread(pod(constraint), kNodes, there).refuse(kNodes[2]), kUneven);
}

TEST(Spread, OfTheSoftSortRefusesNothing) {
  const std::vector<Placed> there = {placed("a1"), placed("a1"), placed("a2")};
  const Spread spread(pod({{"maxSkew", 1}, {"whenUnsatisfiable", "ScheduleAnyway"}}), kNodes,
                      there);
  EXPECT_EQ(spread.refuse(kNodes[0]), "");
}

}  // namespace
}  // namespace quorate::apiserver
