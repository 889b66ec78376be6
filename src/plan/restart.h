#pragma once

#include <string_view>

#include "plan/situation.h"
#include "plan/verdict.h"

namespace quorate::plan {

// Restarts a member so that it is as declared: by another image, if nothing else differs, else by a
// new Pod, which `ensure` makes. The version that it will have is written on its record before
// that.
[[nodiscard]] Finding restart(const Situation& now, std::string_view rule, const Member& member,
                              const Permit& permit, std::string_view why);

}  // namespace quorate::plan
