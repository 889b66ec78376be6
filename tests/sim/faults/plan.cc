#include "tests/sim/faults/plan.h"

#include <fmt/format.h>

#include <array>

namespace quorate::sim {
namespace {

constexpr std::array<std::string_view, kFaultKinds> kNames{"crash",
                                                           "pause",
                                                           "wallJump",
                                                           "handOver",
                                                           "loseRequest",
                                                           "loseReply",
                                                           "refuseWrites",
                                                           "forbidCreates",
                                                           "forbidWrites",
                                                           "refuseReads",
                                                           "throttle",
                                                           "delayCalls",
                                                           "outage",
                                                           "freezeWatches",
                                                           "halfOpen",
                                                           "forgetHistory",
                                                           "duplicateEvents",
                                                           "loseEtcdReplies",
                                                           "cutFromEtcd",
                                                           "cutMember",
                                                           "cutPeers",
                                                           "cutOneWay",
                                                           "cutPair",
                                                           "lossy",
                                                           "slowNetwork",
                                                           "breakNames",
                                                           "kill",
                                                           "stop",
                                                           "wipe",
                                                           "wipeAndKill",
                                                           "blankDisk",
                                                           "loseVolume",
                                                           "corruptLog",
                                                           "corruptDatabase",
                                                           "tamper",
                                                           "raiseCorrupt",
                                                           "rollBack",
                                                           "fullDisk",
                                                           "readOnly",
                                                           "stallDisk",
                                                           "powerOff",
                                                           "reboot",
                                                           "cutNode",
                                                           "loseNode",
                                                           "deletePod",
                                                           "evictPod",
                                                           "deleteRecord",
                                                           "wipeStatus",
                                                           "rewindStatus",
                                                           "dropServing",
                                                           "deleteLease",
                                                           "deleteCluster",
                                                           "recreateCluster"};
constexpr std::array<std::string_view, 3> kMoments{"before", "afterApply", "afterReply"};

Duration milliseconds(std::int64_t count) { return std::chrono::milliseconds(count); }
std::int64_t in_milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

std::string_view name(FaultKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }
std::string_view name(Moment moment) { return kMoments.at(static_cast<std::size_t>(moment)); }

Result<FaultKind> parse_fault_kind(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == text) return static_cast<FaultKind>(i);
  return fail(Code::kInvalid, fmt::format("no fault is called {}", text));
}

std::string describe(const Fault& fault) {
  std::string when = fault.effect != 0
                         ? fmt::format("{} effect {}", name(fault.moment), fault.effect)
                         : fmt::format("at {} ms", in_milliseconds(fault.at));
  const auto whom = fault.target == kEverybody ? std::string("all") : std::to_string(fault.target);
  return fmt::format("{} of {} {}, for {} ms, {} times", name(fault.kind), whom, when,
                     in_milliseconds(fault.duration), fault.count);
}

json::Value encode(const Plan& plan) {
  json::Array faults;
  for (const auto& fault : plan.faults) {
    json::Object one{{"kind", name(fault.kind)},
                     {"target", fault.target},
                     {"durationMs", in_milliseconds(fault.duration)},
                     {"count", fault.count}};
    if (fault.effect != 0) {
      one["effect"] = fault.effect;
      one["moment"] = name(fault.moment);
    } else {
      one["atMs"] = in_milliseconds(fault.at);
    }
    faults.push_back(std::move(one));
  }
  return faults;
}

Result<Plan> decode_plan(const json::Value& value) {
  Plan plan;
  if (!value.is_array()) return fail(Code::kInvalid, "a plan is a list of faults");
  for (const auto& one : value.as_array()) {
    Fault fault;
    TRY(auto kind, json::text_at(one, "/kind"));
    TRY(fault.kind, parse_fault_kind(kind));
    fault.target = static_cast<int>(json::integer_at(one, "/target").value_or(0));
    fault.duration = milliseconds(json::integer_at(one, "/durationMs").value_or(0));
    fault.count = static_cast<int>(json::integer_at(one, "/count").value_or(1));
    fault.at = milliseconds(json::integer_at(one, "/atMs").value_or(0));
    fault.effect = static_cast<std::uint64_t>(json::integer_at(one, "/effect").value_or(0));
    const auto moment = json::text_or(one, "/moment", kMoments[0]);
    for (std::size_t i = 0; i < kMoments.size(); ++i)
      if (kMoments[i] == moment) fault.moment = static_cast<Moment>(i);
    plan.faults.push_back(fault);
  }
  return plan;
}

}  // namespace quorate::sim
