#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "plan/pods.h"
#include "plan/shared.h"
#include "plan/world_test.h"

// How the world of tests takes steps.
namespace quorate::plan {
namespace {

template <class T, class Predicate>
T* find_in(std::vector<T>& all, Predicate predicate) {
  auto found = std::find_if(all.begin(), all.end(), predicate);
  return found == all.end() ? nullptr : &*found;
}

// Deletes by UID, as the executor does.
template <class T>
void erase_victims(std::vector<T>& all, const std::vector<Victim>& victims) {
  for (const auto& victim : victims)
    std::erase_if(all,
                  [&](const T& one) { return one.name == victim.name && one.uid == victim.uid; });
}

}  // namespace

bool World::take(const Step& step) {
  if (refuses && refuses(step)) return false;
  if (!std::visit([&](const auto& one) { return on(one); }, step)) return false;
  history_.push_back(step);
  return true;
}

SharedFacts& World::own_shared(Shared which) {
  if (!shared(which)) seen.shared.push_back({.which = which, .uid = new_uid()});
  auto& there = *shared(which);
  there.controller = there.cluster_uid = seen.cluster.uid;
  return there;
}

bool World::on(const ApplyShared& step) {
  if (auto* there = shared(step.which); there && there->controller != seen.cluster.uid)
    return false;
  auto& there = own_shared(step.which);
  there.rendered = step.rendered;
  there.drifted = false;
  return true;
}

bool World::on(const RemoveBudget& step) {
  return std::erase_if(seen.shared, [&](const SharedFacts& one) { return one.uid == step.uid; }) ==
         1;
}

bool World::on(const SetMetadata& step) {
  const auto set = [&](auto& objects) {
    for (auto& one : objects)
      if (one.uid == step.uid) one.added = api::added_text(step.metadata);
  };
  set(seen.records);
  set(seen.claims);
  set(seen.pods);
  set(seen.shared);
  return true;
}

bool World::on(const CreateAuthority& step) {
  if (shared(step.which)) return false;
  auto& there = own_shared(step.which);
  there.rendered = step.rendered;
  there.certificate = CertificateFacts{seen.now.wall - kClockSlack,
                                       seen.now.wall + std::chrono::years(10), there.uid.value()};
  there.trusts = {there.uid.value()};
  return true;
}

bool World::on(const IssueLeaf& step) {
  auto* parent = shared(step.authority);
  if (!parent || (shared(step.which) != nullptr) != step.renews.has_value()) return false;
  auto authority = parent->certificate->authority;
  auto trusts = parent->trusts;
  auto& there = own_shared(step.which);
  there.rendered = step.rendered;
  there.certificate = CertificateFacts{seen.now.wall - kClockSlack,
                                       seen.now.wall + std::chrono::days(90), authority};
  there.trusts = std::move(trusts);
  return true;
}

bool World::on(const IntroduceAuthority& step) {
  auto* there = shared(step.which);
  if (!there || there->uid != step.secret) return false;
  there->next = CertificateFacts{seen.now.wall - kClockSlack,
                                 seen.now.wall + std::chrono::years(10), new_uid().value()};
  there->trusts.push_back(there->next->authority);
  std::sort(there->trusts.begin(), there->trusts.end());
  return true;
}

bool World::on(const SwitchAuthority& step) {
  auto* there = shared(step.which);
  if (!there || there->uid != step.secret || !there->next) return false;
  there->certificate = std::exchange(there->next, std::nullopt);
  return true;
}

bool World::on(const RetireAuthority& step) {
  auto* there = shared(step.which);
  if (!there || there->uid != step.secret) return false;
  there->trusts = {there->certificate->authority};
  return true;
}

bool World::on(const CreateRecord& step) {
  if (record(step.name)) return false;
  RecordFacts facts;
  facts.name = step.name;
  facts.uid = new_uid();
  facts.controller = seen.cluster.uid;
  facts.created = seen.now.wall;
  facts.spec = step.spec;
  seen.records.push_back(std::move(facts));
  return true;
}

bool World::on(const CreateClaim& step) {
  if (claim(step.name)) return false;
  ClaimFacts facts;
  facts.name = step.name;
  facts.ordinal = step.identity.ordinal;
  facts.uid = new_uid();
  if (step.owned) facts.owners = {seen.cluster.uid};
  facts.identity = step.identity;
  facts.phase = ClaimPhase::kBound;
  facts.requested = facts.capacity = step.storage.size;
  seen.claims.push_back(std::move(facts));
  return true;
}

bool World::on(const AllowRun& step) {
  auto* there = record(step.record);
  if (!there || there->uid != step.record_uid) return false;
  there->spec.run = true;
  there->spec.volume_uid = step.volume_uid;
  return true;
}

bool World::on(const CreatePod& step) {
  if (pod(step.shape.name)) return false;
  PodFacts facts;
  facts.name = step.shape.name;
  facts.ordinal = step.state.identity.ordinal;
  facts.uid = new_uid();
  facts.controller = seen.cluster.uid;
  facts.identity = step.state.identity;
  facts.first_pod = step.first_pod;
  facts.formation_open = step.state.formation_open;
  facts.held = step.state.held;
  facts.initial_cluster = initial_cluster_fingerprint(step.state.initial_cluster.value());
  facts.rendered = step.rendered;
  facts.voter = step.voter;
  facts.ip = fmt::format("10.0.0.{}", facts.ordinal.value() + 1);
  seen.pods.push_back(std::move(facts));
  return true;
}

bool World::on(const OpenNewPod& step) {
  const auto* there = pod(step.pod);
  return there && on(UpdatePodState{there->name, there->uid, step.state});
}

bool World::on(const NoteOnRecord& step) {
  auto* there = record(step.record);
  if (!there || there->uid != step.record_uid) return false;
  there->spec.identity = step.identity;
  return true;
}

bool World::on(const NoteVersion& step) {
  auto* there = record(step.record);
  if (!there || there->uid != step.record_uid) return false;
  there->spec.version = step.version;
  return true;
}

bool World::on(const NoteOnClaim& step) {
  auto* there = claim(step.claim);
  if (!there || there->uid != step.claim_uid) return false;
  there->identity = step.identity;
  return true;
}

bool World::on(const UpdatePodState& step) {
  auto* there = pod(step.pod);
  if (!there || there->uid != step.pod_uid) return false;
  there->identity = step.state.identity;
  there->formation_open = step.state.formation_open;
  there->held = step.state.held;
  if (step.state.initial_cluster)
    there->initial_cluster = initial_cluster_fingerprint(*step.state.initial_cluster);
  there->serving = there->serving || step.serves;
  return true;
}

bool World::on(const SetServing& step) {
  auto* there = pod(step.pod);
  if (!there || there->uid != step.pod_uid) return false;
  there->serving = step.serving;
  return true;
}

bool World::on(const OwnClaim& step) {
  auto* there = claim(step.claim);
  if (!there || there->uid != step.claim_uid) return false;
  std::erase(there->owners, seen.cluster.uid);
  if (step.owned) there->owners.push_back(seen.cluster.uid);
  return true;
}

bool World::on(const GrowClaim& step) {
  auto* there = claim(step.claim);
  if (!there || there->uid != step.claim_uid) return false;
  there->requested = step.size;
  return true;
}

bool World::on(const RemoveFinishedPod& step) {
  erase_victims(seen.pods, {{step.pod, step.pod_uid}});
  return true;
}

bool World::on(const AbandonFormation& step) {
  for (const auto& victim : step.records)
    if (auto* there = record(victim.name)) there->spec.abandoned = true;
  return true;
}

bool World::on(const DiscardFormation& step) {
  erase_victims(seen.pods, step.pods);
  erase_victims(seen.claims, step.claims);
  erase_victims(seen.records, step.records);
  return true;
}

bool World::on(const ReplaceUnformedPod& step) {
  erase_victims(seen.pods, {step.pod});
  return true;
}

bool World::on(const StopMembers& step) {
  for (const auto& victim : step.records)
    if (auto* there = record(victim.name)) there->spec.run = false;
  return true;
}

bool World::on(const StopPods& step) {
  erase_victims(seen.pods, step.pods);
  return true;
}

bool World::on(const RestartMember& step) {
  erase_victims(seen.pods, {step.pod});
  return true;
}

bool World::on(const ReimageMember& step) {
  auto* there = pod(step.pod.name);
  if (!there || there->uid != step.pod.uid) return false;
  there->rendered = step.rendered;
  there->reimaged_at = step.restarts;
  if (!there->etcd.running) there->etcd = {.restarts = there->etcd.restarts};
  return true;
}

bool World::on(const NoteRole& step) {
  auto* there = record(step.record);
  if (!there || there->uid != step.record_uid) return false;
  there->spec.role = step.role;
  return true;
}

bool World::on(const NoteLastOrdinal& step) {
  auto* there = record(step.record);
  if (!there || there->uid != step.record_uid) return false;
  there->spec.last_ordinal = step.ordinal;
  return true;
}

bool World::on(const SetVoter& step) {
  auto* there = pod(step.pod);
  if (!there || there->uid != step.pod_uid) return false;
  there->voter = step.voter;
  return true;
}

bool World::on(const AddLearner& step) {
  auto ordinal = api::ordinal_of_member_name("c", step.name);
  auto& all = list(step.permit.formation());
  if (find_in(all, [](const ListedMember& one) { return one.learner; })) return false;
  all.push_back({member_id(*ordinal), "", {step.peer_url}, true, false});
  return true;
}

bool World::on(const PromoteLearner& step) {
  auto* found =
      find_in(list(step.permit.formation()), [&](const auto& one) { return one.id == step.id; });
  if (!found || !found->learner || !runs(*found)) return false;
  found->learner = false;
  return true;
}

bool World::on(const Nudge&) {
  seen.nudged_at = seen.now.monotonic;
  unheard_.clear();
  return true;
}

bool World::on(const MoveLeader& step) {
  leader_ = api::ordinal_of_member_name("c", step.to);
  return true;
}

bool World::on(const RemoveMember& step) {
  return std::erase_if(list(step.permit.formation()),
                       [&](const auto& one) { return one.id == step.id; }) == 1;
}

bool World::on(const DiscardMember& step) {
  erase_victims(seen.pods, step.pods);
  erase_victims(seen.claims, step.claims);
  erase_victims(seen.records, step.records);
  return true;
}

}  // namespace quorate::plan
