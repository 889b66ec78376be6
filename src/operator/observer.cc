#include "operator/observer.h"

#include <algorithm>

#include "api/names.h"
#include "operator/facts.h"
#include "operator/live_objects.h"
#include "rt/group.h"

namespace quorate::op {
namespace {

// An answer is believed for a while after the next one was due, so that a question that goes lost
// makes no member look dead.
constexpr Duration kShortestTrust = std::chrono::seconds(60);
constexpr int kQuestionsMissed = 3;

// Enough for a member that lives: one that did not answer the last time, or is being ended, keeps
// nobody waiting longer. Its address may be nobody's any more, and the network takes seconds to say
// so.
constexpr Duration kShortPatience = std::chrono::seconds(1);

std::string_view kind_of(const ServiceView&) { return kube::kServices.kind; }
std::string_view kind_of(const BudgetView&) { return kube::kPodDisruptionBudgets.kind; }
std::string_view kind_of(const SecretView&) { return kube::kSecrets.kind; }

// As far as status says, which is enough to know what to ask.
bool is_formed(const plan::ClusterFacts& cluster) {
  return cluster.status && cluster.status->cluster_id;
}

bool can_be_asked(const plan::PodFacts& pod, const Uid& cluster) {
  return pod.controller == cluster && !pod.ip.empty() &&
         (pod.etcd.running || pod.may_just_have_started());
}

std::vector<plan::ListedMember> listed(const etcd::MemberList& list) {
  std::vector<plan::ListedMember> out;
  for (const auto& member : list.members)
    out.push_back({member.id, member.name, member.peer_urls, member.learner, member.started()});
  return out;
}

// How etcd words it in Status: "memberID:... alarm:CORRUPT".
bool tells_of_corruption(const etcd::Status& status) {
  return std::any_of(status.errors.begin(), status.errors.end(), [](const std::string& error) {
    return error.find("CORRUPT") != std::string::npos;
  });
}

void set_status(plan::MemberAnswer& answer, const etcd::Status& status) {
  answer.answered = true;
  answer.cluster_id = status.header.cluster;
  answer.member_id = status.header.member;
  answer.leader = status.leader;
  answer.version = status.version;
  answer.learner = status.learner;
  answer.applied = status.applied_index;
  answer.term = status.term;
  answer.revision = status.header.revision;
  answer.db_size = status.db_size;
  answer.db_in_use = status.db_in_use;
  answer.db_quota = status.db_quota;
  answer.corrupt = tells_of_corruption(status);
}

void note_applied(const plan::MemberAnswer& answer, ClusterMemory& memory) {
  if (!answer.answered) return;
  auto& known = memory.applied[answer.ordinal];
  const bool same = known.cluster_id == answer.cluster_id && known.member_id == answer.member_id;
  if (same && known.applied >= answer.applied) return;
  known = {answer.ordinal, answer.cluster_id, answer.member_id, answer.applied};
}

void note_intent(const plan::Observation& seen, ClusterMemory& memory, Monotonic now) {
  const auto intent = seen.cluster.status ? seen.cluster.status->intent : std::nullopt;
  if (intent == memory.intent) return;
  memory.intent = intent;
  memory.intent_since = now;
}

void note_since(plan::MemberAnswer& answer, const ClusterMemory& memory) {
  const auto before = memory.answers.find(answer.ordinal);
  const bool alike = before != memory.answers.end() && before->second.pod == answer.pod &&
                     before->second.answered == answer.answered;
  answer.alike_since = alike ? before->second.alike_since : answer.asked_at;
}

}  // namespace

Observer::Observer(rt::Runtime runtime, Caches& caches, const Fleet& fleet, kube::Client& client,
                   etcd::Api& etcd, MemberLink& link, plan::OperatorFacts op,
                   ObserverOptions options, Log log)
    : runtime_(runtime),
      caches_(caches),
      fleet_(fleet),
      client_(client),
      etcd_(etcd),
      link_(link),
      op_(std::move(op)),
      options_(options),
      log_(std::move(log)) {}

Duration Observer::period() const {
  std::chrono::duration<double> round(static_cast<double>(fleet_.size()) /
                                      options_.questions_per_second);
  return std::max(options_.ask_every, std::chrono::duration_cast<Duration>(round));
}

Task<Result<plan::Observation>> Observer::observe(ClusterKey key, ClusterMemory& memory) {
  plan::Observation seen;
  seen.began = runtime_.clock->now();
  auto cluster = caches_.clusters.find(key);
  if (!cluster) co_return fail(Code::kNotFound, "EtcdCluster " + key.text() + " is not there");
  if (memory.uid != cluster->meta.uid) {
    memory = ClusterMemory();
    memory.uid = cluster->meta.uid;
    memory.known_since = seen.began;
  }
  seen.cluster = cluster_facts(*cluster);
  look_at_objects(key, seen);
  co_await look_at_taken_names(memory);
  if (memory.ask_endpoints) {
    auto endpoints = co_await read_endpoints(client_, key, options_.ask_timeout);
    if (endpoints) seen.endpoints = std::move(*endpoints);
  }
  co_await ask_members(seen, memory, false);
  if (memory.ask_hashes) co_await ask_hashes(seen, memory);

  // The world went on while the members were asked: the objects are looked at once more, so that
  // answers and objects are of one time.
  cluster = caches_.clusters.find(key);
  if (!cluster || cluster->meta.uid != memory.uid)
    co_return fail(Code::kNotFound, "EtcdCluster " + key.text() + " is not there any more");
  seen.cluster = cluster_facts(*cluster);
  look_at_objects(key, seen);
  look_at_shared(key, seen);
  note_intent(seen, memory, runtime_.clock->now());
  complete(seen, memory);
  co_return seen;
}

Task<Result<plan::Observation>> Observer::observe_live(ClusterKey key, ClusterMemory& memory) {
  plan::Observation seen;
  seen.began = runtime_.clock->now();
  CO_TRY(const auto live, co_await read_objects(runtime_, client_, key, options_.ask_timeout));
  seen.cluster = cluster_facts(live.cluster);
  seen.endpoints = live.endpoints;
  if (seen.cluster.uid != memory.uid)
    co_return fail(Code::kConflict, "EtcdCluster " + key.text() + " is another one by now");
  for (const auto& view : live.records) add_record(view, seen);
  for (const auto& view : live.claims)
    if (auto facts = claim_facts(view, key.name)) seen.claims.push_back(std::move(*facts));
  for (const auto& view : live.pods)
    if (auto facts = pod_facts(view, key.name)) seen.pods.push_back(std::move(*facts));
  const auto add_shared = [&](const auto& views) {
    for (const auto& view : views)
      for (auto which : plan::kAllShared)
        if (plan::kind_of(which) == kind_of(view) &&
            plan::name_of(which, key.name) == view.meta.key.name)
          seen.shared.push_back(shared_facts(which, view));
  };
  add_shared(live.services);
  add_shared(live.budgets);
  add_shared(live.secrets);
  co_await ask_members(seen, memory, true);
  note_intent(seen, memory, runtime_.clock->now());
  complete(seen, memory);
  co_return seen;
}

void Observer::complete(plan::Observation& seen, const ClusterMemory& memory) const {
  seen.op = op_;
  seen.op.answers_good_for = std::max(kShortestTrust, kQuestionsMissed * period());
  seen.op.hash_every = options_.hash_every;
  seen.now = {runtime_.clock->now(), runtime_.clock->wall()};
  for (const auto& [ordinal, answer] : memory.answers) seen.answers.push_back(answer);
  for (const auto& [ordinal, applied] : memory.applied) seen.applied.push_back(applied);
  seen.hash_rounds = memory.hash_rounds;
  seen.known_since = memory.known_since;
  if (memory.intent) seen.intent_since = memory.intent_since;
  seen.namespace_going_at = memory.namespace_going_at;
  seen.nudged_at = memory.nudged_at;
  for (const auto& [what, refusal] : memory.refusals) seen.refusals.push_back(refusal);
  for (const auto& [what, place] : memory.taken_names) seen.taken_names.push_back(what);
}

void Observer::add_record(const RecordView& view, plan::Observation& seen) {
  auto facts = record_facts(view);
  if (facts)
    seen.records.push_back(std::move(*facts));
  else
    seen.unreadable.push_back("EtcdMember " + view.meta.key.name +
                              " cannot be read: " + facts.error().text());
}

void Observer::look_at_objects(const ClusterKey& key, plan::Observation& seen) const {
  seen.records.clear();
  seen.claims.clear();
  seen.pods.clear();
  seen.unreadable.clear();
  for (const auto& view : Caches::of_cluster(caches_.records, key)) add_record(*view, seen);
  for (const auto& view : Caches::of_cluster(caches_.claims, key))
    if (auto facts = claim_facts(*view, key.name)) seen.claims.push_back(std::move(*facts));
  for (const auto& view : Caches::of_cluster(caches_.pods, key))
    if (auto facts = pod_facts(*view, key.name)) seen.pods.push_back(std::move(*facts));
  look_at_unreadable(key, seen);
}

// A store does not show what it could not read; that it is not shown must not look like a loss.
void Observer::look_at_unreadable(const ClusterKey& key, plan::Observation& seen) const {
  const auto add = [&](const kube::StoreBase& store, std::string_view kind, auto ordinal_of) {
    for (const auto& [object, error] : store.unreadable())
      if (object.ns == key.ns && ordinal_of(key.name, object.name))
        seen.unreadable.push_back(std::string(kind) + " " + object.name +
                                  " cannot be read: " + error.text());
  };
  add(caches_.records, kube::kEtcdMembers.kind, api::ordinal_of_member_name);
  add(caches_.pods, kube::kPods.kind, api::ordinal_of_member_name);
  add(caches_.claims, kube::kPersistentVolumeClaims.kind, api::ordinal_of_claim_name);
}

void Observer::look_at_shared(const ClusterKey& key, plan::Observation& seen) const {
  for (auto which : plan::kAllShared) {
    const ObjectKey object{key.ns, plan::name_of(which, key.name)};
    const auto kind = plan::kind_of(which);
    kube::Handle<SharedView> view;
    if (kind == kube::kServices.kind)
      view = caches_.services.find(object);
    else if (kind == kube::kPodDisruptionBudgets.kind)
      view = caches_.budgets.find(object);
    else
      view = caches_.secrets.find(object);
    if (view) seen.shared.push_back(shared_facts(which, *view));
  }
}

// No watch shows what is without our labels, so it is asked for, each time: who has gone makes
// room.
Task<void> Observer::look_at_taken_names(ClusterMemory& memory) {
  const auto taken = memory.taken_names;
  for (const auto& [what, place] : taken) {
    auto there = co_await client_.get(place.resource, place.key, runtime_.in(options_.ask_timeout));
    if (!there && there.error() == Code::kNotFound) memory.taken_names.erase(what);
    if (!there) continue;
    const auto meta = there->meta();
    if (meta && meta->label(api::kLabelClusterUid) == memory.uid.value())
      memory.taken_names.erase(what);
  }
}

namespace {

// What was said in Pods that are gone, and by members whose records are.
void forget_gone(const plan::Observation& seen, ClusterMemory& memory) {
  std::erase_if(memory.answers, [&](const auto& entry) {
    return std::none_of(seen.pods.begin(), seen.pods.end(), [&](const auto& pod) {
      return pod.ordinal == entry.first && pod.uid == entry.second.pod;
    });
  });
  std::erase_if(memory.applied, [&](const auto& entry) {
    return std::none_of(seen.records.begin(), seen.records.end(), [&](const auto& record) {
      return record.spec.identity.ordinal == entry.first;
    });
  });
}

}  // namespace

Task<void> Observer::ask_members(const plan::Observation& seen, ClusterMemory& memory,
                                 bool everything) {
  const auto now = runtime_.clock->now();
  bool due = everything || memory.ask_members || now >= memory.asked_at + period();
  forget_gone(seen, memory);
  std::vector<plan::PodFacts> pods;
  for (const auto& pod : seen.pods) {
    if (!can_be_asked(pod, seen.cluster.uid)) continue;
    due = due || !memory.answers.contains(pod.ordinal);
    pods.push_back(pod);
  }
  if (!due || pods.empty()) co_return;

  auto link = co_await link_.open(seen.cluster, runtime_.in(options_.ask_timeout));
  if (!link) {
    log_.warn(
        "members cannot be asked",
        {{"cluster", seen.cluster.key}, {"reconcile", memory.reconciles}, {"error", link.error()}});
    co_return;
  }
  auto depth = Depth::kStatus;
  if (everything || memory.ask_members)
    depth = is_formed(seen.cluster) ? Depth::kMembers : Depth::kMembersAndKeys;
  // Who is merely slow is given its time as often as members are asked when nothing happens.
  const bool patient = now >= memory.patient_at + period();
  if (patient) memory.patient_at = now;
  std::vector<Task<Result<plan::MemberAnswer>>> questions;
  for (const auto& pod : pods) {
    const auto before = memory.answers.find(pod.ordinal);
    const bool silent = before != memory.answers.end() && !before->second.answered;
    const bool hurried = pod.deleting || !pod.etcd.running || (silent && !patient);
    const auto patience = hurried ? kShortPatience : options_.ask_timeout;
    plan::MemberAnswer answer;
    answer.ordinal = pod.ordinal;
    answer.pod = pod.uid;
    answer.asked_at = now;
    questions.push_back(ask(MemberLink::to(*link, seen.cluster, pod), std::move(answer), depth,
                            std::min(patience, options_.ask_timeout)));
  }
  auto answers = co_await rt::all(runtime_, std::move(questions));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto& answer = answers[i];
    // The silence of one that need not have started says nothing.
    if (!answer || (!answer->answered && !pods[i].etcd.running)) continue;
    note_applied(*answer, memory);
    note_since(*answer, memory);
    memory.answers[answer->ordinal] = std::move(*answer);
  }
  memory.asked_at = now;
}

// A member that does not answer is a fact, not a failure: the answer says why.
Task<Result<plan::MemberAnswer>> Observer::ask(etcd::Target target, plan::MemberAnswer answer,
                                               Depth depth, Duration patience) {
  const auto deadline = runtime_.in(patience);
  ++counters_.questions;
  auto status = co_await etcd_.status(target, deadline);
  if (!status) {
    ++counters_.unanswered;
    answer.error = status.error().text();
    co_return answer;
  }
  set_status(answer, *status);
  if (depth == Depth::kStatus || status->learner) co_return answer;

  auto members = co_await etcd_.member_list(target, deadline);
  if (depth == Depth::kMembersAndKeys) {
    etcd::RangeRequest count;
    count.range = etcd::KeyRange::all();
    count.count_only = true;
    auto keys = co_await etcd_.range(target, count, deadline);
    if (keys) answer.keys = keys->count;
  }
  if (!members) co_return answer;
  // What it has applied by now is all that was committed when the list was read: who has less than
  // others had is on older data.
  auto after = co_await etcd_.status(target, deadline);
  if (!after) co_return answer;
  set_status(answer, *after);
  answer.members = listed(*members);
  co_return answer;
}

}  // namespace quorate::op
