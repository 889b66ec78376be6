#pragma once

#include <deque>
#include <memory>

#include "apiserver/server.h"
#include "apiserver/storage.h"
#include "rt/signal.h"

namespace quorate::bench {

// A node that is always quick and well: every Pod runs, as soon as it may, and is ready under an
// address of its own (198.18.0.0/16), every claim is bound, and what is to be deleted goes.
class Kubelet {
 public:
  Kubelet(rt::Runtime runtime, apiserver::Server& server);

  // Until cancelled.
  Task<void> run();

 private:
  void note(const apiserver::Event& event);
  void work_on(const apiserver::Kind& kind, const ObjectKey& key);
  void start_pod(const ObjectKey& key, const json::Value& pod);
  std::string next_address();

  rt::Runtime runtime_;
  apiserver::Server& server_;
  rt::Signal work_;
  std::deque<std::pair<const apiserver::Kind*, ObjectKey>> waiting_;
  unsigned addresses_ = 0;
  std::shared_ptr<apiserver::Storage::Listener> listener_;
};

}  // namespace quorate::bench
