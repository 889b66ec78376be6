#pragma once

#include <span>
#include <string>
#include <vector>

#include "plan/situation.h"
#include "plan/verdict.h"

namespace quorate::plan {

// There only while it is True: what is declared can be had, and has its price (api::warnings).
inline constexpr std::string_view kConditionDiscouraged = "Discouraged";

// Ready, Available, Progressing, Degraded, Frozen, CertificatesValid: always all of them, in this
// order; then Discouraged, only if it is True.
[[nodiscard]] std::vector<api::Condition> make_conditions(const Situation& now,
                                                          std::span<const Ruling> rulings,
                                                          const api::ClusterStatus& status);

// What is going on, in a plain sentence.
[[nodiscard]] std::string make_phase(const Situation& now, std::span<const Ruling> rulings,
                                     const api::ClusterStatus& status);

}  // namespace quorate::plan
