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
    bool held = one.held || (!one.formation_open && !one.identity->cluster_id);
    if (held && !one.etcd.running) continue;  // by the launch guard
    one.phase = PodPhase::kRunning;
    if (one.reimaged_at && one.etcd.restarts <= *one.reimaged_at) {
      ++one.etcd.restarts;
      one.ready = false;
    }
    one.etcd.running = true;
    running_[one.uid.value()] = one.rendered.substr(0, one.rendered.find('-'));
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

RaftIndex World::committed() const {
  RaftIndex out;
  for (const auto& one : seen.applied) out = std::max(out, one.applied);
  for (const auto& one : seen.records)
    if (const auto& floor = one.spec.identity.raft_floor)
      out = std::max(out, RaftIndex(static_cast<std::uint64_t>(floor->index)));
  return out;
}

void World::leave_intent(std::string step) {
  seen.cluster.status->intent = api::IntentStatus{7, std::move(step), {}, seen.now.wall};
  seen.intent_since = seen.now.monotonic;
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
    if (const auto mute = unheard_.find(one.ordinal); mute != unheard_.end()) {
      MemberAnswer none;
      none.ordinal = one.ordinal;
      none.pod = one.uid;
      none.asked_at = seen.now.monotonic;
      none.alike_since = mute->second;
      seen.answers.push_back(std::move(none));
      continue;
    }
    if (!own->learner && !one.ready)
      one.ready_since = std::chrono::floor<std::chrono::seconds>(seen.now.wall);
    one.ready = !own->learner;
    MemberAnswer answer;
    answer.ordinal = one.ordinal;
    answer.pod = one.uid;
    answer.asked_at = seen.now.monotonic;
    answer.answered = true;
    answer.cluster_id = ClusterId(kClusterId.value() + static_cast<unsigned>(formation.number) - 1);
    answer.member_id = member_id(one.ordinal);
    answer.leader = find_leader(members);
    answer.version = version_.value_or(running_[one.uid.value()]);
    answer.learner = own->learner;
    answer.applied = committed();
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

World formed(api::ClusterSpec spec) {
  World world(std::move(spec));
  world.settle();
  return world;
}

World formed(int replicas, api::ClusterSpec spec) {
  spec.replicas = replicas;
  return formed(std::move(spec));
}

World with_pods_made(api::ClusterSpec spec) {
  World world(std::move(spec));
  for (int i = 0; i < 4 && world.seen.pods.empty(); ++i) world.pass();
  return world;
}

World with_pods(api::ClusterSpec spec) {
  auto world = with_pods_made(std::move(spec));
  world.pass();  // opens them
  world.run_pods();
  return world;
}

api::ClusterSpec pod_bound() {
  api::ClusterSpec spec;
  spec.storage = {std::nullopt, api::EmptyDirStorage{}, {}};
  return spec;
}

void scale(World& world, int replicas) {
  world.edit([&](api::ClusterSpec& spec) { spec.replicas = replicas; });
}

Decision next(World& world) {
  world.run_pods();
  world.answer();
  auto decision = world.decide();
  world.carry_out(decision);
  world.publish(decision);
  world.advance(std::chrono::seconds(1));
  return decision;
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
