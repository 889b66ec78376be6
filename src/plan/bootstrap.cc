#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "plan/formation.h"
#include "plan/gate.h"
#include "plan/loss.h"
#include "plan/notes.h"
#include "plan/pods.h"
#include "plan/rules.h"
#include "plan/trouble.h"

// Forms a new cluster: all members at once, with one static initial-cluster.
//
// How it goes. A formation is opened by writing the records of all its members, each of which names
// its number, its ordinals and so its initial-cluster and token. `ensure` makes the volumes, sets
// `run` on the records, and makes the Pods (in another order where data goes with the Pod:
// ensure_members.cc). When a quorum answers with one cluster ID, and
// etcd's own list is that of the formation, the ID is written on records and claims, then on Pods;
// then `ensure` sends clients there. Until then nobody was told of the cluster, so it holds no keys
// unless somebody went behind our back. If a member loses its data before that, the formation is
// given up, its Pods and volumes are deleted, and the next number is tried with fresh ordinals.
//
// Guarantees   never two clusters for one EtcdCluster: every member of a formation is told the same
//              initial-cluster and a token that no other formation has, and no formation is opened
//              while another stands or any witness says that the cluster has formed. A member that
//              lost its data is not started again under its identity. What is given up holds
//              nothing that was acknowledged (gate.h), and its number and ordinals are not used
//              again: its records go only after those of the next formation are there.
// Assumptions  records, claims and Pods are made by POST under fixed names, so that two operators
//              with different views cannot make two of one.
// Caveats      with fewer than a quorum of members that can be reached, and data lost, it cannot be
//              proved that nothing is destroyed: it freezes, and a person decides.
namespace quorate::plan {
namespace {

constexpr std::string_view kRule = "bootstrap";

// ---- What is left of formations that were given up ----

std::optional<DiscardFormation> discard(const Situation& now, const Permit& permit) {
  auto current = now.current();
  bool succeeded = !current.empty() && std::all_of(current.begin(), current.end(),
                                                   [](const Member* m) { return m->record; });
  DiscardFormation step{permit, {}, {}, {}};
  for (const auto* member : now.abandoned()) {
    if (member->pod && !member->pod->deleting)
      step.pods.push_back({member->pod->name, member->pod->uid});
    if (member->claim && !member->claim->deleting)
      step.claims.push_back({member->claim->name, member->claim->uid});
    // The records keep number and ordinals in mind until others do.
    if (succeeded && member->record && !member->record->deleting && !member->pod && !member->claim)
      step.records.push_back({member->record->name, member->record->uid});
  }
  if (step.pods.empty() && step.claims.empty() && step.records.empty()) return std::nullopt;
  return step;
}

void discard_abandoned(const Situation& now, Finding& out) {
  if (now.abandoned().empty()) return;
  auto permit = QuorumGate::discard_formations(now);
  if (!permit) {
    out.verdicts.push_back(now.blocked(kRule, permit.error().code, permit.error().message, true));
    return;
  }
  if (auto step = discard(now, *permit)) {
    out.verdicts.push_back(now.acts(kRule, "DiscardingFormation",
                                    "deletes what is left of a formation that was given up"));
    out.stages.push_back({{std::move(*step)}, false});
  } else {
    out.verdicts.push_back(
        now.waiting(kRule, "FormationLeaving", "a formation that was given up is being deleted"));
  }
}

// ---- Opening a formation ----

std::optional<WallTime> earliest_record(const Situation& now) {
  std::optional<WallTime> earliest;
  for (const auto* member : now.abandoned())
    if (member->record && (!earliest || member->record->created < *earliest))
      earliest = member->record->created;
  return earliest;
}

// Formations that keep failing are opened at growing intervals.
std::optional<WallTime> not_before(const Situation& now) {
  auto created = earliest_record(now);
  if (!created || now.last_formation < 1) return std::nullopt;
  auto delay = std::chrono::seconds(5) * (1 << std::min(now.last_formation - 1, 6));
  return *created + delay;
}

void open(const Situation& now, Finding& out) {
  if (now.target->replicas == 0) {
    auto wait = now.waiting(kRule, "NoMembersWanted",
                            "replicas is 0; the cluster is formed when "
                            "more are wanted");
    wait.deadline.reset();
    out.verdicts.push_back(std::move(wait));
    return;
  }
  for (const auto& foreign : now.foreign)
    if (foreign.leaving) {
      out.verdicts.push_back(now.waiting(
          kRule, "OldObjects",
          fmt::format("{} belongs to {} and has to go first", foreign.object, foreign.owner)));
      return;
    }
  if (auto earliest = not_before(now); earliest && now.seen.now.wall < *earliest) {
    auto wait = now.waiting(
        kRule, "FormationBackoff",
        fmt::format("formation {} was given up; the next one begins soon", now.last_formation));
    wait.deadline = *earliest;
    out.verdicts.push_back(std::move(wait));
    return;
  }
  if (now.next_ordinal.value() > kMaxOrdinal) {
    out.verdicts.push_back(
        now.blocked(kRule, "OrdinalsUsedUp", "no ordinal is left under this name", true));
    return;
  }
  api::Formation formation{now.last_formation + 1, now.next_ordinal, now.target->replicas};
  Stage records;
  Stage claims;
  for (int i = 0; i < formation.size; ++i) {
    Ordinal ordinal(formation.first.value() + i);
    api::MemberSpec spec;
    spec.cluster_name = now.seen.cluster.key.name;
    spec.identity.cluster_uid = now.seen.cluster.uid;
    spec.identity.ordinal = ordinal;
    spec.identity.formation = formation;
    spec.version = *now.target->version;
    spec.peer_url = api::peer_url(now.seen.cluster.key, ordinal, now.target->tls.peer.on());
    auto identity = spec.identity;
    records.steps.push_back(
        CreateRecord{api::member_name(now.seen.cluster.key.name, ordinal), std::move(spec)});
    if (const auto& storage = now.target->storage.claim)
      claims.steps.push_back(CreateClaim{
          api::claim_name(now.seen.cluster.key.name, ordinal), std::move(identity), *storage,
          now.target->storage.retention.when_deleted == api::Retention::kDelete});
  }
  out.verdicts.push_back(now.acts(
      kRule, "OpeningFormation",
      fmt::format("opens formation {} with {} members", formation.number, formation.size)));
  out.stages.push_back(std::move(records));
  if (!claims.steps.empty()) out.stages.push_back(std::move(claims));
}

// ---- A formation under way ----

// Why the formation cannot go on with the members that it has; empty if it can.
std::string find_loss(const Situation& now) {
  for (const auto* member : now.current()) {
    if (is_lost(now, *member)) return fmt::format("{} has lost its volume", member->name);
    if (guard_misses_data(*member))
      return fmt::format("{}: {}", member->name, guard_report(*member)->reason);
    if (now.target->storage.empty_dir && is_outdated(now, *member))
      return fmt::format("{} has to be made anew, and its data goes with its Pod", member->name);
  }
  return {};
}

void record_formed(const Situation& now, const FormedProof& proof, Finding& out) {
  out.verdicts.push_back(
      now.acts(kRule, "RecordingIdentity",
               fmt::format("a quorum formed cluster {}; writes it down", proof.cluster_id.text())));
  auto notes = note_identities(now, &proof);
  for (auto* stage : {&notes.durable, &notes.pods})
    if (!stage->steps.empty()) out.stages.push_back(std::move(*stage));
}

void give_up(const Situation& now, const std::string& loss, Finding& out) {
  auto permit = QuorumGate::abandon_formation(now);
  if (!permit) {
    out.verdicts.push_back(now.blocked(
        kRule, permit.error().code,
        fmt::format("{}; formation {} cannot be given up: {}. Delete the cluster and create it "
                    "again, or bring the members back",
                    loss, now.formation->number, permit.error().message),
        true));
    return;
  }
  AbandonFormation step{*permit, {}};
  for (const auto* member : now.current())
    if (member->record) step.records.push_back({member->record->name, member->record->uid});
  out.verdicts.push_back(now.acts(
      kRule, "AbandoningFormation",
      fmt::format("{}; gives up formation {}: {}", loss, now.formation->number, permit->proof())));
  out.stages.push_back({{std::move(step)}, true});
}

void replace_pods(const Situation& now, Finding& out) {
  for (const auto* member : now.current()) {
    if (!is_outdated(now, *member)) continue;
    auto permit = QuorumGate::replace_unformed_pod(now, *member);
    if (!permit) {
      out.verdicts.push_back(now.blocked(kRule, permit.error().code, permit.error().message));
      return;
    }
    out.verdicts.push_back(now.acts(
        kRule, "ReplacingPod", fmt::format("{} is made anew as it is declared now", member->name)));
    out.stages.push_back(
        {{ReplaceUnformedPod{*permit, {member->pod->name, member->pod->uid}}}, true});
    return;
  }
}

void form(const Situation& now, Finding& out) {
  auto proof = prove_formed(now);
  if (auto loss = find_loss(now); !loss.empty()) {
    // With keys in it, a quorum that stands is worth more than a fresh start.
    if (proof && !QuorumGate::abandon_formation(now))
      record_formed(now, *proof, out);
    else
      give_up(now, loss, out);
    return;
  }
  if (proof && !awaits_rest_of_formation(now)) {
    record_formed(now, *proof, out);
    return;
  }
  if (!proof) replace_pods(now, out);
  auto current = now.current();
  auto answering = std::count_if(current.begin(), current.end(),
                                 [](const Member* member) { return member->answer; });
  out.verdicts.push_back(now.waiting(
      kRule, "Forming", fmt::format("{} of {} members answer", answering, now.formation->size)));
  const auto& declared = now.seen.cluster.declared;
  if (declared && declared->replicas != now.formation->size)
    out.verdicts.push_back(now.waiting(
        kRule, "ReplicasWait",
        fmt::format("the cluster forms with {} members; {} are wanted, which waits until it has",
                    now.formation->size, declared->replicas)));
}

// A formed cluster of which nothing is left is not formed anew by itself.
void tell_ruin(const Situation& now, Finding& out) {
  auto current = now.current();
  bool all_lost = std::all_of(current.begin(), current.end(), [&](const Member* member) {
    return !now.votes(*member) || is_lost(now, *member) || guard_misses_data(*member);
  });
  if (all_lost)
    out.verdicts.push_back(now.blocked(
        kRule, "DataLost",
        fmt::format("{} says cluster {} was formed, and no member has its data any more",
                    now.formed_by, now.cluster_id->text()),
        true));
}

}  // namespace

Finding bootstrap(const Situation& now) {
  if (!now.target) return {};
  Finding out;
  discard_abandoned(now, out);
  if (now.formed)
    tell_ruin(now, out);
  else if (now.formation)
    form(now, out);
  else
    open(now, out);
  return out;
}

}  // namespace quorate::plan
