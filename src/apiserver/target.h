#pragma once

#include <string_view>

#include "apiserver/server.h"

namespace quorate::apiserver {

// Path and query of a request's target, taken apart and unescaped. What is malformed stays as it
// is.
void set_target(Request& request, std::string_view target);

}  // namespace quorate::apiserver
