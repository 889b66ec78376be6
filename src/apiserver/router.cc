#include "apiserver/router.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace quorate::apiserver {

namespace {

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (const auto part : split(path, '/'))
    if (!part.empty()) parts.emplace_back(part);
  return parts;
}

bool has_subresource(const Kind& kind, const std::string& name) {
  if (name == "status") return kind.has_status;
  if (name == "scale") return kind.scale.has_value();
  return std::find(kind.subresources.begin(), kind.subresources.end(), name) !=
         kind.subresources.end();
}

// What stands behind group and version: [namespaces/NS/]PLURAL[/NAME[/SUBRESOURCE]].
Outcome<Route> resource_route(const Registry& registry, const std::string& group,
                              const std::string& version, std::vector<std::string> rest) {
  Route route;
  // "namespaces/x" and "namespaces/x/status" speak of the namespace itself.
  const bool inside = rest.size() >= 3 && rest[0] == "namespaces" &&
                      !(group.empty() && rest.size() == 3 &&
                        has_subresource(*registry.built_in().namespaces, rest[2]));
  if (inside) {
    route.ns = rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  route.kind = registry.find(group, version, rest[0]);
  if (!route.kind || rest.size() > 3 || (inside && !route.kind->namespaced) ||
      (!inside && route.kind->namespaced && rest.size() > 1))
    return fail(no_such_path());
  if (rest.size() > 1) route.name = rest[1];
  if (rest.size() > 2) route.subresource = rest[2];
  if (!route.subresource.empty() && !has_subresource(*route.kind, route.subresource))
    return fail(route.kind->custom ? not_found(route.kind->resource(), route.name)
                                   : no_such_path());
  route.place = rest.size() == 1   ? Route::Place::kCollection
                : rest.size() == 2 ? Route::Place::kObject
                                   : Route::Place::kSubresource;
  return route;
}

}  // namespace

Outcome<Route> find_route(const Registry& registry, const std::string& path) {
  auto parts = parts_of(path);
  Route route;
  if (parts.empty()) return route;
  const bool core = parts[0] == "api";
  if (!core && parts[0] != "apis") {
    const bool known = parts[0] == "version" || parts[0] == "healthz" || parts[0] == "readyz" ||
                       parts[0] == "livez" || parts[0] == "openapi";
    if (known) route.place = Route::Place::kDiscovery;
    route.parts = std::move(parts);
    return route;
  }
  const std::size_t head = core ? 2 : 3;  // api/v1, apis/group/version
  if (parts.size() <= head) {
    route.place = Route::Place::kDiscovery;
    route.parts = std::move(parts);
    return route;
  }
  const std::string group = core ? "" : parts[1];
  const std::string version = parts[head - 1];
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(head));
  return resource_route(registry, group, version, std::move(parts));
}

}  // namespace quorate::apiserver
