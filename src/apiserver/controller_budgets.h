#pragma once

#include "apiserver/controller.h"

namespace quorate::apiserver {

// Counts the Pods of each PodDisruptionBudget and says in its status how many may go.
class BudgetController : public Controller {
 public:
  BudgetController(rt::Runtime runtime, Verbs& verbs);

 private:
  void note(const Change& change) override;
  void reconcile(const WorkKey& work) override;
  void mark_budgets_of(const std::string& ns, const json::Value& pod);

  struct Count {
    std::int64_t expected = 0, healthy = 0, desired = 0;
  };
  Count count(const json::Value& budget, const std::string& ns, const json::Object& disrupted);
  // How many Pods there should be, by those who control them.
  std::int64_t wanted(const std::vector<Decoded>& pods, const std::string& ns);
  // Evictions that were granted and have not shown yet; those too old are forgotten.
  json::Object disrupted_pods(const json::Value& budget, const WorkKey& work);
};

}  // namespace quorate::apiserver
