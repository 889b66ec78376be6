#include "plan/world_test.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/names.h"
#include "plan/pods.h"
#include "plan/shared.h"

namespace quorate::plan {
namespace {

template <class T, class Predicate>
T* find_in(std::vector<T>& all, Predicate predicate) {
  auto found = std::find_if(all.begin(), all.end(), predicate);
  return found == all.end() ? nullptr : &*found;
}

template <class T>
T* find_named(std::vector<T>& all, const std::string& name) {
  return find_in(all, [&](const T& one) { return one.name == name; });
}

template <class T>
void erase_named(std::vector<T>& all, const std::string& name) {
  std::erase_if(all, [&](const T& one) { return one.name == name; });
}

// Deletes by UID, as the executor does.
template <class T>
void erase_victims(std::vector<T>& all, const std::vector<Victim>& victims) {
  for (const auto& victim : victims)
    std::erase_if(all,
                  [&](const T& one) { return one.name == victim.name && one.uid == victim.uid; });
}

}  // namespace

World::World(api::ClusterSpec spec) {
  seen.now.wall = WallTime(std::chrono::seconds(1'800'000'000));
  seen.now.monotonic = Monotonic(std::chrono::hours(1));
  seen.began = seen.now.monotonic;
  seen.op = {"quorate",
             7,
             *api::parse_etcd_version(api::kDefaultEtcdVersion),
             std::string(api::kDefaultEtcdRepository),
             "quorate:0.1.0",
             ""};
  seen.cluster.key = {{"n", "c"}};
  seen.cluster.uid = Uid("cluster-uid");
  seen.cluster.generation = 1;
  seen.cluster.declared = std::move(spec);
  lose_status();
}

Decision World::decide() const { return plan::decide(seen); }

Uid World::new_uid() { return Uid(fmt::format("uid-{}", ++uids_)); }

int World::carry_out(const Decision& decision, int at_most) {
  int taken = 0;
  for (const auto& stage : decision.stages) {
    bool failed = false;
    for (const auto& step : stage.steps) {
      if (taken == at_most) return taken;
      if (take(step))
        ++taken;
      else
        failed = true;
    }
    if (failed && stage.essential) break;
  }
  return taken;
}

void World::publish(const Decision& decision) {
  if (decision.status) seen.cluster.status = *decision.status;
  for (const auto& update : decision.member_statuses)
    if (auto* there = record(update.record)) there->status = update.status;
}

int World::pass(int at_most) {
  auto decision = decide();
  int taken = carry_out(decision, at_most);
  if (taken < at_most) publish(decision);
  return taken;
}

void World::settle() {
  for (int i = 0; i < 60; ++i) {
    run_pods();
    answer();
    int taken = pass();
    auto before = seen.cluster.status;
    auto again = decide();
    if (taken == 0 && again.stages.empty() && again.status == before) return;
    advance(std::chrono::seconds(1));
  }
  ADD_FAILURE() << "it does not settle; last verdicts:";
  for (const auto& entry : status().waiting)
    ADD_FAILURE() << entry.rule << " " << entry.verdict << " " << entry.reason << ": "
                  << entry.message;
}

// ---- Steps ----

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

bool World::on(const CreateAuthority& step) {
  if (shared(step.which)) return false;
  auto& there = own_shared(step.which);
  there.rendered = step.rendered;
  there.certificate =
      CertificateFacts{seen.now.wall, seen.now.wall + std::chrono::years(10), there.uid.value()};
  return true;
}

bool World::on(const IssueLeaf& step) {
  auto* parent = shared(step.authority);
  if (!parent || (shared(step.which) != nullptr) != step.renews.has_value()) return false;
  auto authority = parent->certificate->authority;
  auto& there = own_shared(step.which);
  there.rendered = step.rendered;
  there.certificate =
      CertificateFacts{seen.now.wall, seen.now.wall + std::chrono::days(90), authority};
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
  facts.initial_cluster = initial_cluster_fingerprint(step.state.initial_cluster.value());
  facts.rendered = step.rendered;
  facts.voter = step.voter;
  facts.ip = fmt::format("10.0.0.{}", facts.ordinal.value() + 1);
  seen.pods.push_back(std::move(facts));
  return true;
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
  if (step.state.initial_cluster)
    there->initial_cluster = initial_cluster_fingerprint(*step.state.initial_cluster);
  return true;
}

bool World::on(const SetServing& step) {
  auto* there = pod(step.pod);
  if (!there || there->uid != step.pod_uid) return false;
  there->serving = step.serving;
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

// ---- What others do ----

void World::advance(std::chrono::seconds time) {
  seen.now.wall += time;
  seen.now.monotonic += time;
  seen.began = seen.now.monotonic;
}

void World::run_pods() {
  for (auto& one : seen.pods) {
    if (one.deleting || one.etcd.terminated || one.etcd.waiting) continue;
    if (one.phase == PodPhase::kFailed || one.phase == PodPhase::kSucceeded) continue;
    bool held = !one.formation_open && !one.identity->cluster_id && !one.etcd.running;
    if (held) continue;  // by the launch guard
    one.phase = PodPhase::kRunning;
    one.etcd.running = true;
    ever_ran_.insert(one.ordinal.value());
  }
}

std::vector<ListedMember>& World::listed(const api::Formation& formation) {
  auto [place, first] = lists_.try_emplace(formation.number);
  auto& out = place->second;
  for (int i = 0; first && i < formation.size; ++i) {
    Ordinal ordinal(formation.first.value() + i);
    out.push_back({member_id(ordinal),
                   api::member_name("c", ordinal),
                   {api::peer_url(seen.cluster.key, ordinal, true)},
                   false,
                   false});
  }
  for (auto& member : out)
    member.started =
        ever_ran_.contains(static_cast<int>(member.id.value() - member_id({}).value()));
  return out;
}

bool World::runs(const ListedMember& member) const {
  return std::any_of(seen.pods.begin(), seen.pods.end(), [&](const PodFacts& one) {
    return one.etcd.running && member_id(one.ordinal) == member.id;
  });
}

MemberId World::find_leader(const std::vector<ListedMember>& list) const {
  std::optional<MemberId> lowest;
  for (const auto& member : list) {
    if (member.learner || !runs(member)) continue;
    if (leader_ && member.id == member_id(*leader_)) return member.id;
    if (!lowest || member.id < *lowest) lowest = member.id;
  }
  return lowest.value_or(MemberId(0));
}

void World::answer() {
  seen.answers.clear();
  seen.endpoints.emplace();
  for (auto& one : seen.pods) {
    if (one.serving) seen.endpoints->push_back(one.ip);
    if (!one.etcd.running || !one.identity) continue;
    const auto& formation = one.identity->formation;
    const auto& members = listed(formation);
    const auto voters = std::count_if(members.begin(), members.end(),
                                      [](const auto& member) { return !member.learner; });
    const auto running = std::count_if(members.begin(), members.end(), [&](const auto& member) {
      return !member.learner && runs(member);
    });
    const auto own = std::find_if(members.begin(), members.end(), [&](const auto& member) {
      return member.id == member_id(one.ordinal);
    });
    if (own == members.end() || running < voters / 2 + 1) continue;
    one.ready = !own->learner;
    MemberAnswer answer;
    answer.ordinal = one.ordinal;
    answer.pod = one.uid;
    answer.asked_at = seen.now.monotonic;
    answer.answered = true;
    answer.cluster_id = ClusterId(kClusterId.value() + static_cast<unsigned>(formation.number) - 1);
    answer.member_id = member_id(one.ordinal);
    answer.leader = find_leader(members);
    answer.version = version_;
    answer.learner = own->learner;
    if (!own->learner) answer.members = members;
    if (!own->learner) answer.keys = keys_;
    seen.answers.push_back(std::move(answer));
  }
}

void World::silence() {
  seen.answers.clear();
  for (auto& one : seen.pods) one.ready = false;
}

void World::edit(const std::function<void(api::ClusterSpec&)>& change) {
  change(*seen.cluster.declared);
  ++seen.cluster.generation;
}

void World::delete_pod(const std::string& name) { erase_named(seen.pods, name); }
void World::delete_claim(const std::string& name) { erase_named(seen.claims, name); }
void World::delete_record(const std::string& name) { erase_named(seen.records, name); }

void World::end_container(const std::string& name, int code, const std::string& message) {
  auto* there = pod(name);
  ASSERT_NE(there, nullptr) << name;
  there->etcd.running = false;
  there->etcd.waiting = "CrashLoopBackOff";
  there->etcd.last = Terminated{code, "Error", message};
  there->etcd.restarts = 1;
  there->ready = false;
}

RecordFacts* World::record(const std::string& name) { return find_named(seen.records, name); }
ClaimFacts* World::claim(const std::string& name) { return find_named(seen.claims, name); }
PodFacts* World::pod(const std::string& name) { return find_named(seen.pods, name); }
SharedFacts* World::shared(Shared which) {
  return find_in(seen.shared, [&](const SharedFacts& one) { return one.which == which; });
}

std::vector<std::string> World::voters(int formation) const {
  std::vector<std::string> out;
  const auto found = lists_.find(formation);
  if (found == lists_.end()) return out;
  for (const auto& one : found->second)
    if (!one.learner)
      out.push_back(
          api::member_name("c", Ordinal(static_cast<int>(one.id.value() - member_id({}).value()))));
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> World::pod_names() const {
  std::vector<std::string> out;
  for (const auto& one : seen.pods) out.push_back(one.name);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> codes_of(const Decision& decision, std::string_view rule) {
  std::vector<std::string> out;
  for (const auto& ruling : decision.rulings)
    if (ruling.rule == rule)
      for (const auto& verdict : ruling.verdicts) out.push_back(reason_of(verdict).code);
  return out;
}

std::string message_of(const Decision& decision, std::string_view code) {
  for (const auto& ruling : decision.rulings)
    for (const auto& verdict : ruling.verdicts)
      if (reason_of(verdict).code == code) return reason_of(verdict).message;
  return {};
}

std::string condition(const api::ClusterStatus& status, std::string_view type) {
  const auto* found = status.find_condition(type);
  if (!found) return "absent";
  switch (found->status) {
    case api::ConditionStatus::kTrue:
      return "True";
    case api::ConditionStatus::kFalse:
      return "False";
    case api::ConditionStatus::kUnknown:
      return "Unknown";
  }
  return "";
}

}  // namespace quorate::plan
