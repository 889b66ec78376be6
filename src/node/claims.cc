#include "node/claims.h"

#include <algorithm>

#include "kube/resource.h"

namespace quorate::node {
namespace {

const ClassView* find_class(const ClaimFacts& facts, const std::string& name) {
  for (const auto* each : facts.classes)
    if (each->meta.key.name == name && each->provisioner == kProvisioner) return each;
  return nullptr;
}

const VolumeView* find_volume(const ClaimFacts& facts, const std::string& name) {
  for (const auto* each : facts.persistent_volumes)
    if (each->meta.key.name == name) return each;
  return nullptr;
}

std::string volume_name(const ClaimView& claim) { return "pvc-" + claim.meta.uid.value(); }

json::Value affinity_to(const std::string& node) {
  return json::Object{
      {"required",
       json::Object{{"nodeSelectorTerms",
                     json::Array{json::Object{
                         {"matchExpressions",
                          json::Array{json::Object{{"key", "kubernetes.io/hostname"},
                                                   {"operator", "In"},
                                                   {"values", json::Array{node}}}}}}}}}}};
}

json::Value make_volume(const ClaimView& claim, const ClassView& storage, const std::string& node,
                        const std::string& directory) {
  auto out = kube::make_object(kube::kPersistentVolumes, {"", volume_name(claim)});
  out.as_object()["metadata"].as_object()["annotations"] =
      json::Object{{"pv.kubernetes.io/provisioned-by", kProvisioner}};
  json::Array modes;
  for (const auto& mode : claim.access_modes) modes.emplace_back(mode);
  out.as_object()["spec"] =
      json::Object{{"capacity", json::Object{{"storage", claim.request.text()}}},
                   {"accessModes", std::move(modes)},
                   {"persistentVolumeReclaimPolicy", storage.reclaim_policy},
                   {"storageClassName", claim.class_name},
                   {"volumeMode", "Filesystem"},
                   {"local", json::Object{{"path", directory}}},
                   {"nodeAffinity", affinity_to(node)},
                   {"claimRef", json::Object{{"apiVersion", "v1"},
                                             {"kind", "PersistentVolumeClaim"},
                                             {"namespace", claim.meta.key.ns},
                                             {"name", claim.meta.key.name},
                                             {"uid", claim.meta.uid.value()}}}};
  return out;
}

void decide_claim(const ClaimFacts& facts, const ClaimView& claim, std::vector<ClaimStep>& out) {
  const auto* storage = find_class(facts, claim.class_name);
  if (!storage || claim.meta.deleting()) return;
  if (claim.volume_name.empty()) {
    if (claim.selected_node != facts.node || find_volume(facts, volume_name(claim))) return;
    auto directory = facts.volumes + "/" + volume_name(claim);
    auto volume = make_volume(claim, *storage, facts.node, directory);
    out.push_back(Provision{std::move(directory), std::move(volume)});
    return;
  }
  const auto* volume = find_volume(facts, claim.volume_name);
  bool ours = volume && volume->provisioned_by == kProvisioner && volume->node == facts.node;
  if (ours && claim.phase == "Bound" && claim.capacity && *claim.capacity < claim.request)
    out.push_back(Grow{claim.volume_name, claim.meta.key, claim.meta.uid, claim.request});
}

}  // namespace

std::vector<ClaimStep> decide_claims(const ClaimFacts& facts) {
  std::vector<ClaimStep> out;
  for (const auto* claim : facts.claims) decide_claim(facts, *claim, out);
  for (const auto* volume : facts.persistent_volumes) {
    if (volume->provisioned_by != kProvisioner || volume->node != facts.node) continue;
    if (volume->phase != "Released" || volume->reclaim_policy != "Delete") continue;
    // Ours are named after their claim; any other path is somebody else's.
    auto directory = facts.volumes + "/" + volume->meta.key.name;
    if (volume->path == directory)
      out.push_back(Reclaim{volume->meta.key.name, volume->meta.uid, std::move(directory)});
  }
  return out;
}

json::Value make_storage_class() {
  auto out = kube::make_object(kube::kStorageClasses, {"", kStorageClass});
  auto& object = out.as_object();
  object["metadata"].as_object()["annotations"] =
      json::Object{{"storageclass.kubernetes.io/is-default-class", "true"}};
  object["provisioner"] = kProvisioner;
  object["reclaimPolicy"] = "Delete";
  object["volumeBindingMode"] = "WaitForFirstConsumer";
  object["allowVolumeExpansion"] = true;
  return out;
}

}  // namespace quorate::node
