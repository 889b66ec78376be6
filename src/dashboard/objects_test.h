#pragma once

#include <stdexcept>
#include <string>

#include "json/patch.h"
#include "json/timestamp.h"
#include "kube/object.h"

// Objects as an API server sends them, for the tests here.
namespace quorate::dashboard {

template <class View>
View read_as(const std::string& text) {
  auto view = kube::Object(text).as<View>();
  if (!view) throw std::runtime_error(view.error().text());
  return std::move(*view);
}

inline WallTime at(const char* time) { return json::parse_time(time).value(); }

// A cluster n/c of one member, with these fields over the usual ones (a merge patch).
template <class View>
View make_cluster(const std::string& patch = "{}") {
  auto object = json::parse(R"({
    "metadata": {"name": "c", "namespace": "n", "uid": "u", "generation": 1,
                 "creationTimestamp": "2026-05-01T09:00:00Z"},
    "spec": {"replicas": 1, "version": "3.6.16"},
    "status": {"observedGeneration": 1, "phase": "Ready", "ready": "1/1", "leader": "c-0",
      "version": {"current": "3.6.16", "target": "3.6.16"}, "clusterID": "cafe",
      "members": [{"name": "c-0", "id": "100", "role": "Voter", "ready": true}],
      "conditions": [{"type": "Ready", "status": "True", "reason": "AsDeclared", "message": "",
                      "lastTransitionTime": "2026-05-01T10:00:00Z"}]}})");
  return read_as<View>(
      json::render(json::apply_merge_patch(std::move(*object), json::parse(patch).value())));
}

}  // namespace quorate::dashboard
