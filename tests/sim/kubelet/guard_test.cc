#include "tests/sim/kubelet/guard.h"

#include <gtest/gtest.h>

#include "base/launch_contract.h"

namespace quorate::sim {
namespace {

datadir::Environment environment(std::string_view formation, std::string_view started = "") {
  auto variable = [](std::string_view name, std::string_view value) {
    return std::string(name) + "=" + std::string(value);
  };
  return {variable(launch::kEnvMember, "c-0"),
          variable(launch::kEnvClusterUid, "11111111-2222-3333-4444-555555555555"),
          variable(launch::kEnvIncarnation, "1"),
          variable(launch::kEnvToken, "token"),
          variable(launch::kEnvPeerUrl, "http://c-0.c-peer.default.svc:2380"),
          variable(launch::kEnvFormation, formation),
          variable(launch::kEnvStarted, started),
          variable(launch::kEnvClusterId, started.empty() ? "" : "abc"),
          variable(launch::kEnvMemberId, started.empty() ? "" : "def"),
          variable(launch::kEnvFirstPod, launch::kFirstPodTrue),
          variable(launch::kEnvInitialCluster, "c-0=http://c-0.c-peer.default.svc:2380")};
}

struct TwoDisks {
  Disk volume = std::make_shared<etcdsim::Volume>();
  Disk pod = std::make_shared<etcdsim::Volume>();

  GuardRun guard(datadir::Environment variables) const {
    return GuardRun({{"/usr/local/bin/etcd"}, std::move(variables), volume, pod});
  }
};

GuardRun::Outcome finish(GuardRun guard) {
  while (true)
    if (auto outcome = guard.step()) return std::move(*outcome);
}

TEST(GuardRun, ACrashAfterAnyStepLeadsToTheSameStart) {
  for (int steps = 0; steps < 5; ++steps) {
    TwoDisks disks;
    auto first = disks.guard(environment(launch::kFormationOpen));
    for (int i = 0; i < steps; ++i) ASSERT_FALSE(first.step() && i + 1 < steps);
    const auto outcome = finish(disks.guard(environment(launch::kFormationOpen)));
    const auto* executes = std::get_if<GuardRun::Executes>(&outcome);
    ASSERT_TRUE(executes) << steps;
    const auto& command = executes->command;
    EXPECT_NE(std::find(command.begin(), command.end(), "--initial-cluster-state=new"),
              command.end());
  }
}

TEST(GuardRun, RefusesAMemberWhoseDataIsGone) {
  TwoDisks disks;
  const auto outcome = finish(disks.guard(environment(launch::kFormationClosed, "true")));
  const auto* refused = std::get_if<GuardRun::Refused>(&outcome);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, launch::kExitLost);
}

TEST(GuardRun, RefusesAVolumeThatWasEmptiedSinceTheStart) {
  TwoDisks disks;
  ASSERT_TRUE(std::holds_alternative<GuardRun::Executes>(
      finish(disks.guard(environment(launch::kFormationOpen)))));
  disks.volume->data = {};  // the note stays
  const auto outcome = finish(disks.guard(environment(launch::kFormationOpen)));
  const auto* refused = std::get_if<GuardRun::Refused>(&outcome);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, launch::kExitUnsure);
}

TEST(GuardRun, DoesNotBeginOnADiskThatTakesNoWrites) {
  TwoDisks disks;
  disks.volume->full = true;
  const auto outcome = finish(disks.guard(environment(launch::kFormationOpen)));
  const auto* refused = std::get_if<GuardRun::Refused>(&outcome);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, launch::kExitUnreadable);
}

}  // namespace
}  // namespace quorate::sim
