#pragma once

#include <functional>

#include "node/nodes.h"
#include "sandbox/annex.h"
#include "sandbox/reach.h"

namespace quorate::sandbox {

// What `quorate sandbox` asks of a running sandbox, with the same credentials as everybody:
//
//   GET  /sandbox/nodes                             which there are, and how they are
//   POST /sandbox/nodes/NAME/stop|start|cut|mend    power off and on; pull the cable and put it
//   back POST /sandbox/reach/NAMESPACE/CLUSTER           the port of the host's loopback that leads
//   there
class Control final : public Annex {
 public:
  // `nodes` gives nullptr before they run.
  Control(std::function<node::Nodes*()> nodes, Reach& reach)
      : nodes_(std::move(nodes)), reach_(reach) {}

  bool serves(const net::ServerRequest& request) const override;
  Task<void> handle(net::ServerRequest request, net::Responder& responder) override;

 private:
  Task<Result<json::Value>> answer(std::string method, std::string path);
  Task<Result<void>> change_node(std::string name, std::string verb);
  Result<json::Value> list_nodes() const;

  std::function<node::Nodes*()> nodes_;
  Reach& reach_;
};

}  // namespace quorate::sandbox
