#pragma once

#include <span>
#include <string>
#include <vector>

#include "plan/situation.h"
#include "plan/verdict.h"

namespace quorate::plan {

// Ready, Available, Progressing, Degraded, Frozen, CertificatesValid: always all of them, in this
// order.
[[nodiscard]] std::vector<api::Condition> make_conditions(const Situation& now,
                                                          std::span<const Ruling> rulings,
                                                          const api::ClusterStatus& status);

// What is going on, in a plain sentence.
[[nodiscard]] std::string make_phase(const Situation& now, std::span<const Ruling> rulings,
                                     const api::ClusterStatus& status);

}  // namespace quorate::plan
