#include "apiserver/controller_volumes.h"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/controller_objects.h"
#include "apiserver/controller_placement.h"
#include "apiserver/metadata.h"
#include "json/quantity.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kClaimProtection = "kubernetes.io/pvc-protection";
constexpr std::string_view kVolumeProtection = "kubernetes.io/pv-protection";
constexpr std::string_view kSize = "/spec/resources/requests/storage";

json::Quantity quantity_at(const json::Value& object, std::string_view pointer) {
  const auto* found = json::find(object, pointer);
  const auto quantity = found ? json::Quantity::from_json(*found) : json::Quantity();
  return quantity.value_or(json::Quantity());
}

std::string annotation(std::string_view name) {
  return "/metadata/annotations/" + json::escape_pointer(name);
}

bool drop_finalizer(json::Value& object, std::string_view name) {
  auto all = finalizers_of(object);
  if (std::erase(all, name) == 0) return false;
  set_finalizers(object, all);
  return true;
}

bool waits_for_consumer(const json::Value& storage_class) {
  return json::text_or(storage_class, "/volumeBindingMode", "") == "WaitForFirstConsumer";
}

// Every mode that the claim wants, the volume has.
bool has_modes(const json::Value& volume, const json::Value& claim) {
  const auto wanted = json::array_at(claim, "/spec/accessModes");
  const auto there = json::array_at(volume, "/spec/accessModes");
  return wanted && there &&
         std::all_of((*wanted)->begin(), (*wanted)->end(), [&](const json::Value& mode) {
           return std::find((*there)->begin(), (*there)->end(), mode) != (*there)->end();
         });
}

bool is_for(const json::Value& volume, const json::Value& claim) {
  if (!json::find(volume, "/spec/claimRef")) return true;
  const auto uid = json::text_or(volume, "/spec/claimRef/uid", "");
  return json::text_or(volume, "/spec/claimRef/namespace", "") == namespace_of(claim) &&
         json::text_or(volume, "/spec/claimRef/name", "") == name_of(claim) &&
         (uid.empty() || uid == uid_of(claim));
}

json::Value make_reference(const json::Value& claim) {
  return {{"kind", "PersistentVolumeClaim"},
          {"namespace", namespace_of(claim)},
          {"name", name_of(claim)},
          {"uid", uid_of(claim)},
          {"apiVersion", "v1"},
          {"resourceVersion", version_of(claim)}};
}

}  // namespace

VolumeController::VolumeController(rt::Runtime runtime, Verbs& verbs, bool provisions)
    : Controller(runtime, verbs, "persistentvolume-controller"), provisions_(provisions) {}

void VolumeController::note(const Change& change) {
  if (&change.kind() == kinds().claims) {
    mark(change.work());
    if (const auto name = json::text_or(change.object(), "/spec/volumeName", ""); !name.empty())
      mark({kinds().volumes, {"", std::string(name)}});
  } else if (&change.kind() == kinds().volumes) {
    mark(change.work());
    if (const auto name = json::text_or(change.object(), "/spec/claimRef/name", ""); !name.empty())
      mark({kinds().claims,
            {std::string(json::text_or(change.object(), "/spec/claimRef/namespace", "")),
             std::string(name)}});
    for (const auto& work : pending_) mark(work);
  } else if (&change.kind() == kinds().pods) {
    for (const auto& name : claims_of(change.object()))
      mark({kinds().claims, {change.key().ns, name}});
  } else if (&change.kind() == kinds().storage_classes) {
    for (const auto& [key, record] : objects(*kinds().claims)) mark({kinds().claims, key});
  }
  if (&change.kind() != kinds().claims) return;
  const bool pending =
      !change.deleted() && json::text_or(change.object(), "/spec/volumeName", "").empty();
  if (pending)
    pending_.insert(change.work());
  else
    pending_.erase(change.work());
}

void VolumeController::reconcile(const WorkKey& work) {
  auto object = find(*work.kind, work.key);
  if (!object) return;
  if (work.kind == kinds().claims)
    reconcile_claim(work, std::move(*object));
  else
    reconcile_volume(work, std::move(*object));
}

Decoded VolumeController::class_of(const json::Value& object) {
  const auto name = json::text_or(object, "/spec/storageClassName", "");
  if (name.empty()) return nullptr;
  return look_at(*kinds().storage_classes, {"", std::string(name)});
}

