#include "apiserver/controllers.h"

#include "apiserver/controller_budgets.h"
#include "apiserver/controller_endpoints.h"
#include "apiserver/controller_events.h"
#include "apiserver/controller_garbage.h"
#include "apiserver/controller_jobs.h"
#include "apiserver/controller_namespaces.h"
#include "apiserver/controller_scheduler.h"
#include "apiserver/controller_volumes.h"
#include "rt/group.h"

namespace quorate::apiserver {

Controllers::Controllers(rt::Runtime runtime, Verbs& verbs, Options options) : runtime_(runtime) {
  controllers_.push_back(std::make_unique<GarbageCollector>(runtime, verbs));
  controllers_.push_back(std::make_unique<NamespaceController>(runtime, verbs));
  controllers_.push_back(std::make_unique<NodeController>(runtime, verbs, options.nodes));
  controllers_.push_back(std::make_unique<VolumeController>(runtime, verbs, options.provisions));
  if (options.schedules) controllers_.push_back(std::make_unique<Scheduler>(runtime, verbs));
  controllers_.push_back(std::make_unique<EndpointController>(runtime, verbs));
  controllers_.push_back(std::make_unique<BudgetController>(runtime, verbs));
  controllers_.push_back(std::make_unique<JobController>(runtime, verbs));
  controllers_.push_back(std::make_unique<EventController>(runtime, verbs));
}

Controllers::~Controllers() = default;

Task<void> Controllers::run() {
  rt::TaskGroup group(runtime_);
  for (const auto& controller : controllers_) group.spawn(controller->name(), controller->run());
  co_await group.join();
}

}  // namespace quorate::apiserver
