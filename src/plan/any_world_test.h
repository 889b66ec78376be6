#pragma once

#include "plan/world_test.h"

// Generated observations, for properties.
namespace quorate::plan {

// Made of unrelated facts, whether they can come about or not.
World hostile_world();
// Made by disturbing a world in which a cluster lives.
World disturbed_world();
// Either.
World any_world();

}  // namespace quorate::plan
