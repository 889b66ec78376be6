#pragma once

#include <functional>

#include "apiserver/server.h"
#include "node/nodes.h"
#include "sandbox/annex.h"

namespace quorate::sandbox {

struct PodRequest;

// `kubectl logs`: pods/NAME/log, from the files that the Pod's node keeps. It knows follow,
// previous, tailLines, sinceSeconds, sinceTime, limitBytes and timestamps.
class PodLogs final : public Annex {
 public:
  // `nodes` gives nullptr before they run.
  PodLogs(rt::Runtime runtime, apiserver::Server& api, std::function<node::Nodes*()> nodes)
      : runtime_(runtime), api_(api), nodes_(std::move(nodes)) {}

  bool serves(const net::ServerRequest& request) const override;
  Task<void> handle(net::ServerRequest request, net::Responder& responder) override;

 private:
  struct Reading;
  Result<std::optional<WallTime>> find_since(const PodRequest& request) const;
  Result<Reading> open(const net::ServerRequest& request);
  Task<Result<void>> send(Reading reading, net::Responder& responder);
  bool may_say_more(const Reading& reading) const;

  rt::Runtime runtime_;
  apiserver::Server& api_;
  std::function<node::Nodes*()> nodes_;
};

}  // namespace quorate::sandbox
