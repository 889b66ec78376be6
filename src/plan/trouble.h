#pragma once

#include <optional>

#include "api/launch_report.h"
#include "plan/situation.h"

// What is wrong with a Pod, in words: read from what kubelet, scheduler and launch guard say.
namespace quorate::plan {

// Nothing runs in it any more, and nothing will.
[[nodiscard]] bool is_finished(const PodFacts& pod);

// How the last run of etcd's container ended, unless it runs now.
[[nodiscard]] const Terminated* last_end(const PodFacts& pod);

// The launch guard's refusal, if that is how the last run ended.
[[nodiscard]] std::optional<api::LaunchReport> guard_report(const Member& member);

// The guard refuses because the data is not there, or is not the member's.
[[nodiscard]] bool guard_misses_data(const Member& member);

// etcd ends again and again because its log lacks what the member had acknowledged to its leader:
// its volume is an older copy of itself, which ends above the floor, so that the guard lets it pass
// (docs/launch.md).
[[nodiscard]] bool log_is_short(const Member& member);

// The member's data is not what it was, by what guard or etcd say.
[[nodiscard]] bool has_lost_data(const Member& member);

// etcd does not run in the member's Pod, and waits for something that may never come: an image, the
// end of a back-off, a node.
[[nodiscard]] bool is_stuck(const Member& member);

// Why the Pod does not get ready, if there is a reason to name: {ImagePull, "c-0: ..."}.
[[nodiscard]] std::optional<Reason> find_trouble(const Member& member);

}  // namespace quorate::plan
