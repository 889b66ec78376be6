#pragma once

#include <string>
#include <vector>

#include "apiserver/refusal.h"
#include "apiserver/registry.h"

namespace quorate::apiserver {

// What a path speaks of.
struct Route {
  enum class Place {
    kDiscovery,   // /api, /apis, /version, ...: `parts` say which
    kCollection,  // all objects of a kind, or those of a namespace
    kObject,
    kSubresource,
    kNothing,  // no such path at all
  };
  Place place = Place::kNothing;
  std::vector<std::string> parts;
  const Kind* kind = nullptr;
  std::string ns;
  std::string name;
  std::string subresource;
};

// Refused with the server's words if the path is of an API group but of no kind that is served.
[[nodiscard]] Outcome<Route> find_route(const Registry& registry, const std::string& path);

}  // namespace quorate::apiserver
