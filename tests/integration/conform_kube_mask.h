#pragma once

#include "conform_kube_run.h"

namespace quorate::conform {

// The transcript with what is rightly different made equal: UIDs, generated names and versions of
// objects are numbered by first appearance, times and addresses are left out, what has no promised
// order is sorted.
[[nodiscard]] Transcript mask(Transcript transcript);

// One document in the same way but without numbers: for what stands in no promised order.
[[nodiscard]] json::Value blank(json::Value document);

}  // namespace quorate::conform
