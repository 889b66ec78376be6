#pragma once

#include <string>
#include <vector>

#include "node/pod_view.h"

namespace quorate::node {

// Reads one of a Pod's volumes. `unsupported` grows by what is not honoured.
void read_volume(json::Reader& in, Volume& out, std::vector<std::string>& unsupported);

// An integer that fits; else the reader fails.
int read_small_number(json::Reader& in);

}  // namespace quorate::node
