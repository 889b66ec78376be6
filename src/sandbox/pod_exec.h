#pragma once

#include <functional>

#include "apiserver/server.h"
#include "kube/exec.h"
#include "net/websocket_server.h"
#include "node/nodes.h"
#include "sandbox/annex.h"

namespace quorate::sandbox {

struct ExecStreams;
struct PodRequest;

// `kubectl exec`: pods/NAME/exec, a command in a running container over a WebSocket of the protocol
// v5.channel.k8s.io, with its input, output, errors and exit code, or with a terminal.
class PodExec final : public Annex {
 public:
  // `nodes` gives nullptr before they run.
  PodExec(rt::Runtime runtime, apiserver::Server& api, std::function<node::Nodes*()> nodes)
      : runtime_(runtime), api_(api), nodes_(std::move(nodes)) {}

  bool serves(const net::ServerRequest& request) const override;
  Task<void> handle(net::ServerRequest request, net::Responder& responder) override;

 private:
  struct Running {
    node::PodRunner* pod;
    std::string container;
  };
  Result<Running> find_running(const PodRequest& request) const;
  // Our ends of its standard streams are put into `streams`.
  Result<node::Spawned> start(const PodRequest& request, ExecStreams& streams) const;
  Result<node::Spawned> start_at_terminal(const PodRequest& request, ExecStreams& streams) const;
  Task<Result<rt::Exit>> run(PodRequest request, net::WebSocketServer& socket,
                             ExecStreams& streams);
  Task<Result<rt::Exit>> converse(net::WebSocketServer& socket, rt::Child& child,
                                  ExecStreams& streams);
  Task<void> pass_output(net::WebSocketServer& socket, kube::ExecChannel channel,
                         net::Socket& pipe);
  Task<void> pass_input(net::WebSocketServer& socket, ExecStreams& streams, rt::Child& child);
  Task<Result<void>> say_end(net::WebSocketServer& socket, std::string status);

  rt::Runtime runtime_;
  apiserver::Server& api_;
  std::function<node::Nodes*()> nodes_;
};

}  // namespace quorate::sandbox
