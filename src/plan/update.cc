#include "plan/update.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/window.h"
#include "base/utc.h"
#include "plan/pods.h"
#include "plan/shared.h"

namespace quorate::plan {
namespace {

constexpr std::string_view kRule = "roll";  // whose waits these are

std::string render(WallTime time) {
  return render_utc(std::chrono::floor<std::chrono::seconds>(time)) + "Z";
}

// Nothing has to be looked at before the deadline, or, without one, before something changes.
Waiting calm(Waiting wait, std::optional<WallTime> deadline) {
  wait.deadline = deadline;
  wait.calm = true;
  return wait;
}

std::optional<Waiting> find_closed(const Situation& now) {
  const auto& window = now.target->update.window;
  if (!window) return std::nullopt;
  const auto opening = api::find_opening(*window, now.seen.now.wall);
  if (opening.contains(now.seen.now.wall)) return std::nullopt;
  return calm(
      now.waiting(kRule, "WindowClosed",
                  fmt::format("the window of spec.update opens at {}", render(opening.from))),
      opening.from);
}

// The other member that became ready last. Who is not ready at all is the gate's business.
struct Newcomer {
  const Member* member = nullptr;
  WallTime since;
};
Newcomer find_newcomer(const Situation& now, const Member& but) {
  Newcomer last;
  for (const auto* member : now.current()) {
    if (member == &but || !member->pod || !member->pod->ready) continue;
    const auto since = member->pod->ready_since.value_or(now.since(kRule, "PausesBetween"));
    if (!last.member || since > last.since) last = {member, since};
  }
  return last;
}

std::optional<Waiting> find_pause(const Situation& now, const Member& member) {
  const auto pause = now.target->update.pause_between;
  if (pause == api::Span(0)) return std::nullopt;
  const auto last = find_newcomer(now, member);
  if (!last.member || now.seen.now.wall >= last.since + pause) return std::nullopt;
  auto wait = now.waiting(
      kRule, "PausesBetween",
      fmt::format("{} has been ready since {}, and the next one is restarted when it has been for "
                  "{} (spec.update.pauseBetween)",
                  last.member->name, render(last.since), api::render_span(pause)));
  wait.since = last.since;
  return calm(std::move(wait), last.since + pause);
}

}  // namespace

bool is_pressing(const Situation& now, const Member& member) {
  const auto runs_out = [&](Shared which) {
    const auto* authority = is_authority(which) ? now.find(which) : nullptr;
    return authority && now.is_ours(*authority) && authority->next && authority->certificate &&
           now.seen.now.wall >= pressing_time(*authority->certificate);
  };
  const auto needed = needed_shared(*now.target);
  return lacks_trust(now, member) && std::any_of(needed.begin(), needed.end(), runs_out);
}

std::optional<Waiting> find_hold(const Situation& now, const Member& member, bool failing) {
  if (is_pressing(now, member)) return std::nullopt;
  if (now.target->update.strategy == api::UpdateStrategy::kOnDelete)
    return calm(now.waiting(kRule, "WaitsForDeletion",
                            "spec.update.strategy is OnDelete: each takes what is declared when "
                            "its Pod is deleted"),
                std::nullopt);
  if (failing) return std::nullopt;
  if (auto closed = find_closed(now)) return closed;
  return find_pause(now, member);
}

}  // namespace quorate::plan
