#include "cli/words.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/advice.h"
#include "json/quantity.h"

namespace quorate::cli {
namespace {

bool holds(const api::ClusterStatus& status, std::string_view type) {
  const auto* condition = status.find_condition(type);
  return condition && condition->status == api::ConditionStatus::kTrue;
}

// What the kubelet says of the container in which etcd runs, or what keeps the Pod from it.
std::string pod_state(const op::PodView* pod) {
  if (!pod) return "none";
  if (pod->meta.deleting()) return "Terminating";
  if (!pod->unschedulable.empty()) return "Unschedulable";
  for (const auto* container : {&pod->install, &pod->etcd}) {
    if (container->waiting) return *container->waiting;
    if (container->terminated && container->terminated->exit_code != 0)
      return fmt::format("exit {}", container->terminated->exit_code);
  }
  switch (pod->phase) {
    case plan::PodPhase::kPending:
      return "Pending";
    case plan::PodPhase::kRunning:
      return "Running";
    case plan::PodPhase::kSucceeded:
      return "Succeeded";
    case plan::PodPhase::kFailed:
      return "Failed";
    case plan::PodPhase::kUnknown:
      return "Unknown";
  }
  return "Unknown";
}

// Some storage drivers answer in bytes: 1073741824 is 1Gi. What is shorter as it stands, stays.
std::string readable_size(const std::string& text) {
  const auto size = json::Quantity::parse(text);
  if (!size) return text;
  auto binary = json::Quantity::of(size->bytes()).text();
  return binary.size() < text.size() ? binary : text;
}

bool is_less(const std::string& size, const std::string& wanted) {
  const auto a = json::Quantity::parse(size), b = json::Quantity::parse(wanted);
  return a && b && *a < *b;
}

std::string volume_of(const ClusterFacts& facts, const std::string& member) {
  const auto* claim = facts.claim_of(member);
  if (!claim)
    return facts.cluster.declared && facts.cluster.declared->storage.empty_dir ? "with its Pod"
                                                                               : "";
  const auto size = readable_size(claim->capacity.empty() ? claim->requested : claim->capacity);
  switch (claim->phase) {
    case plan::ClaimPhase::kPending:
      return size + ", pending";
    case plan::ClaimPhase::kLost:
      return size + ", lost";
    case plan::ClaimPhase::kBound:
      break;
  }
  return is_less(size, claim->requested)
             ? fmt::format("{}, {} wanted", size, readable_size(claim->requested))
             : size;
}

const api::ClusterMemberStatus* find_listed(const ClusterFacts& facts, const std::string& name) {
  if (facts.cluster.status)
    for (const auto& one : facts.cluster.status->members)
      if (one.name == name) return &one;
  return nullptr;
}

std::string role_of(const ClusterFacts& facts, const std::string& member) {
  if (facts.cluster.status && facts.cluster.status->leader == member) return "leader";
  const auto* listed = find_listed(facts, member);
  if (!listed) return "none";
  return listed->role == api::MemberRole::kLearner ? "learner" : "voter";
}

std::string fill_in(std::string_view text, const ObjectKey& key) {
  std::string out;
  while (!text.empty()) {
    if (text.starts_with("{c}") || text.starts_with("{n}")) {
      out += text[1] == 'c' ? key.name : key.ns;
      text.remove_prefix(3);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string verb_of(std::string_view verdict) {
  if (verdict == "blocked") return "is blocked";
  if (verdict == "waiting") return "waits";
  return "acts";
}

Remark describe_intent(const api::IntentStatus& intent) {
  return {fmt::format("a step is under way: {} of {}", intent.step,
                      intent.targets.empty() ? "nothing" : join(intent.targets, ", ")),
          intent.since,
          "If its answer was lost, the outcome is looked up before anything else is done."};
}

Remark describe_content(const api::ClusterStatus& status, const ObjectKey& key) {
  if (status.target && status.target->replicas == 0)
    return {"It hibernates: no member is wanted to run; volumes and identity are kept.",
            {},
            fmt::format("you can: quorate wake -n {} {}", key.ns, key.name)};
  return {"Every rule is content: there is nothing to do.", {}, ""};
}

}  // namespace

Health health_of(const op::ClusterView& cluster) {
  if (cluster.meta.deleting()) return {Mark::kWarning, "Being deleted"};
  if (!cluster.status || cluster.status->phase.empty())
    return {Mark::kWarning, "No operator has looked at it yet"};
  const auto& status = *cluster.status;
  const auto text = status.phase;
  if (holds(status, api::kConditionFrozen)) return {Mark::kBad, text};
  const auto* available = status.find_condition(api::kConditionAvailable);
  const bool hibernates = status.target && status.target->replicas == 0;
  if (!hibernates && available && available->status == api::ConditionStatus::kFalse)
    return {Mark::kBad, text};
  const bool current = status.observed_generation == cluster.meta.generation;
  if (holds(status, api::kConditionReady) && current) return {Mark::kGood, text};
  return {Mark::kWarning, text};
}

std::vector<MemberWords> describe_members(const ClusterFacts& facts) {
  std::vector<MemberWords> out;
  for (const auto& record : facts.records) {
    const auto& name = record.meta.key.name;
    const auto* listed = find_listed(facts, name);
    const auto* pod = facts.pod_of(name);
    const auto& status = record.status;
    MemberWords words;
    words.name = name;
    words.role = role_of(facts, name);
    words.ready = listed && listed->ready;
    words.version = status.version.value_or("");
    words.pod = pod_state(pod);
    words.volume = volume_of(facts, name);
    words.db = status.db_size.value_or("");
    if (status.raft_lag) words.lag = std::to_string(*status.raft_lag);
    words.created = record.meta.created;
    if (listed && listed->id) words.id = listed->id->text();
    if (pod) {
      words.node = pod->node;
      words.address = pod->ip;
      words.restarts = std::to_string(pod->etcd.restarts);
    }
    out.push_back(std::move(words));
  }
  return out;
}

Why describe_why(const op::ClusterView& cluster) {
  Why out;
  if (!cluster.undecodable.empty())
    out.remarks.push_back({"its spec cannot be read: " + cluster.undecodable, {}, ""});
  if (!cluster.status || cluster.status->phase.empty()) {
    out.remarks.push_back(
        {"Its status is empty. Is an operator running, and does it watch this namespace?",
         {},
         "kubectl get pods -A -l app.kubernetes.io/name=quorate"});
    return out;
  }
  const auto& status = *cluster.status;
  if (status.observed_generation != cluster.meta.generation)
    out.remarks.push_back(
        {fmt::format("generation {} is declared; {} was the last that was wholly in place",
                     cluster.meta.generation, status.observed_generation),
         {},
         ""});
  if (status.intent) out.remarks.push_back(describe_intent(*status.intent));
  for (const auto& entry : status.waiting)
    out.verdicts.push_back({entry.verdict == "blocked" ? Mark::kBad : Mark::kBold, entry.rule,
                            verb_of(entry.verdict), entry.reason, entry.message, entry.since,
                            entry.deadline, fill_in(advice_for(entry.reason), cluster.meta.key)});
  if (status.waiting.empty()) out.remarks.push_back(describe_content(status, cluster.meta.key));
  return out;
}

}  // namespace quorate::cli
