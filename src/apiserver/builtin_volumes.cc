// PersistentVolumeClaims, PersistentVolumes and StorageClasses.

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/builtin_support.h"
#include "json/quantity.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kClaimProtection = "kubernetes.io/pvc-protection";
constexpr std::string_view kVolumeProtection = "kubernetes.io/pv-protection";

// What is in use is not to vanish: see controller_volumes.h for when the finalizer goes.
void protect(json::Object& object, std::string_view finalizer) {
  auto& list = object_in(object, "metadata")["finalizers"];
  if (!list.is_array()) list = json::Array{};
  auto& finalizers = list.get_array();
  if (std::find(finalizers.begin(), finalizers.end(), json::Value(finalizer)) == finalizers.end())
    finalizers.push_back(json::Value(finalizer));
}

json::Quantity quantity_at(const json::Value& object, std::string_view pointer) {
  const auto* found = json::find(object, pointer);
  const auto quantity = found ? json::Quantity::from_json(*found) : json::Quantity();
  return quantity.value_or(json::Quantity());
}

void check_access_modes(const json::Value& object, FieldErrors& errors) {
  const auto modes = json::array_at(object, "/spec/accessModes");
  for (const auto& mode : modes ? **modes : json::Array{})
    if (mode.is_string())
      check_choice(errors, "spec.accessModes", mode.get_string(),
                   {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"});
}

// --- claims

void set_claim_defaults(json::Object& claim) {
  set_if_absent(object_in(claim, "spec"), "volumeMode", "Filesystem");
  set_if_absent(object_in(claim, "status"), "phase", "Pending");
}

void admit_claim(json::Object& claim, const RuleContext&) { protect(claim, kClaimProtection); }

void prepare_claim(json::Object& claim, const RuleContext&) {
  object_in(claim, "status")["phase"] = "Pending";
}

void validate_claim(const json::Value& claim, FieldErrors& errors) {
  const auto modes = json::array_at(claim, "/spec/accessModes");
  if (!modes || (*modes)->empty())
    errors.push_back(required_value("spec.accessModes", "at least 1 access mode is required"));
  if (const auto* selector = json::find(claim, "/spec/selector"))
    check_label_selector(errors, *selector, "spec.selector");
  check_access_modes(claim, errors);
  const auto* size = json::find(claim, "/spec/resources/requests/storage");
  if (!size)
    errors.push_back(required_value("spec.resources[storage]"));
  else if (quantity_at(claim, "/spec/resources/requests/storage").sign() <= 0)
    errors.push_back(invalid_value("spec.resources[storage]", *size, "must be greater than zero"));
  if (const auto name = json::text_or(claim, "/spec/storageClassName", ""); !name.empty())
    check_name(errors, "spec.storageClassName", name, check_dns_subdomain);
  check_choice(errors, "spec.volumeMode", json::text_or(claim, "/spec/volumeMode", "Filesystem"),
               {"Block", "Filesystem"});
}

// The claim's spec with what may change made equal: the volume once, the size while it is bound.
json::Value masked_claim(const json::Value& claim, const json::Value& old) {
  json::Value spec = *json::find(claim, "/spec");
  const auto take = [&](std::string_view pointer) {
    json::remove(spec, pointer);
    if (const auto* before = json::find(old, fmt::format("/spec{}", pointer)))
      (void)json::put(spec, pointer, *before);
  };
  if (json::text_or(old, "/spec/volumeName", "").empty()) take("/volumeName");
  if (json::text_or(claim, "/status/phase", "") == "Bound") {
    take("/resources/requests/storage");
    take("/volumeAttributesClassName");
  }
  // A class may be given to a claim that has none.
  if (!json::find(old, "/spec/storageClassName")) take("/storageClassName");
  return spec;
}

void validate_claim_update(const json::Value& claim, const json::Value& old, FieldErrors& errors) {
  const auto* before = json::find(old, "/spec");
  if (before && !json::equal(masked_claim(claim, old), *before))
    errors.push_back(forbidden("spec",
                               "spec is immutable after creation except resources.requests and "
                               "volumeAttributesClassName for bound claims\n"));
  const auto now = quantity_at(claim, "/spec/resources/requests/storage");
  if (now < quantity_at(old, "/spec/resources/requests/storage") &&
      now <= quantity_at(old, "/status/capacity/storage"))
    errors.push_back(
        forbidden("spec.resources.requests.storage", "field can not be less than status.capacity"));
  if (!same_at(claim, old, "/spec/volumeMode"))
    errors.push_back(
        invalid_value("volumeMode", *json::find(claim, "/spec/volumeMode"), "field is immutable"));
}

// --- volumes

constexpr std::initializer_list<std::string_view> kVolumeSources = {
    "hostPath", "local", "csi", "nfs", "iscsi", "fc", "rbd", "cephfs"};

void set_volume_defaults(json::Object& volume) {
  auto& spec = object_in(volume, "spec");
  set_if_absent(spec, "persistentVolumeReclaimPolicy", "Retain");
  set_if_absent(spec, "volumeMode", "Filesystem");
  if (auto* path = find_object(spec, "hostPath"))
    if (!path->contains("type")) (*path)["type"] = "";
  set_if_absent(object_in(volume, "status"), "phase", "Pending");
}

void admit_volume(json::Object& volume, const RuleContext&) { protect(volume, kVolumeProtection); }

void prepare_volume(json::Object& volume, const RuleContext& context) {
  auto& status = object_in(volume, "status");
  status["phase"] = "Pending";
  status["lastPhaseTransitionTime"] = json::render_time(context.now);
}

void validate_volume(const json::Value& volume, FieldErrors& errors) {
  const auto modes = json::array_at(volume, "/spec/accessModes");
  if (!modes || (*modes)->empty()) errors.push_back(required_value("spec.accessModes"));
  check_access_modes(volume, errors);
  const auto* capacity = json::find(volume, "/spec/capacity");
  if (!capacity || !capacity->is_object() || capacity->get_object().empty()) {
    errors.push_back(required_value("spec.capacity"));
    errors.push_back(not_supported("spec.capacity", nullptr, {"storage"}));
  } else if (quantity_at(volume, "/spec/capacity/storage").sign() <= 0) {
    errors.push_back(invalid_value("spec.capacity[storage]",
                                   *json::find(volume, "/spec/capacity/storage"),
                                   "must be greater than zero"));
  }
  const auto has = [&](std::string_view source) {
    return json::find(volume, fmt::format("/spec/{}", source)) != nullptr;
  };
  if (std::none_of(kVolumeSources.begin(), kVolumeSources.end(), has))
    errors.push_back(required_value("spec", "must specify a volume type"));
  if (has("local") && !has("nodeAffinity"))
    errors.push_back(required_value("spec.nodeAffinity", "Local volume requires node affinity"));
  check_choice(errors, "spec.persistentVolumeReclaimPolicy",
               json::text_or(volume, "/spec/persistentVolumeReclaimPolicy", ""),
               {"Delete", "Recycle", "Retain"});
}

void validate_volume_update(const json::Value& volume, const json::Value& old,
                            FieldErrors& errors) {
  for (const auto source : kVolumeSources)
    if (!same_at(volume, old, fmt::format("/spec/{}", source))) {
      errors.push_back(forbidden("spec.persistentvolumesource",
                                 "spec.persistentvolumesource is immutable after creation\n"));
      break;
    }
  if (!same_at(volume, old, "/spec/volumeMode"))
    errors.push_back(
        invalid_value("volumeMode", *json::find(volume, "/spec/volumeMode"), "field is immutable"));
  if (json::find(old, "/spec/nodeAffinity") && !same_at(volume, old, "/spec/nodeAffinity")) {
    const auto* now = json::find(volume, "/spec/nodeAffinity");
    errors.push_back(invalid_value("nodeAffinity", now ? *now : json::Value(),
                                   "field is immutable, except for updating from beta label to "
                                   "GA"));
  }
}

// --- classes

void set_class_defaults(json::Object& object) {
  set_if_absent(object, "reclaimPolicy", "Delete");
  set_if_absent(object, "volumeBindingMode", "Immediate");
}

void validate_class(const json::Value& object, FieldErrors& errors) {
  if (text_in(object, "provisioner").empty()) errors.push_back(required_value("provisioner"));
  check_choice(errors, "reclaimPolicy", text_in(object, "reclaimPolicy"), {"Delete", "Retain"});
  check_choice(errors, "volumeBindingMode", text_in(object, "volumeBindingMode"),
               {"Immediate", "WaitForFirstConsumer"});
}

void validate_class_update(const json::Value& object, const json::Value& old, FieldErrors& errors) {
  for (const std::string_view field : {"parameters", "provisioner", "reclaimPolicy"})
    if (!same_at(object, old, fmt::format("/{}", field)))
      errors.push_back(
          forbidden(std::string(field), fmt::format("updates to {} are forbidden.", field)));
  if (!same_at(object, old, "/volumeBindingMode"))
    errors.push_back(invalid_value("volumeBindingMode", *member(object, "volumeBindingMode"),
                                   "field is immutable"));
}

}  // namespace

const BuiltinKind kClaimRules = {
    .api_version = "v1",
    .kind = "PersistentVolumeClaim",
    .set_defaults = set_claim_defaults,
    .admit = admit_claim,
    .prepare_for_create = prepare_claim,
    .validate = validate_claim,
    .validate_update = validate_claim_update,
};

const BuiltinKind kVolumeRules = {
    .api_version = "v1",
    .kind = "PersistentVolume",
    .namespaced = false,
    .set_defaults = set_volume_defaults,
    .admit = admit_volume,
    .prepare_for_create = prepare_volume,
    .validate = validate_volume,
    .validate_update = validate_volume_update,
};

const BuiltinKind kStorageClassRules = {
    .api_version = "storage.k8s.io/v1",
    .kind = "StorageClass",
    .namespaced = false,
    .has_status = false,
    .set_defaults = set_class_defaults,
    .validate = validate_class,
    .validate_update = validate_class_update,
};

}  // namespace quorate::apiserver
