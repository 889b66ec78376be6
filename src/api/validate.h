#pragma once

#include <string_view>

#include "api/cluster.h"
#include "api/problem.h"
#include "base/ids.h"

// All validation of what people declare. The CRD's schema and CEL rules say the same where they
// can; this runs in the operator, so that a cluster without admission is protected as well.
namespace quorate::api {

// What is wrong with a declaration by itself. `version` is what runs if it declares none.
[[nodiscard]] Problems validate(const ClusterSpec& spec,
                                const EtcdVersion& version = default_etcd_version());

// The name of a cluster, from which others are derived.
[[nodiscard]] Problems validate_name(std::string_view cluster);

// What is wrong with going from one valid declaration to another. `formed`: the cluster holds data,
// or may hold some.
[[nodiscard]] Problems validate_change(const ClusterSpec& before, const ClusterSpec& after,
                                       bool formed);

// Allowed, and worth a word: even sizes, versions out of support, plain clients.
[[nodiscard]] Problems warnings(const ClusterSpec& spec);

}  // namespace quorate::api
