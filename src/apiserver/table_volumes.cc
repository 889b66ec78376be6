// Volumes, claims and storage classes as rows.

#include <algorithm>
#include <utility>

#include "apiserver/metadata.h"
#include "apiserver/table_cells.h"
#include "apiserver/table_printers.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

// In this order, each once: RWO,ROX,RWX,RWOP.
std::string access_modes(const json::Value& object, std::string_view pointer) {
  constexpr std::pair<std::string_view, std::string_view> kModes[] = {{"ReadWriteOnce", "RWO"},
                                                                      {"ReadOnlyMany", "ROX"},
                                                                      {"ReadWriteMany", "RWX"},
                                                                      {"ReadWriteOncePod", "RWOP"}};
  const auto given = texts_of(object, pointer);
  std::vector<std::string_view> shown;
  for (const auto& [mode, abbreviation] : kModes)
    if (std::find(given.begin(), given.end(), mode) != given.end()) shown.push_back(abbreviation);
  return join(shown, ",");
}

// The old annotation counts before the field.
std::string class_of(const json::Value& object) {
  const auto old =
      json::text_at(object, "/metadata/annotations/volume.beta.kubernetes.io~1storage-class");
  return old ? std::string(*old) : text_of(object, "/spec/storageClassName");
}

std::string phase_of(const json::Value& object) {
  return is_deleting(object) ? "Terminating" : text_of(object, "/status/phase");
}

std::string or_unset(const json::Value& object, std::string_view pointer) {
  return std::string(json::text_or(object, pointer, "<unset>"));
}

bool is_default(const json::Value& storage_class) {
  for (const auto* annotation :
       {"/metadata/annotations/storageclass.kubernetes.io~1is-default-class",
        "/metadata/annotations/storageclass.beta.kubernetes.io~1is-default-class"})
    if (json::text_or(storage_class, annotation, "") == "true") return true;
  return false;
}

}  // namespace

Row print_claim(const json::Value& claim, WallTime now) {
  const auto volume = text_of(claim, "/spec/volumeName");
  const bool bound = !volume.empty();
  return {.cells = {text_of(claim, "/metadata/name"), phase_of(claim), volume,
                    bound ? or_else(text_of(claim, "/status/capacity/storage"), "0") : "",
                    bound ? access_modes(claim, "/status/accessModes") : "", class_of(claim),
                    or_unset(claim, "/spec/volumeAttributesClassName"), age_of(claim, now),
                    or_unset(claim, "/spec/volumeMode")}};
}

Row print_volume(const json::Value& volume, WallTime now) {
  std::string claim;
  if (json::find(volume, "/spec/claimRef"))
    claim =
        text_of(volume, "/spec/claimRef/namespace") + "/" + text_of(volume, "/spec/claimRef/name");
  return {.cells = {text_of(volume, "/metadata/name"),
                    or_else(text_of(volume, "/spec/capacity/storage"), "0"),
                    access_modes(volume, "/spec/accessModes"),
                    text_of(volume, "/spec/persistentVolumeReclaimPolicy"), phase_of(volume), claim,
                    class_of(volume), or_unset(volume, "/spec/volumeAttributesClassName"),
                    text_of(volume, "/status/reason"), age_of(volume, now),
                    or_unset(volume, "/spec/volumeMode")}};
}

Row print_storage_class(const json::Value& storage_class, WallTime now) {
  return {.cells = {text_of(storage_class, "/metadata/name") +
                        (is_default(storage_class) ? " (default)" : ""),
                    text_of(storage_class, "/provisioner"),
                    json::text_or(storage_class, "/reclaimPolicy", "Delete"),
                    json::text_or(storage_class, "/volumeBindingMode", "Immediate"),
                    json::flag_at(storage_class, "/allowVolumeExpansion").value_or(false),
                    age_of(storage_class, now)}};
}

}  // namespace quorate::apiserver
