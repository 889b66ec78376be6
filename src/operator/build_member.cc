#include "api/codec.h"
#include "api/encoder.h"
#include "api/names.h"
#include "api/placement_fields.h"
#include "kube/resource.h"
#include "operator/build.h"

namespace quorate::op {
namespace {

json::Value owner_reference(const Owner& owner, bool controller) {
  kube::Meta meta;
  meta.key = owner.key;
  meta.uid = owner.uid;
  return kube::make_owner_reference(kube::kEtcdClusters, meta, controller);
}

json::Object member_labels(const Owner& owner, const api::Identity& identity) {
  auto labels = cluster_labels(owner, api::kComponentMember);
  for (const auto& [key, value] : api::identity_labels(identity)) labels[key] = value;
  return labels;
}

}  // namespace

json::Value plain_owner_reference(const Owner& owner) { return owner_reference(owner, false); }

json::Value build_record(const Owner& owner, const plan::CreateRecord& step) {
  auto object = kube::make_object(kube::kEtcdMembers, {owner.key.ns, step.name});
  auto& metadata = object.as_object()["metadata"].as_object();
  metadata["labels"] = member_labels(owner, step.spec.identity);
  metadata["ownerReferences"] = json::Array{owner_reference(owner, true)};
  object.as_object()["spec"] = api::encode(step.spec);
  add_metadata(object, owner.metadata);
  return object;
}

// Owned by the cluster only if its data may go with it; otherwise by nobody: retained volumes
// outlive the cluster.
json::Value build_claim(const Owner& owner, const plan::CreateClaim& step) {
  auto object = kube::make_object(kube::kPersistentVolumeClaims, {owner.key.ns, step.name});
  auto& metadata = object.as_object()["metadata"].as_object();
  metadata["labels"] = member_labels(owner, step.identity);
  metadata["annotations"] = to_json(api::identity_annotations(step.identity));
  if (step.owned) metadata["ownerReferences"] = json::Array{owner_reference(owner, false)};
  json::Object spec{
      {"accessModes", json::Array{"ReadWriteOnce"}},
      {"resources",
       json::Object{{"requests", json::Object{{"storage", step.storage.size.text()}}}}}};
  if (step.storage.storage_class_name) spec["storageClassName"] = *step.storage.storage_class_name;
  if (step.storage.selector) spec["selector"] = api::encode_value(*step.storage.selector);
  object.as_object()["spec"] = std::move(spec);
  add_metadata(object, api::join_metadata(owner.metadata, step.storage.metadata));
  return object;
}

}  // namespace quorate::op
