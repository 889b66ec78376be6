#pragma once

#include <memory>
#include <vector>

#include "apiserver/controller.h"
#include "apiserver/controller_nodes.h"
#include "apiserver/verbs.h"
#include "rt/clock.h"

namespace quorate::apiserver {

// The controllers that a Kubernetes control plane runs beside its API, as far as Quorate meets
// them: garbage collection, namespaces, the scheduler, volumes, EndpointSlices, disruption budgets,
// Jobs, nodes and the expiry of Events. Each runs in a fiber of its own.
class Controllers {
 public:
  struct Options {
    NodeTiming nodes;
    bool schedules = true;   // false: Pods are given their nodes by somebody else, or none
    bool provisions = true;  // false: volumes are made, grown and deleted by somebody else
  };
  Controllers(rt::Runtime runtime, Verbs& verbs, Options options);
  ~Controllers();

  // Until cancelled. Once.
  Task<void> run();

 private:
  rt::Runtime runtime_;
  std::vector<std::unique_ptr<Controller>> controllers_;
};

}  // namespace quorate::apiserver
