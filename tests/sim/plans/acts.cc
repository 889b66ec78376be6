#include "tests/sim/plans/acts.h"

#include <fmt/format.h>

#include "base/check.h"

namespace quorate::sim {

using namespace std::chrono_literals;

json::Object plain_spec(int replicas) {
  const json::Object off{{"mode", "Disabled"}};
  return {{"replicas", replicas}, {"tls", json::Object{{"peer", off}, {"client", off}}}};
}

json::Object shaped_spec(const char* version, const char* memory) {
  auto spec = plain_spec(3);
  spec["version"] = version;
  spec["resources"] = json::Object{{"requests", json::Object{{"memory", memory}}}};
  return spec;
}

Act declare(Duration at, std::string name, json::Object spec) {
  return {at, "declares " + name, [name, spec = json::Value(std::move(spec))](World& world) {
            auto declared = world.declare(name, spec);
            CHECK(declared.has_value(), "{}", declared.error().text());
            for (auto& client : world.clients()) client->talk_to(name);
          }};
}

Act edit(Duration at, std::string name, json::Object spec) {
  return {at, "edits " + name, [name, spec = json::Value(std::move(spec))](World& world) {
            auto declared = world.declare(name, spec);
            static_cast<void>(declared);
          }};
}

Act remove(Duration at, std::string name) {
  return {at, "deletes " + name, [name](World& world) {
            auto removed = world.remove(name);
            static_cast<void>(removed);
          }};
}

Act befall(Duration at, FaultKind kind, int target, Duration duration) {
  Fault fault;
  fault.kind = kind;
  fault.target = target;
  fault.duration = duration;
  return {at, describe(fault), [fault](World& world) { world.fate().inflict(fault); }};
}

Act befall_once_whole(Duration at, FaultKind kind, int target) {
  auto act = befall(at, kind, target, {});
  act.what = [inflict = std::move(act.what)](World& world) {
    if (world.converged("c")) inflict(world);
  };
  return act;
}

Act befall_follower(Duration at, FaultKind kind, Duration duration) {
  return {at, fmt::format("{} of a follower", name(kind)), [kind, duration](World& world) {
            const auto pods = world.member_pods();
            for (std::size_t i = 0; i < pods.size(); ++i) {
              const auto* process = world.process_of(pods[i]);
              const auto* member = process ? process->member() : nullptr;
              if (!member || member->raft().leads()) continue;
              Fault fault;
              fault.kind = kind;
              fault.target = static_cast<int>(i);
              fault.duration = duration;
              return world.fate().inflict(fault);
            }
          }};
}

const std::vector<FaultKind>& faults_of_operators() {
  static const std::vector<FaultKind> kAll{
      FaultKind::kCrash,           FaultKind::kPause,           FaultKind::kWallJump,
      FaultKind::kHandOver,        FaultKind::kLoseRequest,     FaultKind::kLoseReply,
      FaultKind::kRefuseWrites,    FaultKind::kForbidCreates,   FaultKind::kForbidWrites,
      FaultKind::kRefuseReads,     FaultKind::kThrottle,        FaultKind::kDelayCalls,
      FaultKind::kOutage,          FaultKind::kFreezeWatches,   FaultKind::kHalfOpen,
      FaultKind::kForgetHistory,   FaultKind::kDuplicateEvents, FaultKind::kCutFromEtcd,
      FaultKind::kLoseEtcdReplies, FaultKind::kWipeStatus,      FaultKind::kRewindStatus,
      FaultKind::kDropServing,     FaultKind::kDeleteLease};
  return kAll;
}

std::vector<FaultKind> faults_that_heal() {
  auto out = faults_of_operators();
  for (auto kind :
       {FaultKind::kCutMember, FaultKind::kCutPeers, FaultKind::kCutOneWay, FaultKind::kCutPair,
        FaultKind::kLossy, FaultKind::kSlowNetwork, FaultKind::kBreakNames, FaultKind::kKill,
        FaultKind::kStop, FaultKind::kFullDisk, FaultKind::kReadOnly, FaultKind::kStallDisk,
        FaultKind::kPowerOff, FaultKind::kReboot, FaultKind::kCutNode, FaultKind::kDeletePod,
        FaultKind::kEvictPod, FaultKind::kDeleteRecord})
    out.push_back(kind);
  return out;
}

Scenario form_as(std::string name, std::string says) {
  Scenario out;
  out.name = std::move(name);
  out.says = std::move(says);
  out.acts = {declare(0s, "c", plain_spec(3))};
  out.clusters = {"c"};
  out.faults = faults_that_heal();
  return out;
}

}  // namespace quorate::sim
