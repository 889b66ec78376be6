#include <fmt/format.h>

#include "api/names.h"
#include "base/check.h"
#include "kube/resource.h"
#include "operator/executor.h"

// How each step is taken; those that make keys and certificates are in certificates.cc.
namespace quorate::op {
namespace {

// The version in which an object was seen; nothing if it was not.
template <class Facts>
std::optional<ResourceVersion> version_of(const std::vector<Facts>& seen,
                                          const plan::Victim& victim) {
  for (const auto& one : seen)
    if (one.name == victim.name && one.uid == victim.uid) return one.resource_version;
  return std::nullopt;
}

json::Object metadata(std::string_view field, json::Object content) {
  return {{"metadata", json::Object{{std::string(field), std::move(content)}}}};
}

}  // namespace

// ---- Harmless steps ----

Task<Result<void>> Executor::on(plan::ApplyShared step, Pass& pass) {
  json::Value object;
  kube::Resource resource = kube::kServices;
  kube::StoreBase* store = &caches_.services;
  switch (step.which) {
    case plan::Shared::kPeerService:
      object = build_peer_service(pass.owner, step);
      break;
    case plan::Shared::kClientService:
      object = build_client_service(pass.owner, step);
      break;
    case plan::Shared::kDisruptionBudget:
      object = build_budget(pass.owner, step);
      resource = kube::kPodDisruptionBudgets;
      store = &caches_.budgets;
      break;
    default:
      CHECK(false, "{} is not applied", plan::name_of(step.which, pass.owner.key.name));
  }
  const auto name = plan::name_of(step.which, pass.owner.key.name);
  const plan::SharedFacts* there = nullptr;
  for (const auto& shared : pass.seen.shared)
    if (shared.which == step.which) there = &shared;
  // The first time by POST, so that something foreign of that name is noticed and not taken over.
  if (!there) co_return co_await create(resource, std::move(object), *store, pass);
  co_return co_await patch(resource, name, there->uid, build_shared_patch(object, there->added),
                           *store, pass);
}

Task<Result<void>> Executor::on(plan::RemoveBudget step, Pass& pass) {
  constexpr auto kBudget = plan::Shared::kDisruptionBudget;
  std::optional<ResourceVersion> version;
  for (const auto& shared : pass.seen.shared)
    if (shared.which == kBudget && shared.uid == step.uid) version = shared.resource_version;
  const plan::Victim budget{plan::name_of(kBudget, pass.owner.key.name), step.uid};
  return remove(kube::kPodDisruptionBudgets, budget, std::move(version), pass);
}

Task<Result<void>> Executor::on(plan::SetMetadata step, Pass& pass) {
  auto body = build_metadata_patch(step);
  switch (step.kind) {
    case plan::Marked::kRecord:
      return patch(kube::kEtcdMembers, step.name, step.uid, std::move(body), caches_.records, pass);
    case plan::Marked::kClaim:
      return patch(kube::kPersistentVolumeClaims, step.name, step.uid, std::move(body),
                   caches_.claims, pass);
    case plan::Marked::kPod:
      return patch(kube::kPods, step.name, step.uid, std::move(body), caches_.pods, pass);
    case plan::Marked::kSecret:
      break;
  }
  return patch(kube::kSecrets, step.name, step.uid, std::move(body), caches_.secrets, pass);
}

Task<Result<void>> Executor::on(plan::CreateRecord step, Pass& pass) {
  return create(kube::kEtcdMembers, build_record(pass.owner, step), caches_.records, pass);
}

Task<Result<void>> Executor::on(plan::CreateClaim step, Pass& pass) {
  return create(kube::kPersistentVolumeClaims, build_claim(pass.owner, step), caches_.claims, pass);
}

Task<Result<void>> Executor::on(plan::AllowRun step, Pass& pass) {
  auto allow = [volume = step.volume_uid](api::MemberSpec& spec) {
    spec.run = true;
    if (volume) spec.volume_uid = volume;
  };
  return change_record(step.record, step.record_uid, std::move(allow), pass);
}

Task<Result<void>> Executor::on(plan::CreatePod step, Pass& pass) {
  CO_TRY(auto made, co_await make(kube::kPods, build_pod(pass.owner, step), caches_.pods, pass));
  // Of an earlier pass, whose answer was lost: what comes next is decided when it was looked at.
  if (!made.now) co_return fail(Code::kConflict, "Pod " + step.shape.name + " is there already");
  pass.pods.insert_or_assign(step.shape.name, std::move(made.meta.uid));
  co_return Result<void>();
}

Task<Result<void>> Executor::on(plan::OpenNewPod step, Pass& pass) {
  const auto made = pass.pods.find(step.pod);
  if (made == pass.pods.end())
    co_return fail(Code::kConflict, "Pod " + step.pod + " was not made in this pass");
  co_return co_await on(plan::UpdatePodState{step.pod, made->second, std::move(step.state)}, pass);
}

Task<Result<void>> Executor::on(plan::NoteOnRecord step, Pass& pass) {
  auto note = [identity = step.identity](api::MemberSpec& spec) { spec.identity = identity; };
  return change_record(step.record, step.record_uid, std::move(note), pass);
}

Task<Result<void>> Executor::on(plan::NoteVersion step, Pass& pass) {
  auto note = [version = step.version](api::MemberSpec& spec) { spec.version = version; };
  return change_record(step.record, step.record_uid, std::move(note), pass);
}

Task<Result<void>> Executor::on(plan::NoteRole step, Pass& pass) {
  auto note = [role = step.role](api::MemberSpec& spec) { spec.role = role; };
  return change_record(step.record, step.record_uid, std::move(note), pass);
}

Task<Result<void>> Executor::on(plan::NoteLastOrdinal step, Pass& pass) {
  auto note = [ordinal = step.ordinal](api::MemberSpec& spec) { spec.last_ordinal = ordinal; };
  return change_record(step.record, step.record_uid, std::move(note), pass);
}

Task<Result<void>> Executor::on(plan::NoteOnClaim step, Pass& pass) {
  auto body = metadata("annotations", to_json(api::identity_annotations(step.identity)));
  return patch(kube::kPersistentVolumeClaims, step.claim, step.claim_uid, std::move(body),
               caches_.claims, pass);
}

Task<Result<void>> Executor::on(plan::UpdatePodState step, Pass& pass) {
  auto body = metadata("annotations", to_json(pod_state_annotations(step.state)));
  if (step.serves)
    body["metadata"].as_object()["labels"] =
        json::Object{{std::string(api::kLabelServing), std::string(api::kTrue)}};
  return patch(kube::kPods, step.pod, step.pod_uid, std::move(body), caches_.pods, pass);
}

Task<Result<void>> Executor::on(plan::SetServing step, Pass& pass) {
  return set_label(step.pod, step.pod_uid, api::kLabelServing, step.serving, pass);
}

Task<Result<void>> Executor::on(plan::SetVoter step, Pass& pass) {
  return set_label(step.pod, step.pod_uid, api::kLabelVoter, step.voter, pass);
}

Task<Result<void>> Executor::set_label(std::string pod, Uid uid, std::string_view label, bool on,
                                       Pass& pass) {
  json::Value value = on ? json::Value(std::string(api::kTrue)) : json::Value(nullptr);
  auto body = metadata("labels", {{std::string(label), std::move(value)}});
  return patch(kube::kPods, std::move(pod), std::move(uid), std::move(body), caches_.pods, pass);
}

// References of others stay: the list is merged by UID.
Task<Result<void>> Executor::on(plan::OwnClaim step, Pass& pass) {
  json::Value reference = plain_owner_reference(pass.owner);
  if (!step.owned) reference = json::Object{{"$patch", "delete"}, {"uid", pass.owner.uid.value()}};
  json::Object metadata{{"ownerReferences", json::Array{std::move(reference)}}};
  json::Object body{{"metadata", std::move(metadata)}};
  return patch(kube::kPersistentVolumeClaims, step.claim, step.claim_uid, std::move(body),
               caches_.claims, pass, kube::PatchKind::kStrategic);
}

Task<Result<void>> Executor::on(plan::GrowClaim step, Pass& pass) {
  json::Object requests{{"requests", json::Object{{"storage", step.size.text()}}}};
  json::Object body{{"spec", json::Object{{"resources", std::move(requests)}}}};
  return patch(kube::kPersistentVolumeClaims, step.claim, step.claim_uid, std::move(body),
               caches_.claims, pass);
}

Task<Result<void>> Executor::on(plan::RemoveFinishedPod step, Pass& pass) {
  const plan::Victim pod{step.pod, step.pod_uid};
  return remove(kube::kPods, pod, version_of(pass.seen.pods, pod), pass);
}

// ---- Disruptive steps: after take_disruptive() has looked again, with what it saw ----

Task<Result<void>> Executor::on(plan::AbandonFormation step, Pass& pass) {
  const auto give_up = [](api::MemberSpec& spec) { spec.abandoned = true; };
  for (const auto& victim : step.records)
    CO_TRY(co_await change_record(victim.name, victim.uid, give_up, pass));
  co_return Result<void>();
}

// Records last: while one is left, it says that this formation was given up, or this member
// removed, and nothing of it is taken for anything else.
template <class Step>
Task<Result<void>> Executor::discard(Step step, Pass& pass) {
  const auto& seen = pass.seen;
  for (const auto& victim : step.pods)
    CO_TRY(co_await remove(kube::kPods, victim, version_of(seen.pods, victim), pass));
  for (const auto& victim : step.claims)
    CO_TRY(co_await remove(kube::kPersistentVolumeClaims, victim, version_of(seen.claims, victim),
                           pass));
  for (const auto& victim : step.records)
    CO_TRY(co_await remove(kube::kEtcdMembers, victim, version_of(seen.records, victim), pass));
  co_return Result<void>();
}

Task<Result<void>> Executor::on(plan::DiscardFormation step, Pass& pass) {
  return discard(std::move(step), pass);
}

Task<Result<void>> Executor::on(plan::DiscardMember step, Pass& pass) {
  return discard(std::move(step), pass);
}

Task<Result<void>> Executor::on(plan::StopMembers step, Pass& pass) {
  const auto stop = [](api::MemberSpec& spec) { spec.run = false; };
  for (const auto& victim : step.records)
    CO_TRY(co_await change_record(victim.name, victim.uid, stop, pass));
  co_return Result<void>();
}

Task<Result<void>> Executor::on(plan::StopPods step, Pass& pass) {
  for (const auto& victim : step.pods)
    CO_TRY(co_await remove(kube::kPods, victim, version_of(pass.seen.pods, victim), pass));
  co_return Result<void>();
}

Task<Result<void>> Executor::on(plan::ReplaceUnformedPod step, Pass& pass) {
  return remove(kube::kPods, step.pod, version_of(pass.seen.pods, step.pod), pass);
}

Task<Result<void>> Executor::on(plan::RestartMember step, Pass& pass) {
  return remove(kube::kPods, step.pod, version_of(pass.seen.pods, step.pod), pass);
}

Task<Result<void>> Executor::on(plan::ReimageMember step, Pass& pass) {
  const auto version = version_of(pass.seen.pods, step.pod);
  if (!version)
    co_return fail(Code::kConflict, "Pod " + step.pod.name + " is not the one that the plan saw");
  json::Object annotations{
      {std::string(api::kAnnotationRendered), step.rendered},
      {std::string(api::kAnnotationReimagedAt), std::to_string(step.restarts)}};
  auto body = metadata("annotations", std::move(annotations));
  body["metadata"].as_object()["resourceVersion"] = version->value();
  json::Object container{{"name", std::string(api::kEtcdContainer)}, {"image", step.image}};
  body["spec"] = json::Object{{"containers", json::Array{std::move(container)}}};
  co_return co_await patch(kube::kPods, step.pod.name, step.pod.uid, std::move(body), caches_.pods,
                           pass, kube::PatchKind::kStrategic);
}

}  // namespace quorate::op
