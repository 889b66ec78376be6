#include "plan/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/hashes.h"
#include "plan/membership.h"
#include "plan/rules.h"
#include "plan/shared.h"
#include "plan/situation.h"
#include "plan/status.h"

namespace quorate::plan {
namespace {

constexpr std::array kRules{
    Rule{"ownership", ownership}, Rule{"teardown", teardown},
    Rule{"pause", pause},         Rule{"validity", validity},
    Rule{"ensure", ensure},       Rule{"doubt", doubt},
    Rule{"settle", settle},       Rule{"bootstrap", bootstrap},
    Rule{"revive", revive},       Rule{"quorum loss", quorum_loss},
    Rule{"hibernate", hibernate}, Rule{"heal", heal},
    Rule{"promote", promote},     Rule{"nudge", nudge},
    Rule{"resize", resize},       Rule{"roll", roll},
    Rule{"rotate", rotate},
};

// How soon to look again of ourselves; what changes in Kubernetes wakes us earlier. Of what changes
// inside etcd nobody tells us: what has just begun is looked at often, what lasts less so.
constexpr auto kFirstPause = std::chrono::milliseconds(200);
constexpr auto kMembershipPause = std::chrono::seconds(1);
constexpr int kPauseShare = 8;  // of how long it has lasted
constexpr auto kRetryPause = std::chrono::seconds(5);
// For how long a name that is taken is looked at often.
constexpr auto kSoonFreed = std::chrono::minutes(1);

// Takes a rule's steps over, but no second disruptive one, and none at all if it may not be.
class StepCollector {
 public:
  void add(std::vector<Stage> stages, bool may_disrupt) {
    for (auto& stage : stages) {
      Stage kept{{}, stage.essential};
      for (auto& step : stage.steps) {
        bool disruptive = permit_of(step) != nullptr;
        if (disruptive && (disrupted_ || !may_disrupt)) continue;
        disrupted_ = disrupted_ || disruptive;
        kept.steps.push_back(std::move(step));
      }
      if (!kept.steps.empty()) stages_.push_back(std::move(kept));
    }
  }
  std::vector<Stage> take() { return std::move(stages_); }

 private:
  std::vector<Stage> stages_;
  bool disrupted_ = false;
};

bool disrupts(const Finding& finding) {
  for (const auto& stage : finding.stages)
    for (const auto& step : stage.steps)
      if (permit_of(step)) return true;
  return false;
}

// Another rule is first in this pass: what this one would do is not done, and not told as done.
void give_way(const Situation& now, std::string_view rule, Finding& finding) {
  for (auto& verdict : finding.verdicts)
    if (const auto* acts = std::get_if<Acts>(&verdict))
      verdict = now.waiting(rule, "OtherFirst",
                            fmt::format("{}; something else is first", acts->doing.message));
}

// Rules that go step by step, each after a fresh look at the members.
bool changes_members(std::string_view rule) {
  return rule == "settle" || rule == "heal" || rule == "promote" || rule == "resize" ||
         rule == "roll" || rule == "revive";
}

// Somebody else's object is in our way. No watch shows those without our labels; who notices that
// it is in the way may well be about to remove it.
bool may_be_freed(const Situation& now, const Verdict& verdict) {
  return reason_of(verdict).code == "NameTaken" &&
         now.seen.now.wall - since_of(verdict) < kSoonFreed;
}

Duration pause_during(const Situation& now, const Verdict& verdict) {
  const Duration lasts = now.seen.now.wall - since_of(verdict);
  return std::clamp<Duration>(lasts / kPauseShare, kFirstPause, kMembershipPause);
}

std::optional<Duration> next_look(const Situation& now, std::span<const Ruling> rulings) {
  std::optional<Duration> soonest;
  auto at_most = [&](Duration wait) {
    if (!soonest || wait < *soonest) soonest = wait;
  };
  bool stopped = now.seen.cluster.deleting || now.claimed_by_other;
  if (stopped) return std::nullopt;
  const bool forms = now.formation && !now.formed;
  if (suspects_difference(now)) at_most(kHashAgain);
  for (const auto& ruling : rulings)
    for (const auto& verdict : ruling.verdicts) {
      if (auto deadline = deadline_of(verdict); deadline && *deadline > now.seen.now.wall)
        at_most(*deadline - now.seen.now.wall);
      if (is_calm(verdict)) continue;
      // A refusal may have been lifted, a lost answer is worth another question.
      if (deadline_of(verdict) || std::holds_alternative<Acts>(verdict)) at_most(kRetryPause);
      const bool changes = changes_members(ruling.rule) || (forms && ruling.rule == "bootstrap");
      if (changes && !is_aside(verdict)) at_most(pause_during(now, verdict));
      if (may_be_freed(now, verdict)) at_most(kMembershipPause);
    }
  for (const auto& shared : now.seen.shared) {
    if (!shared.certificate) continue;
    auto when = renewal_time(*shared.certificate);
    if (now.target && is_authority(shared.which) && shared.trusts.size() > 1)
      when = retirement_time(now, shared);
    if (shared.next) when = pressing_time(*shared.certificate);
    if (when > now.seen.now.wall) at_most(when - now.seen.now.wall);
  }
  return soonest;
}

}  // namespace

std::span<const Rule> rules() { return kRules; }

const Step* disruptive_step(const Decision& decision) {
  for (const auto& stage : decision.stages)
    for (const auto& step : stage.steps)
      if (permit_of(step)) return &step;
  return nullptr;
}

Decision decide(const Observation& seen, std::span<const Rule> table) {
  const auto now = make_situation(seen);
  Decision decision;
  StepCollector steps;
  auto rest = Finding::Rest::kAll;
  for (const auto& rule : table) {
    if (rest == Finding::Rest::kNothing) break;
    auto finding = rule.judge(now);
    if (rest != Finding::Rest::kAll && disrupts(finding)) give_way(now, rule.name, finding);
    steps.add(std::move(finding.stages), rest == Finding::Rest::kAll);
    decision.rulings.push_back({rule.name, std::move(finding.verdicts)});
    rest = std::max(rest, finding.rest);
  }
  decision.stages = steps.take();
  if (!now.claimed_by_other) {
    decision.status = make_status(now, decision.rulings);
    if (now.claimed) decision.member_statuses = make_member_statuses(now);
  }
  decision.look_again_in = next_look(now, decision.rulings);
  decision.ask_members = now.formation && !now.formed;
  for (const auto& ruling : decision.rulings)
    decision.ask_members = decision.ask_members ||
                           !std::all_of(ruling.verdicts.begin(), ruling.verdicts.end(), is_calm);
  decision.ask_hashes = wants_hashes(now);
  decision.ask_endpoints =
      now.formed && now.target && (find_leaver(now) || !find_lost(now).empty());
  return decision;
}

}  // namespace quorate::plan
