#pragma once

#include <string>
#include <string_view>

#include "api/metadata.h"
#include "json/document.h"

// spec.podTemplate: what is merged over the Pods of members. It may add containers, volumes and
// mounts, and choose what has no field of its own; it may not change what etcd is started with,
// where its data is and where it is reached, nor give the Pod more rights. What a field of
// EtcdCluster says is said there (pod_template.cc checks all that).
namespace quorate::api {

// An object of JSON that is kept as it is, as compact text with sorted keys; empty if absent.
struct RawObject {
  std::string text;
  [[nodiscard]] json::Value value() const;  // {} if absent
  friend bool operator==(const RawObject&, const RawObject&) = default;

  template <class Visit>
  friend void each_field(Visit& visit, RawObject& raw) {
    visit(raw.text);
  }
};

struct PodTemplate {
  MetadataSpec metadata;
  RawObject spec;
  friend bool operator==(const PodTemplate&, const PodTemplate&) = default;
};

}  // namespace quorate::api
