#include "api/cluster.h"

#include <algorithm>

namespace quorate::api {

const Condition* ClusterStatus::find_condition(std::string_view type) const {
  auto found = std::find_if(conditions.begin(), conditions.end(),
                            [&](const Condition& condition) { return condition.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

}  // namespace quorate::api
