#pragma once

#include <map>
#include <string>
#include <vector>

#include "apiserver/controller_placement.h"
#include "json/document.h"

namespace quorate::apiserver {

// The hard topology spread constraints of one Pod (whenUnsatisfiable: DoNotSchedule): how many of
// the Pods that a constraint selects stand in each domain, and which nodes would make the fullest
// domain exceed the emptiest by more than maxSkew. Domains are those of the nodes that the Pod's
// node selector and affinity allow; taints do not matter to them.
class Spread {
 public:
  Spread(const json::Value& pod, const std::vector<json::Value>& nodes,
         const std::vector<Placed>& placed);

  // Why the node is not allowed, in the words of the real scheduler; empty if it is.
  [[nodiscard]] std::string refuse(const json::Value& node) const;

 private:
  struct Constraint {
    std::string key;
    std::int64_t most = 1;                      // maxSkew
    std::int64_t self = 0;                      // 1 if the Pod is one of those that it selects
    std::int64_t least = 0;                     // in the emptiest domain
    std::map<std::string, std::int64_t> count;  // by domain
  };
  std::vector<Constraint> constraints_;
};

}  // namespace quorate::apiserver
