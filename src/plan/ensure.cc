#include <fmt/format.h>

#include "plan/rules.h"

// Everything that a cluster is made of is there, and what is known is written where it is needed.
//
// Guarantees   creates only what is missing, by names and UIDs that are ours, and changes nothing
//              that carries identity but to add what is known. A volume or authority that a member
//              may have used is never made anew: its absence is a loss, and is told. An object that
//              somebody else has under a name that we need is never touched: we wait, and say so.
// Assumptions  creation is by POST, so that an object which our cache does not show yet makes the
//              step fail and nothing else.
namespace quorate::plan {
namespace {

void append(Finding& all, Finding part) {
  for (auto& verdict : part.verdicts) all.verdicts.push_back(std::move(verdict));
  for (auto& stage : part.stages) all.stages.push_back(std::move(stage));
}

Verdict acting(const Situation& now, const std::vector<Stage>& stages) {
  std::string what;
  int more = 0;
  for (const auto& stage : stages)
    for (const auto& step : stage.steps) {
      if (what.size() > 120)
        ++more;
      else
        what += (what.empty() ? "" : ", ") + describe(step, now.seen.cluster.key.name);
    }
  if (more) what += fmt::format(" and {} more", more);
  return now.acts("ensure", "Ensuring", what);
}

}  // namespace

Finding ensure(const Situation& now) {
  if (!now.target) return {};
  Finding all;
  append(all, ensure_shared(now));
  append(all, ensure_members(now));
  append(all, ensure_metadata(now));
  for (const auto& refusal : now.seen.refusals)
    all.verdicts.push_back(
        now.waiting("ensure", "Refused",
                    fmt::format("{} {}: {}", refusal.operation, refusal.object, refusal.message)));
  if (!all.stages.empty()) all.verdicts.insert(all.verdicts.begin(), acting(now, all.stages));
  return all;
}

}  // namespace quorate::plan
