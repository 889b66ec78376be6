// Verbs: the subresource scale, an autoscaling/v1 Scale in front of an object's replicas.

#include <fmt/format.h>

#include <utility>

#include "apiserver/metadata.h"
#include "apiserver/verbs.h"
#include "json/patch.h"

namespace quorate::apiserver {

namespace {

json::Value make_scale(const Kind& kind, const json::Value& object) {
  json::Object metadata;
  for (const char* member : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
    if (const auto* value = json::find(object, fmt::format("/metadata/{}", member)))
      metadata[member] = *value;
  json::Object spec, status;
  if (const auto replicas = json::integer_at(object, kind.scale->replicas); replicas && *replicas)
    spec["replicas"] = *replicas;
  status["replicas"] = json::integer_at(object, kind.scale->status_replicas).value_or(0);
  const auto selector =
      kind.scale->selector.empty() ? "" : json::text_or(object, kind.scale->selector, "");
  if (!selector.empty()) status["selector"] = selector;
  return json::Object{{"kind", "Scale"},
                      {"apiVersion", "autoscaling/v1"},
                      {"metadata", std::move(metadata)},
                      {"spec", std::move(spec)},
                      {"status", std::move(status)}};
}

}  // namespace

Outcome<json::Value> Verbs::get_scale(const Kind& kind, const ObjectKey& key) const {
  TRY(const auto object, get(kind, key));
  return make_scale(kind, *object);
}

Outcome<json::Value> Verbs::update_scale(const Kind& kind, const ObjectKey& key, json::Value scale,
                                         const WriteOptions& options) {
  TRY(const auto live, get(kind, key));
  auto object = *live;
  if (json::text_or(scale, "/kind", "Scale") != "Scale")
    return fail(bad_request(fmt::format("{} in version \"{}\" cannot be handled as a Scale",
                                        json::text_or(scale, "/kind", ""),
                                        json::text_or(scale, "/apiVersion", ""))));
  if (name_of(scale).empty())
    return fail(bad_request(fmt::format(
        "the name of the object ({} based on URL) was undeterminable: name must be provided",
        key.name)));
  if (name_of(scale) != key.name)
    return fail(bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                    name_of(scale), key.name)));
  const auto replicas = json::integer_at(scale, "/spec/replicas").value_or(0);
  if (!version_of(scale).empty()) copy_metadata(object, scale, "resourceVersion");
  (void)json::put(object, kind.scale->replicas, replicas);
  auto through = options;
  through.subresource = "scale";
  track_scale(object, *live, kind.scale->replicas, writer(kind, through));
  TRY(const auto written, store_change({kind, key}, std::move(object), live, through));
  return make_scale(kind, *written.object);
}

Outcome<json::Value> Verbs::patch_scale(const Kind& kind, const ObjectKey& key, PatchType type,
                                        const json::Value& patch, const WriteOptions& options) {
  TRY(const auto object, get(kind, key));
  TRY(auto scale, patched(kind, make_scale(kind, *object), type, patch));
  return update_scale(kind, key, std::move(scale), options);
}

}  // namespace quorate::apiserver
