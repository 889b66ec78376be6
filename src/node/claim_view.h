#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/quantity.h"
#include "kube/object.h"
#include "node/pod_view.h"

namespace quorate::node {

struct ClaimView {
  kube::Meta meta;
  std::string class_name;
  std::string selected_node;  // annotation of the scheduler: where its first Pod goes
  std::string volume_name;    // empty: not bound
  std::vector<std::string> access_modes;
  json::Quantity request;
  std::optional<json::Quantity> capacity;  // of status
  std::string phase;
};
void read(json::Reader& in, ClaimView& out);

struct VolumeView {
  kube::Meta meta;
  std::string provisioned_by;  // annotation
  std::string path;            // `local`
  std::string node;            // of the node affinity
  std::string phase;
  std::string reclaim_policy;
  json::Quantity capacity;
  ObjectKey claim;
  Uid claim_uid;
};
void read(json::Reader& in, VolumeView& out);

struct ClassView {
  kube::Meta meta;
  std::string provisioner;
  std::string reclaim_policy = "Delete";
};
void read(json::Reader& in, ClassView& out);

}  // namespace quorate::node