bool VolumeController::is_claim_used(const ObjectKey& claim) {
  for (const auto& [key, record] : objects(*kinds().pods)) {
    if (key.ns != claim.ns) continue;
    const auto decoded = record->decoded();
    const auto& pod = *decoded;
    const auto names = claims_of(pod);
    if (is_pod_finished(pod) || node_of(pod).empty()) continue;
    if (std::find(names.begin(), names.end(), claim.name) != names.end()) return true;
  }
  return false;
}

void VolumeController::reconcile_claim(const WorkKey& work, json::Value claim) {
  if (is_deleting(claim)) {
    if (!is_claim_used(work.key) && drop_finalizer(claim, kClaimProtection))
      change(work, std::move(claim));
    return;
  }
  const std::string name(json::text_or(claim, "/spec/volumeName", ""));
  if (!name.empty()) {
    auto volume = find(*kinds().volumes, {"", name});
    if (volume && is_for(*volume, claim))
      return keep_bound(work, std::move(claim), std::move(*volume));
    if (json::find(claim, annotation("pv.kubernetes.io/bind-completed"))) {
      (void)json::put(claim, "/status/phase", "Lost");
      json::remove(claim, "/status/capacity");
      change_status(work, std::move(claim));
    }
    return;
  }
  auto volume = find_volume(claim);
  if (!volume && provisions_) volume = provision(claim);
  if (volume) bind(work, std::move(claim), *volume);
}

// The smallest volume that will do; one that waits for this very claim before all others.
std::optional<std::string> VolumeController::find_volume(const json::Value& claim) {
  const auto storage_class = class_of(claim);
  const auto node = json::text_or(claim, annotation("volume.kubernetes.io/selected-node"), "");
  const bool waits = storage_class && waits_for_consumer(*storage_class);
  std::optional<std::string> best;
  json::Quantity smallest;
  for (const auto& [key, record] : objects(*kinds().volumes)) {
    const auto decoded = record->decoded();
    const auto& volume = *decoded;
    if (is_deleting(volume) || !is_for(volume, claim) || !has_modes(volume, claim)) continue;
    if (json::text_or(volume, "/spec/storageClassName", "") !=
        json::text_or(claim, "/spec/storageClassName", ""))
      continue;
    if (json::find(volume, "/spec/claimRef")) return key.name;
    const auto phase = json::text_or(volume, "/status/phase", "");
    const auto size = quantity_at(volume, "/spec/capacity/storage");
    if (phase != "Available" || size < quantity_at(claim, kSize)) continue;
    if (waits && node.empty()) continue;
    if (json::find(claim, "/spec/selector") && !selects(claim, "/spec/selector", volume)) continue;
    const auto host = look_at(*kinds().nodes, {"", std::string(node)});
    if (waits && (!host || !volume_fits(volume, *host))) continue;
    if (best && smallest <= size) continue;
    best = key.name;
    smallest = size;
  }
  return best;
}

std::optional<std::string> VolumeController::provision(const json::Value& claim) {
  const auto storage_class = class_of(claim);
  if (!storage_class) return std::nullopt;
  const std::string provisioner(json::text_or(*storage_class, "/provisioner", ""));
  if (provisioner == "kubernetes.io/no-provisioner") return std::nullopt;
  const std::string node(
      json::text_or(claim, annotation("volume.kubernetes.io/selected-node"), ""));
  const bool waits = waits_for_consumer(*storage_class);
  if (waits && node.empty()) return std::nullopt;

  const auto name = fmt::format("pvc-{}", uid_of(claim));
  json::Object spec{
      {"capacity", {{"storage", *json::find(claim, kSize)}}},
      {"accessModes", *json::find(claim, "/spec/accessModes")},
      {"claimRef", make_reference(claim)},
      {"persistentVolumeReclaimPolicy", json::text_or(*storage_class, "/reclaimPolicy", "Delete")},
      {"storageClassName", name_of(*storage_class)},
      {"volumeMode", json::text_or(claim, "/spec/volumeMode", "Filesystem")}};
  if (waits && json::text_or(*storage_class, "/parameters/movable", "") != "true") {
    spec["local"] = {{"path", fmt::format("/var/lib/volumes/{}", name)}};
    spec["nodeAffinity"] = make_node_affinity(node);
  } else {
    spec["csi"] = {{"driver", provisioner}, {"volumeHandle", name}};
  }
  json::Value volume{
      {"metadata",
       {{"name", name}, {"annotations", {{"pv.kubernetes.io/provisioned-by", provisioner}}}}},
      {"spec", std::move(spec)}};
  auto made = verbs().create(*kinds().volumes, "", std::move(volume), as_writer());
  if (!made && made.error().code != 409) {
    tell(claim, "Warning", "ProvisioningFailed", made.error().message);
    return std::nullopt;
  }
  tell(claim, "Normal", "ProvisioningSucceeded",
       fmt::format("Successfully provisioned volume {}", name));
  return name;
}

