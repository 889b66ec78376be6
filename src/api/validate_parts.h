#pragma once

#include <string>

#include "api/cluster.h"
#include "api/problem.h"

// The parts of validate() that have files of their own: what no single field can say.
namespace quorate::api {

void check_pod_template(const ClusterSpec& spec, Problems& problems);
void check_services(const ServicesSpec& services, Problems& problems);
// Keys that are ours are refused.
void check_metadata(const ClusterSpec& spec, Problems& problems);
void check_placement(const PlacementSpec& placement, Problems& problems);
void check_selector(const std::string& path, const LabelSelector& selector, Problems& problems);

}  // namespace quorate::api
