#pragma once

#include <functional>

#include "node/pod_view.h"

namespace quorate::node {

// Secrets and ConfigMaps: names and bytes.
struct KeyedObject {
  kube::Meta meta;
  TextMap data;  // decoded
};
struct SecretView : KeyedObject {};
struct ConfigMapView : KeyedObject {};

void read(json::Reader& in, SecretView& out);
void read(json::Reader& in, ConfigMapView& out);

// What the objects that a Pod names hold now; nullptr if there is no such object. The answer is
// good until the next suspension.
struct ObjectFinder {
  std::function<const KeyedObject*(const ObjectKey&)> secret;
  std::function<const KeyedObject*(const ObjectKey&)> config_map;
};

}  // namespace quorate::node
