#pragma once

#include <string>
#include <variant>
#include <vector>

#include "json/document.h"
#include "node/claim_view.h"

namespace quorate::node {

// Volumes for claims: directories of a node, with a `local` PersistentVolume for each that ties its
// Pods to that node. Binding is the API's own business (its volume controller).

inline constexpr const char* kProvisioner = "quorate.io/local";
inline constexpr const char* kStorageClass = "local";

struct ClaimFacts {
  std::string node;
  std::string volumes;  // directory of the node's volumes
  std::vector<const ClaimView*> claims;
  std::vector<const VolumeView*> persistent_volumes;
  std::vector<const ClassView*> classes;
};

// Make the directory, then the PersistentVolume: a volume that exists has its directory.
struct Provision {
  std::string directory;
  json::Value volume;
};
// The claim is gone and the class says Delete: the directory goes first, then the object. A
// directory is never removed on another ground.
struct Reclaim {
  std::string name;
  Uid uid;
  std::string directory;
};
// A larger request of a bound claim; directories have no size, so only the objects change.
struct Grow {
  std::string volume;
  ObjectKey claim;
  Uid claim_uid;
  json::Quantity size;
};
using ClaimStep = std::variant<Provision, Reclaim, Grow>;

// What this node has to do. Pure; says the same again until it is done.
//
// Claims wait for their first consumer: the scheduler names the node (annotation selected-node).
[[nodiscard]] std::vector<ClaimStep> decide_claims(const ClaimFacts& facts);

[[nodiscard]] json::Value make_storage_class();

}  // namespace quorate::node
