#pragma once

#include "apiserver/controller.h"

namespace quorate::apiserver {

// Empties namespaces that are being deleted and lets them go once nothing is left; gives every
// other one its default service account.
class NamespaceController : public Controller {
 public:
  NamespaceController(rt::Runtime runtime, Verbs& verbs);

 private:
  void note(const Change& change) override;
  void reconcile(const WorkKey& work) override;
  // How many objects are left. Those that are not on their way are sent.
  std::size_t empty(const std::string& ns);
  std::size_t empty_of(const Kind& kind, const std::string& ns);
  void give_account(const std::string& ns);
};

}  // namespace quorate::apiserver
