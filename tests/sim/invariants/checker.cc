#include <algorithm>

#include "api/cluster.h"
#include "api/names.h"
#include "apiserver/registry.h"
#include "tests/sim/invariants/invariant.h"

namespace quorate::sim {

void Truth::look() {
  for (auto& [uid, found] : found_) found = {};
  const auto& starts = world_.ledger().starts;
  for (; seen_starts_ < starts.size(); ++seen_starts_)
    starts_[starts[seen_starts_].process] = seen_starts_;
  if (world_.api().storage().version() != seen_version_) {
    seen_version_ = world_.api().storage().version();
    const auto* kind = world_.api().registry().find_kind(api::kApiVersion, api::kClusterKind.kind);
    for (auto& [uid, lineage] : lineages_) lineage.exists = false;
    for (const auto& [key, record] : world_.api().storage().objects(*kind)) {
      const auto at = record->text.find("\"uid\":\"");
      const Uid uid(record->text.substr(at + 7, 36));
      auto [place, is_new] = lineages_.try_emplace(uid);
      auto& lineage = place->second;
      if (is_new) lineage.life = world_.history().lives.at(key.name);
      lineage.name = key.name;
      lineage.uid = uid;
      lineage.exists = true;
      lineage.deleting = record->text.find("\"deletionTimestamp\"") != std::string::npos;
      if (lineage.version == record->version) continue;
      lineage.version = record->version;
      lineage.wanted =
          json::integer_at(*record->decoded(), "/spec/replicas").value_or(api::kDefaultReplicas);
    }
  }
  for (auto& [uid, lineage] : lineages_) {
    if (!lineage.exists) continue;
    if (lineage.wanted == 0) lineage.unwanted_at = world_.now();
    for (const auto& endpoint : world_.endpoints(lineage.name))
      if (const auto* process = world_.process_of(endpoint.pod))
        if (const auto* member = process->member()) {
          lineage.served.insert(member->cluster());
          lineage.members.insert(endpoint.pod.name);
          if (!lineage.first) lineage.first = member->cluster();
        }
  }
  if (world_.etcd().events() == seen_events_) return;
  seen_events_ = world_.etcd().events();
  for (auto& [uid, lineage] : lineages_) {
    const auto* leader = lineage.exists ? settled_leader(uid) : nullptr;
    if (!leader) continue;
    lineage.listed.clear();
    for (const auto& [id, member] : leader->state().membership.members())
      lineage.listed.insert(member.name);
  }
}

const Lineage* Truth::find(const std::string& name) const {
  for (const auto& [uid, lineage] : lineages_)
    if (lineage.exists && lineage.name == name) return &lineage;
  return nullptr;
}

const Ledger::Start* Truth::start_of(std::uint64_t process) {
  auto found = starts_.find(process);
  return found == starts_.end() ? nullptr : &world_.ledger().starts[found->second];
}

const std::vector<etcdsim::EtcdProcess*>& Truth::members(const Uid& cluster) {
  auto& known = found_[cluster].members;
  if (known) return *known;
  known.emplace();
  for (auto* process : world_.etcd().processes())
    if (const auto* start = start_of(process->id());
        start && start->cluster_uid == cluster && process->member())
      known->push_back(process);
  return *known;
}

const etcdsim::Member* Truth::settled_leader(const Uid& cluster) {
  auto& known = found_[cluster].leader;
  if (!known) known = find_settled_leader(cluster);
  return *known;
}

const etcdsim::Member* Truth::find_settled_leader(const Uid& cluster) {
  const auto& all = members(cluster);
  for (auto* process : all) {
    const auto* member = process->member();
    if (process->paused() || !member->raft().leads() || !member->raft().committed_in_term() ||
        member->raft().applied() != member->raft().commit())
      continue;
    // One that was stopped or cut off may believe for a while that it still leads.
    const auto follows = [&](const etcdsim::EtcdProcess* other) {
      return !other->paused() && other->member()->raft().leader() == member->id() &&
             other->member()->raft().term() == member->raft().term() &&
             member->raft().conf().voters.contains(other->member()->id());
    };
    const auto followers = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), follows));
    if (followers >= member->raft().conf().quorum()) return member;
  }
  return nullptr;
}

void Findings::broken(std::string_view id, std::string text) {
  if (is_broken(id)) return;  // the first tells the story
  violations_.push_back({std::string(id), std::move(text), world_.elapsed(), world_.steps()});
}

bool Findings::is_broken(std::string_view id) const {
  return std::any_of(violations_.begin(), violations_.end(),
                     [&](const Violation& violation) { return violation.id == id; });
}

std::vector<Invariant> all_invariants() {
  return {s1_no_acknowledged_loss(),
          s2_one_lineage(),
          s3_no_amnesia(),
          s4_no_quorum_loss_by_us(),
          s5_one_change_at_a_time(),
          s6_learners_only(),
          s7_right_victim(),
          s8_pod_after_member(),
          s9_volume_identity(),
          s10_new_only_once(),
          s11_matching_arguments(),
          s12_uid_discipline(),
          s13_no_stale_harm(),
          s14_fencing(),
          s15_one_disruption(),
          s16_version_edges(),
          s17_order(),
          s18_endpoints(),
          s21_revisions_never_go_back(),
          s22_trust_overlap(),
          s23_no_lock_out(),
          s24_disruption_budget(),
          s25_status_honesty(),
          s26_secrecy(),
          s27_no_cross_talk(),
          s28_bounded_work(),
          s29_frozen_on_doubt(),
          s30_delete_safety(),
          s32_no_resurrection(),
          s33_everybody_knows(),
          s34_updates_wait(),
          l1_reached_and_kept(),
          l2_edits_are_undone(),
          l3_same_counts(),
          l4_clients_are_served(),
          l5_whole_again(),
          l6_members_return_alone(),
          l7_says_why(),
          l8_goes(),
          l10_rotation(),
          l12_holds_nobody_up("c"),
          l13_somebody_leads(),
          l14_names_who_lost(),
          linearizable()};
}

Checker::Checker(World& world, std::vector<Invariant> invariants)
    : truth_(world), findings_(world), invariants_(std::move(invariants)) {}

void Checker::after_step() {
  truth_.look();
  for (auto& invariant : invariants_)
    if (invariant.step) invariant.step(truth_, findings_);
}

void Checker::at_calm() {
  truth_.look();
  for (auto& invariant : invariants_) {
    if (invariant.step) invariant.step(truth_, findings_);
    if (invariant.calm) invariant.calm(truth_, findings_);
  }
}

void Checker::at_end(const Ending& ending) {
  truth_.look();
  for (auto& invariant : invariants_)
    if (invariant.end) invariant.end(ending, truth_, findings_);
}

}  // namespace quorate::sim
