#pragma once

#include <cstdint>

#include "conform_kube_sequence.h"

namespace quorate::conform {

// Sequences with a subject of their own, which single random requests seldom meet: evictions
// against budgets, owners and finalizers, watches that are resumed, lists in pages, appliers that
// fight over fields, scales. The same for the same seed.
[[nodiscard]] Sequence make_story(std::uint64_t seed);

}  // namespace quorate::conform
