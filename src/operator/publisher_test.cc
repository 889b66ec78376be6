#include "operator/publisher.h"

#include <gtest/gtest.h>

namespace quorate::op {
namespace {

void set(api::ClusterStatus& status, std::string_view type, api::ConditionStatus value) {
  for (auto& condition : status.conditions)
    if (condition.type == type) {
      condition.status = value;
      return;
    }
  api::Condition condition;
  condition.type = type;
  condition.status = value;
  status.conditions.push_back(std::move(condition));
}

api::WaitingEntry entry(std::string verdict, std::string reason) {
  return {"heal", std::move(verdict), std::move(reason), "c-0 has lost its data", {}, {}};
}

// A cluster on its way.
api::ClusterStatus forming() {
  api::ClusterStatus status;
  status.operator_identity = "quorate";
  status.ready_replicas = 1;
  status.waiting = {entry("waiting", "Forming")};
  for (auto type : {api::kConditionReady, api::kConditionDegraded})
    set(status, type, api::ConditionStatus::kFalse);
  for (auto type : {api::kConditionAvailable, api::kConditionCertificates})
    set(status, type, api::ConditionStatus::kTrue);
  return status;
}

// Whether it is written at once that this became of it.
template <class Change>
bool urgent_if(Change change) {
  auto status = forming();
  change(status);
  return is_urgent(status, forming());
}

TEST(Publisher, LetsProgressWait) {
  EXPECT_FALSE(urgent_if([](auto& status) { status.phase = "2/3 members are ready"; }));
  EXPECT_FALSE(urgent_if([](auto& status) { status.ready_replicas = 2; }));
  EXPECT_FALSE(urgent_if([](auto& status) { status.waiting[0].message = "2 of 3"; }));
  EXPECT_FALSE(urgent_if([](auto& status) { status.waiting[0] = entry("acts", "Ensuring"); }));
  EXPECT_FALSE(urgent_if([](auto& status) { status.cluster_id = ClusterId(7); }));
  EXPECT_FALSE(urgent_if(
      [](auto& status) { set(status, api::kConditionProgressing, api::ConditionStatus::kTrue); }));
}

TEST(Publisher, WritesTheFirstWordTheLastAndBadNewsAtOnce) {
  EXPECT_TRUE(is_urgent(forming(), std::nullopt));
  EXPECT_TRUE(urgent_if([](auto& status) { status.observed_generation = 1; }));
  EXPECT_TRUE(urgent_if(
      [](auto& status) { set(status, api::kConditionReady, api::ConditionStatus::kTrue); }));
  EXPECT_TRUE(urgent_if(
      [](auto& status) { set(status, api::kConditionAvailable, api::ConditionStatus::kFalse); }));
  EXPECT_TRUE(urgent_if([](auto& status) {
    set(status, api::kConditionCertificates, api::ConditionStatus::kUnknown);
  }));
  EXPECT_TRUE(urgent_if([](auto& status) { status.ready_replicas = 0; }));
  EXPECT_TRUE(urgent_if([](auto& status) { status.waiting = {entry("blocked", "DataLost")}; }));
}

TEST(Publisher, WritesWhatDecisionsBuildOnAtOnce) {
  EXPECT_TRUE(urgent_if([](auto& status) { status.operator_identity = "another"; }));
  EXPECT_TRUE(urgent_if([](auto& status) { status.target.emplace().replicas = 5; }));
  EXPECT_TRUE(urgent_if([](auto& status) { status.intent.emplace().step = "remove member c-0"; }));
}

TEST(Publisher, SaysWhatIsBlockedOnceAtOnce) {
  auto before = forming();
  before.waiting = {entry("blocked", "DataLost")};
  auto status = before;
  status.waiting[0].message = "c-0 and c-1 have lost their data";
  EXPECT_FALSE(is_urgent(status, before));
}

}  // namespace
}  // namespace quorate::op
