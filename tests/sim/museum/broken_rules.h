#pragma once

#include <span>

#include "plan/decide.h"

namespace quorate::sim {

// Tables in which one production rule is replaced by a broken one.
[[nodiscard]] std::span<const plan::Rule> rules_new_for_ever();
[[nodiscard]] std::span<const plan::Rule> rules_serving_at_once();
[[nodiscard]] std::span<const plan::Rule> rules_without_heal();

}  // namespace quorate::sim
