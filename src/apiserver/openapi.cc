#include "apiserver/openapi.h"

#include <fmt/format.h>

#include <utility>

#include "apiserver/discovery.h"
#include "apiserver/openapi_parts.h"

namespace quorate::apiserver {

namespace {

std::string place_of(const Kind& kind) {
  return kind.group.empty() ? fmt::format("api/{}", kind.version)
                            : fmt::format("apis/{}/{}", kind.group, kind.version);
}

json::Value make_index(const Registry& registry) {
  json::Object paths;
  for (const auto& kind : registry.kinds()) {
    const auto place = place_of(*kind);
    paths[place] = json::Object{{"serverRelativeURL", fmt::format("/openapi/v3/{}", place)}};
  }
  return json::Object{{"paths", std::move(paths)}};
}

}  // namespace

std::optional<json::Value> find_openapi(const Registry& registry,
                                        const std::vector<std::string>& parts) {
  if (parts.empty()) return make_index(registry);
  const auto wanted = fmt::format("{}", fmt::join(parts, "/"));
  json::Object paths;
  Components components(parts.size() == 3 ? parts[1] : "");
  for (const auto& kind : registry.kinds())
    if (place_of(*kind) == wanted) add_paths(paths, *kind, components);
  if (paths.empty()) return std::nullopt;
  return json::Object{
      {"openapi", "3.0.0"},
      {"info", json::Object{{"title", "Kubernetes"}, {"version", kKubernetesVersion}}},
      {"paths", std::move(paths)},
      {"components", json::Object{{"schemas", components.take()}}}};
}

}  // namespace quorate::apiserver
