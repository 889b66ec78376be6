#pragma once

#include <memory>
#include <string>

#include "apiserver/server.h"
#include "kube/api.h"
#include "rt/clock.h"

namespace quorate::sim {

// Takes requests of the production Kubernetes client to an API server in the same process, inside
// of virtual time. Each call gives way to others once before the server takes the request and once
// before its answer is there, so a crash of the caller may fall before, between and after.
//
// The server outlives the link, and the link its streams.
class KubeLink : public kube::Api {
 public:
  struct Options {
    std::string user = "system:admin";
    std::string user_agent = "quorate/test";
  };

  // `here` is the caller's actor.
  KubeLink(rt::Runtime here, apiserver::Server& server, Options options);
  KubeLink(rt::Runtime here, apiserver::Server& server) : KubeLink(here, server, Options()) {}

  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override;
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override;

 private:
  Task<Result<apiserver::Answer>> exchange(net::Request request, rt::Deadline deadline);

  rt::Runtime here_;
  apiserver::Server& server_;
  Options options_;
};

// The request as the server takes it: path and query taken apart and unescaped.
[[nodiscard]] apiserver::Request to_server_request(const net::Request& request);

}  // namespace quorate::sim
