#pragma once

#include <functional>
#include <map>
#include <string>

namespace quorate::node {

// Labels, annotations, data of Secrets and ConfigMaps.
using TextMap = std::map<std::string, std::string, std::less<>>;

}  // namespace quorate::node