void VolumeController::bind(const WorkKey& work, json::Value claim, const std::string& volume) {
  const WorkKey other{kinds().volumes, {"", volume}};
  if (auto object = find(*other.kind, other.key)) {
    (void)json::put(*object, "/spec/claimRef", make_reference(claim));
    change(other, std::move(*object));
  }
  (void)json::put(claim, "/spec/volumeName", json::Value(volume));
  (void)json::put(claim, annotation("pv.kubernetes.io/bind-completed"), "yes");
  (void)json::put(claim, annotation("pv.kubernetes.io/bound-by-controller"), "yes");
  change(work, std::move(claim));
}

void VolumeController::keep_bound(const WorkKey& work, json::Value claim, json::Value volume) {
  const WorkKey other{kinds().volumes, {"", std::string(name_of(volume))}};
  if (json::text_or(volume, "/spec/claimRef/uid", "") != uid_of(claim))
    return bind(work, std::move(claim), other.key.name);
  if (!json::find(claim, annotation("pv.kubernetes.io/bind-completed"))) {
    (void)json::put(claim, annotation("pv.kubernetes.io/bind-completed"), "yes");
    change(work, claim);
    claim = *find(*work.kind, work.key);
  }
  if (provisions_) grow(claim, volume);
  (void)json::put(claim, "/status/phase", "Bound");
  (void)json::put(claim, "/status/accessModes", *json::find(volume, "/spec/accessModes"));
  (void)json::put(claim, "/status/capacity/storage", *json::find(volume, "/spec/capacity/storage"));
  change_status(work, std::move(claim));
  set_phase(other, std::move(volume), "Bound");
}

void VolumeController::grow(const json::Value& claim, json::Value& volume) {
  const auto wanted = quantity_at(claim, kSize);
  if (wanted <= quantity_at(volume, "/spec/capacity/storage")) return;
  const auto storage_class = class_of(claim);
  if (!storage_class || !json::flag_at(*storage_class, "/allowVolumeExpansion").value_or(false))
    return;
  const WorkKey other{kinds().volumes, {"", std::string(name_of(volume))}};
  (void)json::put(volume, "/spec/capacity/storage", json::Value(wanted.text()));
  change(other, volume);
  volume = *find(*other.kind, other.key);
  tell(claim, "Normal", "VolumeResizeSuccessful", "Resize volume succeeded");
}

void VolumeController::set_phase(const WorkKey& work, json::Value volume, std::string_view phase) {
  if (json::text_or(volume, "/status/phase", "") == phase) return;
  (void)json::put(volume, "/status/phase", json::Value(phase));
  (void)json::put(volume, "/status/lastPhaseTransitionTime", json::Value(json::render_time(now())));
  change_status(work, std::move(volume));
}

void VolumeController::reconcile_volume(const WorkKey& work, json::Value volume) {
  const auto uid = json::text_or(volume, "/spec/claimRef/uid", "");
  Decoded claim;
  if (!uid.empty())
    claim = look_at(*kinds().claims,
                    {std::string(json::text_or(volume, "/spec/claimRef/namespace", "")),
                     std::string(json::text_or(volume, "/spec/claimRef/name", ""))});
  if (claim && uid_of(*claim) == uid) return;  // its claim says the rest
  if (is_deleting(volume)) {
    if (drop_finalizer(volume, kVolumeProtection)) change(work, std::move(volume));
    return;
  }
  if (uid.empty()) return set_phase(work, std::move(volume), "Available");
  const bool goes = json::text_or(volume, "/spec/persistentVolumeReclaimPolicy", "") == "Delete";
  set_phase(work, std::move(volume), "Released");
  if (goes && provisions_) (void)verbs().remove(*work.kind, work.key);
}

}  // namespace quorate::apiserver
