#include "plan/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/validate.h"
#include "plan/shared.h"

namespace quorate::plan {
namespace {

struct Said {
  api::ConditionStatus status;
  Reason reason;
};

Said yes(std::string code, std::string message) {
  return {api::ConditionStatus::kTrue, {std::move(code), std::move(message)}};
}
Said no(std::string code, std::string message) {
  return {api::ConditionStatus::kFalse, {std::move(code), std::move(message)}};
}

// The first verdict of which the predicate holds.
template <class Predicate>
const Verdict* find_verdict(std::span<const Ruling> rulings, Predicate predicate) {
  for (const auto& ruling : rulings)
    for (const auto& verdict : ruling.verdicts)
      if (predicate(verdict)) return &verdict;
  return nullptr;
}

// It keeps the cluster from being what was declared.
bool stands_in_the_way(const Verdict& verdict) { return !is_aside(verdict); }

bool is_late(const Verdict& verdict, WallTime wall) {
  auto deadline = deadline_of(verdict);
  return deadline && wall >= *deadline;
}

Said available(const Situation& now) {
  if (!now.formed) return no("NotFormed", "the cluster has not formed yet");
  if (now.hibernates())
    return no("Hibernated", "no member is wanted to run; volumes and identity are kept");
  auto quorum = now.quorum();
  auto count = fmt::format("{} of {} voters answer", quorum.answering, quorum.voters);
  if (quorum.stands()) return yes("QuorumAnswers", count);
  return no("NoQuorum", count + (quorum.confirmed ? "" : ", and no quorum confirmed a read"));
}

Said ready(const Situation& now, std::span<const Ruling> rulings,
           const api::ClusterStatus& status) {
  auto can_serve = available(now);
  if (can_serve.status != api::ConditionStatus::kTrue) return can_serve;
  if (status.ready_replicas < status.replicas)
    return no("MembersNotReady", fmt::format("{} members are ready", status.ready));
  if (const auto* verdict = find_verdict(rulings, stands_in_the_way))
    return {api::ConditionStatus::kFalse, reason_of(*verdict)};
  return yes("AsDeclared", "every member is ready, as declared");
}

Said progressing(std::span<const Ruling> rulings) {
  auto moves = [](const Verdict& verdict) { return std::holds_alternative<Acts>(verdict); };
  auto waits = [](const Verdict& verdict) {
    return std::holds_alternative<Waiting>(verdict) && deadline_of(verdict);
  };
  const auto* verdict = find_verdict(rulings, moves);
  if (!verdict) verdict = find_verdict(rulings, waits);
  if (verdict) return {api::ConditionStatus::kTrue, reason_of(*verdict)};
  auto rests = [](const Verdict& one) {
    return std::holds_alternative<Waiting>(one) && stands_in_the_way(one);
  };
  if (const auto* person = find_verdict(rulings, rests))
    return {api::ConditionStatus::kFalse, reason_of(*person)};
  return no("Settled", "there is nothing to do");
}

Said degraded(const Situation& now, std::span<const Ruling> rulings,
              const api::ClusterStatus& status) {
  auto blocked = [](const Verdict& verdict) { return std::holds_alternative<Blocked>(verdict); };
  if (const auto* verdict = find_verdict(rulings, blocked))
    return {api::ConditionStatus::kTrue, reason_of(*verdict)};
  auto late = [&](const Verdict& verdict) { return is_late(verdict, now.seen.now.wall); };
  if (const auto* verdict = find_verdict(rulings, late))
    return yes(reason_of(*verdict).code,
               fmt::format("longer than expected: {}", reason_of(*verdict).message));
  if (now.formed && !now.hibernates() && status.ready_replicas < now.count_voters())
    return yes("MembersNotReady", fmt::format("{} members are ready", status.ready));
  return no("AsExpected", "nothing is late, nothing is blocked");
}

Said frozen(std::span<const Ruling> rulings) {
  auto needs_person = [](const Verdict& verdict) {
    const auto* blocked = std::get_if<Blocked>(&verdict);
    return blocked && blocked->frozen;
  };
  if (const auto* verdict = find_verdict(rulings, needs_person))
    return {api::ConditionStatus::kTrue, reason_of(*verdict)};
  return no("NoDoubt", "nothing waits for a person to decide");
}

Said certificates(const Situation& now) {
  if (!now.target) return {api::ConditionStatus::kUnknown, {"NoTarget", "no valid spec yet"}};
  auto wall = now.seen.now.wall;
  int valid = 0;
  for (auto which : needed_shared(*now.target)) {
    if (!is_authority(which) && !authority_of(which)) continue;
    auto title = title_of(which, now.seen.cluster.key.name);
    const auto* there = now.find(which);
    if (!there || !there->certificate)
      return no("Missing", fmt::format("{} holds no certificate", title));
    const auto& certificate = *there->certificate;
    if (wall >= certificate.not_after) return no("Expired", fmt::format("{} has expired", title));
    if (wall < certificate.not_before)
      return no("NotYetValid", fmt::format("{} is not valid yet", title));
    auto tenth = (certificate.not_after - certificate.not_before) / 10;
    if (wall >= certificate.not_after - tenth)
      return no("ExpiresSoon", fmt::format("{} is in the last tenth of its life", title));
    ++valid;
  }
  if (valid == 0) return yes("TlsDisabled", "there are none");
  return yes("Valid", fmt::format("{} certificates are valid", valid));
}

// What is declared and in place, at a price.
std::optional<Said> discouraged(const Situation& now) {
  const auto warnings = now.target ? api::warnings(*now.target) : api::Problems();
  if (warnings.empty()) return std::nullopt;
  return yes("HasItsPrice", api::text(warnings));
}

api::Condition make_condition(const Situation& now, std::string_view type, Said said) {
  api::Condition condition;
  condition.type = type;
  condition.status = said.status;
  condition.reason = std::move(said.reason.code);
  condition.message = std::move(said.reason.message);
  condition.observed_generation = now.seen.cluster.generation;
  condition.last_transition_time = std::chrono::floor<std::chrono::seconds>(now.seen.now.wall);
  const auto& before = now.seen.cluster.status;
  const auto* old = before ? before->find_condition(type) : nullptr;
  if (old && old->status == condition.status)
    condition.last_transition_time = old->last_transition_time;
  return condition;
}

}  // namespace

std::vector<api::Condition> make_conditions(const Situation& now, std::span<const Ruling> rulings,
                                            const api::ClusterStatus& status) {
  std::vector<api::Condition> out{
      make_condition(now, api::kConditionReady, ready(now, rulings, status)),
      make_condition(now, api::kConditionAvailable, available(now)),
      make_condition(now, api::kConditionProgressing, progressing(rulings)),
      make_condition(now, api::kConditionDegraded, degraded(now, rulings, status)),
      make_condition(now, api::kConditionFrozen, frozen(rulings)),
      make_condition(now, api::kConditionCertificates, certificates(now)),
  };
  if (auto said = discouraged(now))
    out.push_back(make_condition(now, kConditionDiscouraged, std::move(*said)));
  return out;
}

std::string make_phase(const Situation& now, std::span<const Ruling> rulings,
                       const api::ClusterStatus& status) {
  if (now.seen.cluster.deleting) return "Being deleted";
  auto blocked = [](const Verdict& verdict) { return std::holds_alternative<Blocked>(verdict); };
  auto frozen_verdict = [](const Verdict& verdict) {
    const auto* one = std::get_if<Blocked>(&verdict);
    return one && one->frozen;
  };
  if (const auto* verdict = find_verdict(rulings, frozen_verdict))
    return "Frozen: " + reason_of(*verdict).message;
  if (find_verdict(rulings, [](const Verdict& v) { return reason_of(v).code == "Paused"; }))
    return "Paused";
  if (const auto* verdict = find_verdict(rulings, blocked)) return reason_of(*verdict).message;
  if (!now.formed)
    return status.replicas == 0 ? "Preparing a new cluster"
                                : fmt::format("Forming with {} members", status.replicas);
  if (status.ready_replicas < status.replicas)
    return fmt::format("{} members are ready", status.ready);
  if (const auto* verdict = find_verdict(rulings, stands_in_the_way))
    return reason_of(*verdict).message;
  return now.hibernates() ? "Hibernated" : "Ready";
}

}  // namespace quorate::plan
