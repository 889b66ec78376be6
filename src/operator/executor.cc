#include "operator/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/codec.h"
#include "api/names.h"
#include "base/check.h"
#include "json/patch.h"
#include "kube/status.h"
#include "operator/await_newer.h"
#include "plan/situation.h"
#include "rt/group.h"

namespace quorate::op {

Executor::Executor(rt::Runtime runtime, kube::Client& client, Caches& caches, Observer& observer,
                   Fence& fence, pki::KeySource& keys, MemberAccess members,
                   std::span<const plan::Rule> rules, ExecutorOptions options, Log log)
    : runtime_(runtime),
      client_(client),
      caches_(caches),
      observer_(observer),
      fence_(fence),
      keys_(keys),
      members_(members),
      rules_(rules),
      options_(options),
      log_(std::move(log)) {}

Result<rt::Deadline> Executor::deadline() const {
  const auto end = fence_.valid_until();
  if (runtime_.clock->now() >= end) return fail(Code::kCancelled, "not the leader any more");
  return runtime_.in(options_.call_timeout).sooner({end});
}

Task<Result<Executor::Taken>> Executor::carry_out(const plan::Decision& decision,
                                                  plan::Observation& seen, ClusterMemory& memory) {
  Pass pass{seen, memory, {seen.cluster.key, seen.cluster.uid}};
  if (decision.status && decision.status->target)
    pass.owner.metadata = decision.status->target->additional_metadata;
  Taken taken;
  for (const auto& stage : decision.stages) {
    std::vector<Task<Result<void>>> steps;
    for (const auto& step : stage.steps) steps.push_back(take(step, pass));
    auto results = co_await rt::all(runtime_, std::move(steps), options_.at_once);
    bool failed = false;
    for (std::size_t i = 0; i < results.size(); ++i) {
      remember(stage.steps[i], results[i], pass);
      failed = failed || !results[i];
      if (!results[i] && results[i].error() == Code::kUnknownOutcome)
        taken.unresolved = taken.unresolved || plan::permit_of(stage.steps[i]);
    }
    taken.all = taken.all && !failed;
    CO_TRY(deadline());
    if (failed && stage.essential) break;
  }
  co_return taken;
}

namespace {

// Object and operation, under which the failure of a step is remembered.
std::pair<std::string, std::string> refusal_key(const std::string& description) {
  const auto space = description.find(' ');
  return {description.substr(space + 1), description.substr(0, space)};
}

// Lines about a step name the cluster, the look, and the member if there is one.
Log log_of(const Log& log, const plan::Step& step, const ClusterKey& cluster,
           const ClusterMemory& memory) {
  auto more = log.with("cluster", cluster).with("reconcile", memory.reconciles);
  const auto member = plan::member_of(step, cluster.name);
  return member.empty() ? more : more.with("member", member);
}

}  // namespace

bool Executor::forget_unwanted(const plan::Decision& decision, plan::Observation& seen,
                               ClusterMemory& memory) {
  std::set<std::pair<std::string, std::string>> wanted;
  for (const auto& stage : decision.stages)
    for (const auto& step : stage.steps)
      wanted.insert(refusal_key(plan::describe(step, seen.cluster.key.name)));
  const auto is_fresh = [&](const plan::Refusal& refusal) {
    return plan::is_left_in_peace(refusal, seen.now.monotonic);
  };
  const auto forgotten = std::erase_if(memory.refusals, [&](const auto& entry) {
    return !wanted.contains(entry.first) && !is_fresh(entry.second);
  });
  std::erase_if(seen.refusals, [&](const plan::Refusal& refusal) {
    return !wanted.contains({refusal.object, refusal.operation}) && !is_fresh(refusal);
  });
  return forgotten > 0;
}

void Executor::remember(const plan::Step& step, const Result<void>& done, Pass& pass) {
  ++counters_.steps;
  const auto what = plan::describe(step, pass.owner.key.name);
  const auto key = refusal_key(what);
  if (done) {
    pass.memory.refusals.erase(key);
    log_of(log_, step, pass.owner.key, pass.memory).info("step taken", {{"step", what}});
    return;
  }
  ++counters_.failed;
  const auto& error = done.error();
  if (kube::is_namespace_terminating(error)) pass.memory.namespace_going_at = runtime_.clock->now();
  log_of(log_, step, pass.owner.key, pass.memory)
      .warn("step failed", {{"step", what}, {"error", error}});
  plan::Refusal refusal;
  refusal.object = key.first;
  refusal.operation = key.second;
  refusal.message = error.text();
  refusal.transient = error.code() != Code::kForbidden && error.code() != Code::kInvalid;
  auto known = pass.memory.refusals.find(key);
  refusal.since = known != pass.memory.refusals.end() ? known->second.since : pass.seen.now.wall;
  if (plan::permit_of(step) && error.code() == Code::kUnavailable) {
    refusal.refused_at = runtime_.clock->now();
    refusal.refused_for = runtime_.clock->wall() - refusal.since;
  }
  pass.memory.refusals[key] = std::move(refusal);
}

Task<Result<void>> Executor::take(const plan::Step& step, Pass& pass) {
  if (const auto* permit = plan::permit_of(step)) return take_disruptive(step, *permit, pass);
  return std::visit([&](const auto& one) { return on(one, pass); }, step);
}

// ---- Disruptive steps ----

Task<Result<void>> Executor::take_disruptive(const plan::Step& step, const plan::Permit& permit,
                                             Pass& pass) {
  CHECK(permit.cluster() == pass.owner.uid, "a permit for another cluster: {}",
        permit.cluster().value());
  CHECK(permit.disruption() == plan::disruption_of(step), "a permit for something else: {}",
        permit.proof());
  if (permit.epoch() != fence_.epoch())
    co_return fail(Code::kConflict, fmt::format("the permit is of lease epoch {}, we hold {}",
                                                permit.epoch(), fence_.epoch()));
  CO_TRY(co_await write_intent(step, pass));
  CO_TRY(auto live, co_await look_again(step, pass));
  ++counters_.disruptive;
  log_of(log_, step, pass.owner.key, pass.memory)
      .info("disruptive step", {{"step", plan::describe(step, pass.owner.key.name)},
                                {"epoch", permit.epoch()},
                                {"proof", permit.proof()}});
  Pass now{live, pass.memory, pass.owner};
  // For how long its outcome may be unknown counts from the call, not from the decision: to look
  // again may take its time.
  pass.memory.intent_since = runtime_.clock->now();
  auto done = co_await std::visit([&](const auto& one) { return on(one, now); }, step);
  pass.memory.intent_since = runtime_.clock->now();
  co_return done;
}

// What a look past the caches shows is awaited in them before the next look: they are behind, and
// to decide on them again would lead to the same step, and drop it again, at once and for ever. A
// watch that shows none of it is doubted.
template <class Facts>
void Executor::await_difference(const std::vector<Facts>& cached, const std::vector<Facts>& live,
                                kube::StoreBase& store, Pass& pass) {
  for (const auto& one : cached) {
    const ObjectKey key{pass.owner.key.ns, one.name};
    const auto found = std::find_if(live.begin(), live.end(),
                                    [&](const Facts& other) { return other.uid == one.uid; });
    if (found != live.end() && found->resource_version == one.resource_version) continue;
    if (found == live.end()) {
      store.note_removed(key, one.uid);
    } else {
      kube::Meta newer;
      newer.key = key;
      newer.resource_version = found->resource_version;
      store.note_written(newer);
    }
    pass.memory.written.emplace_back(&store, key);
  }
}

// Caches are for deciding what to look at. What is about to be harmed is looked at where it is, and
// decided anew: whatever has changed in between, unless it leads to the very same step, drops it.
Task<Result<plan::Observation>> Executor::look_again(const plan::Step& step, Pass& pass) {
  CO_TRY(auto live, in("look again", co_await observer_.observe_live(pass.owner.key, pass.memory)));
  // The intent that stands there is the one of this very step: nothing of ours is under way yet.
  auto& status = live.cluster.status;
  if (status && pass.seen.cluster.status && status->intent == pass.seen.cluster.status->intent)
    status->intent.reset();
  const auto again = plan::decide(live, rules_);
  const auto* wanted = plan::disruptive_step(again);
  if (wanted && *wanted == step) co_return live;
  await_difference(pass.seen.pods, live.pods, caches_.pods, pass);
  await_difference(pass.seen.claims, live.claims, caches_.claims, pass);
  await_difference(pass.seen.records, live.records, caches_.records, pass);
  co_return fail(Code::kConflict, wanted ? "at a second look it is another step: " +
                                               plan::describe(*wanted, pass.owner.key.name)
                                         : std::string("at a second look it is not called for"));
}

namespace {

std::vector<std::string> targets_of(const plan::Step& step) {
  std::vector<std::string> out;
  auto add = [&](const std::vector<plan::Victim>& victims) {
    for (const auto& victim : victims) out.push_back(victim.name + " " + victim.uid.value());
  };
  auto member = [](const std::string& name, MemberId id) { return name + " " + id.text(); };
  if (const auto* s = std::get_if<plan::AbandonFormation>(&step)) add(s->records);
  if (const auto* s = std::get_if<plan::DiscardFormation>(&step)) {
    add(s->pods);
    add(s->claims);
    add(s->records);
  }
  if (const auto* s = std::get_if<plan::ReplaceUnformedPod>(&step)) add({s->pod});
  if (const auto* s = std::get_if<plan::StopMembers>(&step)) add(s->records);
  if (const auto* s = std::get_if<plan::StopPods>(&step)) add(s->pods);
  if (const auto* s = std::get_if<plan::RestartMember>(&step)) add({s->pod});
  if (const auto* s = std::get_if<plan::ReimageMember>(&step)) add({s->pod});
  if (const auto* s = std::get_if<plan::SwitchAuthority>(&step)) add(s->pods);
  if (const auto* s = std::get_if<plan::RetireAuthority>(&step)) add(s->pods);
  if (const auto* s = std::get_if<plan::DiscardMember>(&step)) {
    add(s->pods);
    add(s->claims);
    add(s->records);
  }
  if (const auto* s = std::get_if<plan::AddLearner>(&step)) out = {s->name + " " + s->peer_url};
  if (const auto* s = std::get_if<plan::PromoteLearner>(&step)) out = {member(s->name, s->id)};
  if (const auto* s = std::get_if<plan::RemoveMember>(&step)) out = {member(s->name, s->id)};
  if (const auto* s = std::get_if<plan::MoveLeader>(&step)) out = {member(s->to, s->to_id)};
  return out;
}

}  // namespace

// Under the resourceVersion that the plan saw: whoever changed the cluster in between, another
// operator or its owner, makes this a conflict, and the step is dropped.
Task<Result<void>> Executor::write_intent(const plan::Step& step, Pass& pass) {
  auto status = pass.seen.cluster.status.value_or(api::ClusterStatus());
  if (status.intent && status.intent->epoch > fence_.epoch())
    co_return fail(Code::kConflict, fmt::format("a leader of epoch {} has been here, we are of {}",
                                                status.intent->epoch, fence_.epoch()));
  status.intent =
      api::IntentStatus{fence_.epoch(), plan::describe(step, pass.owner.key.name), targets_of(step),
                        std::chrono::floor<std::chrono::seconds>(runtime_.clock->wall())};
  auto object = kube::make_object(kube::kEtcdClusters, pass.owner.key);
  auto& metadata = object.as_object()["metadata"].as_object();
  metadata["uid"] = pass.owner.uid.value();
  metadata["resourceVersion"] = pass.seen.cluster.resource_version.value();
  object.as_object()["status"] = api::encode(status);
  CO_TRY(auto until, deadline());
  kube::WriteOptions options;
  options.part = kube::Part::kStatus;
  auto written = in("write the intent", co_await client_.update(kube::kEtcdClusters, pass.owner.key,
                                                                std::move(object), until, options));
  if (!written && written.error() == Code::kConflict)
    co_await await_newer(client_, kube::kEtcdClusters, pass.owner.key, caches_.clusters,
                         pass.memory, until);
  if (!written) co_return fail(std::move(written).error());
  CO_TRY(auto meta, written->meta());
  pass.seen.cluster.resource_version = meta.resource_version;
  pass.memory.intent = status.intent;
  pass.memory.intent_since = runtime_.clock->now();
  pass.seen.cluster.status = std::move(status);
  wrote(caches_.clusters, *written, pass);
  co_return Result<void>();
}

// ---- Writes ----

void Executor::wrote(kube::StoreBase& store, const kube::Object& object, Pass& pass) {
  auto meta = object.meta();
  if (!meta) return;
  store.note_written(*meta);
  pass.memory.written.emplace_back(&store, meta->key);
}

// Written once: POST. A name that is taken already is either our own earlier write, whose answer
// was lost or which the cache does not show yet, or somebody else's, which is left alone and told.
Task<Result<Executor::Made>> Executor::make(kube::Resource resource, json::Value object,
                                            kube::StoreBase& store, Pass& pass) {
  const std::string name(json::text_or(object, "/metadata/name", ""));
  const ObjectKey key{pass.owner.key.ns, name};
  const std::string what = std::string(resource.kind) + " " + name;
  CO_TRY(auto until, deadline());
  auto made = co_await client_.create(resource, key.ns, std::move(object), until);
  if (made) {
    pass.memory.taken_names.erase(what);
    wrote(store, *made, pass);
    CO_TRY(auto meta, made->meta());
    co_return Made{std::move(meta), true};
  }
  if (!kube::is_already_exists(made.error())) co_return fail(made.error());
  CO_TRY(auto there, co_await client_.get(resource, key, until));
  CO_TRY(auto meta, there.meta());
  if (meta.label(api::kLabelClusterUid) == pass.owner.uid.value()) {
    wrote(store, there, pass);
    co_return Made{std::move(meta), false};
  }
  pass.memory.taken_names.insert_or_assign(what, ClusterMemory::Place{resource, key});
  co_return fail(Code::kConflict, what + " exists and belongs to something else");
}

Task<Result<void>> Executor::create(kube::Resource resource, json::Value object,
                                    kube::StoreBase& store, Pass& pass) {
  CO_TRY(co_await make(resource, std::move(object), store, pass));
  co_return Result<void>();
}

Task<Result<void>> Executor::patch(kube::Resource resource, std::string name, Uid uid,
                                   json::Object body, kube::StoreBase& store, Pass& pass,
                                   kube::PatchKind kind) {
  CO_TRY(co_await patch_object(resource, std::move(name), std::move(uid), std::move(body), store,
                               pass, kind));
  co_return Result<void>();
}

Task<Result<kube::Meta>> Executor::patch_object(kube::Resource resource, std::string name, Uid uid,
                                                json::Object body, kube::StoreBase& store,
                                                Pass& pass, kube::PatchKind kind) {
  auto& metadata = body["metadata"];
  if (!metadata.is_object()) metadata = json::Object();
  metadata.as_object()["uid"] = uid.value();
  CO_TRY(auto until, deadline());
  const ObjectKey key{pass.owner.key.ns, std::move(name)};
  auto patched = co_await client_.patch(resource, key, kind, std::move(body), until);
  if (!patched && patched.error() == Code::kConflict)
    co_await await_newer(client_, resource, key, store, pass.memory, until);
  if (!patched) co_return fail(std::move(patched).error());
  wrote(store, *patched, pass);
  co_return patched->meta();
}

namespace {

plan::RecordFacts* find_record(plan::Observation& seen, const std::string& name, const Uid& uid) {
  for (auto& record : seen.records)
    if (record.name == name && record.uid == uid) return &record;
  return nullptr;
}

}  // namespace

// Somebody who changed the record in between is not overruled: each change is on top of the one
// before, by version.
Task<Result<void>> Executor::change_record(std::string name, Uid uid, RecordChange change,
                                           Pass& pass) {
  const auto* record = find_record(pass.seen, name, uid);
  if (!record)
    co_return fail(Code::kConflict, "EtcdMember " + name + " is not the one that the plan saw");
  auto wanted = record->spec;
  change(wanted);
  json::Object body{
      {"metadata", json::Object{{"resourceVersion", record->resource_version.value()}}},
      {"spec", json::make_merge_patch(api::encode(record->spec), api::encode(wanted))}};
  CO_TRY(auto meta, co_await patch_object(kube::kEtcdMembers, name, uid, std::move(body),
                                          caches_.records, pass));
  if (auto* written = find_record(pass.seen, name, uid)) {
    written->spec = std::move(wanted);
    written->resource_version = std::move(meta.resource_version);
  }
  co_return Result<void>();
}

Task<Result<void>> Executor::remove(kube::Resource resource, plan::Victim victim,
                                    std::optional<ResourceVersion> version, Pass& pass) {
  const auto what = std::string(resource.kind) + " " + victim.name;
  if (!version) co_return fail(Code::kConflict, what + " is not the one that the plan saw");
  kube::DeleteOptions options;
  options.uid = victim.uid;
  options.resource_version = std::move(version);
  CO_TRY(auto until, deadline());
  auto removed =
      co_await client_.remove(resource, {pass.owner.key.ns, victim.name}, until, options);
  if (!removed && removed.error() != Code::kNotFound) co_return fail(removed.error());
  co_return Result<void>();
}

}  // namespace quorate::op
