#pragma once

#include <functional>

#include "node/nodes.h"
#include "sandbox/annex.h"
#include "sandbox/reach.h"
#include "sandbox/switches.h"

namespace quorate::sandbox {

// What `quorate sandbox` asks of a running sandbox, with the same credentials as everybody:
//
//   GET  /sandbox/nodes                           which there are, and how they are
//   POST /sandbox/nodes/NAME/stop|start|cut|mend  its power, and its cable
//   POST /sandbox/reach/NAMESPACE/CLUSTER         the port of the host's loopback that leads there
//
// What was done to a node is kept for the next start before it is answered.
class Control final : public Annex {
 public:
  // `nodes` gives nullptr before they run.
  Control(rt::Runtime runtime, std::function<node::Nodes*()> nodes, SwitchFile& switches,
          Reach& reach)
      : runtime_(runtime), nodes_(std::move(nodes)), switches_(switches), reach_(reach) {}

  bool serves(const net::ServerRequest& request) const override;
  Task<void> handle(net::ServerRequest request, net::Responder& responder) override;

 private:
  Task<Result<json::Value>> answer(std::string method, std::string path);
  Task<Result<json::Value>> answer_nodes(std::string method, std::vector<std::string> parts);
  // Right after the start they take a moment.
  Task<Result<node::Nodes*>> await_nodes();
  static Task<Result<void>> change_node(node::Nodes& nodes, std::string name, std::string verb);

  rt::Runtime runtime_;
  std::function<node::Nodes*()> nodes_;
  SwitchFile& switches_;
  Reach& reach_;
};

}  // namespace quorate::sandbox
