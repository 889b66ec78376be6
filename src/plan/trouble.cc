#include "plan/trouble.h"

#include <fmt/format.h>

#include <string_view>

#include "api/last_words.h"

namespace quorate::plan {
namespace {

constexpr int kPanicExit = 2;  // of every program in Go
// Once is no habit, and a fresh leader takes such a log for one that is merely late.
constexpr int kShortLogRestarts = 2;

}  // namespace

bool is_finished(const PodFacts& pod) {
  return pod.phase == PodPhase::kFailed || pod.phase == PodPhase::kSucceeded;
}

const Terminated* last_end(const PodFacts& pod) {
  if (pod.etcd.running) return nullptr;
  if (pod.etcd.terminated) return &*pod.etcd.terminated;
  return pod.etcd.last ? &*pod.etcd.last : nullptr;
}

std::optional<api::LaunchReport> guard_report(const Member& member) {
  const auto* end = member.pod ? last_end(*member.pod) : nullptr;
  return end ? api::read_launch_report(end->exit_code, end->message) : std::nullopt;
}

bool guard_misses_data(const Member& member) {
  auto report = guard_report(member);
  return report && (report->code == launch::kExitLost || report->code == launch::kExitUnsure ||
                    report->code == launch::kExitDamaged);
}

bool log_is_short(const Member& member) {
  const auto* end = member.pod ? last_end(*member.pod) : nullptr;
  return end && member.pod->etcd.restarts >= kShortLogRestarts && end->exit_code == kPanicExit &&
         api::says_log_is_short(end->message);
}

bool has_lost_data(const Member& member) {
  return guard_misses_data(member) || log_is_short(member);
}

namespace {

std::string_view guard_code(launch::ExitCode code) {
  switch (code) {
    case launch::kExitLost:
      return "MemberLost";
    case launch::kExitUnsure:
      return "MemberUnsure";
    case launch::kExitMisconfigured:
      return "LaunchMisconfigured";
    case launch::kExitUnreadable:
      return "VolumeUnreadable";
    case launch::kExitCannotStart:
      return "EtcdCannotStart";
    case launch::kExitHeld:
      return "MemberHeld";
    case launch::kExitDamaged:
      return "LogDamaged";
  }
  return "LaunchRefused";
}

// Not merely on its way, in the kubelet's words.
bool waits_in_vain(const ContainerFacts& container) {
  return container.waiting && *container.waiting != "ContainerCreating" &&
         *container.waiting != "PodInitializing";
}

std::optional<Reason> waiting_trouble(const std::string& name, const ContainerFacts& container) {
  if (!waits_in_vain(container)) return std::nullopt;
  if (*container.waiting == "CrashLoopBackOff") return std::nullopt;  // the end before says more
  auto text = container.waiting_message.empty() ? *container.waiting : container.waiting_message;
  return Reason{*container.waiting, fmt::format("{}: {}", name, text)};
}

Reason end_trouble(const std::string& name, const Terminated& end) {
  auto text = end.message.empty() ? end.reason : api::last_words(end.message);
  return {"EtcdExits", fmt::format("{}: etcd ended with {}{}{}", name, end.exit_code,
                                   text.empty() ? "" : ": ", text)};
}

}  // namespace

bool is_stuck(const Member& member) {
  if (!member.pod || member.answer || member.pod->ready || member.pod->etcd.running) return false;
  return !member.pod->unschedulable.empty() || waits_in_vain(member.pod->install) ||
         waits_in_vain(member.pod->etcd);
}

std::optional<Reason> find_trouble(const Member& member) {
  if (!member.pod) return std::nullopt;
  const auto& pod = *member.pod;
  if (pod.deleting) return Reason{"PodLeaving", fmt::format("{}: its Pod is going", member.name)};
  if (pod.ready) return std::nullopt;
  if (!pod.unschedulable.empty())
    return Reason{"Unschedulable", fmt::format("{}: {}", member.name, pod.unschedulable)};
  if (auto trouble = waiting_trouble(member.name, pod.install)) return trouble;
  if (pod.install.terminated && pod.install.terminated->exit_code != 0)
    return Reason{"InstallFails",
                  fmt::format("{}: {}", member.name, pod.install.terminated->message)};
  if (auto trouble = waiting_trouble(member.name, pod.etcd)) return trouble;
  if (auto report = guard_report(member))
    return Reason{std::string(guard_code(report->code)),
                  fmt::format("{}: {}", member.name, report->reason)};
  if (const auto* end = last_end(pod)) return end_trouble(member.name, *end);
  return std::nullopt;
}

}  // namespace quorate::plan
