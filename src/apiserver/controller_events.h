#pragma once

#include "apiserver/controller.h"

namespace quorate::apiserver {

// Lets Events go an hour after they were last written, as the real server's storage does.
class EventController : public Controller {
 public:
  EventController(rt::Runtime runtime, Verbs& verbs);

 private:
  void note(const Change& change) override;
  void reconcile(const WorkKey& work) override;
};

}  // namespace quorate::apiserver
