#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/sim/plans/scenario.h"

namespace quorate::sim {

// One declaration of a user, good or bad: the whole spec, and what was done to one property of it.
struct Edit {
  Duration at{};
  std::string property;  // storage.claim.size; empty: the base is declared again
  std::string how;       // set, changed, unset, rolled back
  json::Value spec;
  friend bool operator==(const Edit&, const Edit&) = default;
};

// Every property of an EtcdCluster's spec that has a value of its own, from the resource's schema.
[[nodiscard]] const std::vector<std::string>& spec_properties();

// A campaign: one property after the other is set, changed and unset, to values that the schema
// allows and to some that it does not; half of the edits are rolled back by the next. Empty for
// scenarios without a base.
[[nodiscard]] std::vector<Edit> draw_edits(const Scenario& scenario, std::uint64_t seed);

// Declares the base; where that is refused (a volume cannot shrink), as much of it as is accepted.
void declare_base(World& world, const std::string& cluster, const json::Value& base);

[[nodiscard]] json::Value encode(const std::vector<Edit>& edits);
[[nodiscard]] Result<std::vector<Edit>> decode_edits(const json::Value& value);

}  // namespace quorate::sim
