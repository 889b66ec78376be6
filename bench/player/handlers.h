#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "apiserver/server.h"
#include "bench/player/fleet.h"
#include "net/server.h"

namespace quorate::bench {

// What was asked of the player since it was last told to count anew.
struct Counters {
  std::map<std::string, std::uint64_t> requests;  // "POST pods", "GET leases", "WATCH secrets"
  std::map<std::string, std::uint64_t> calls;     // of members: "Maintenance/Status"
  std::uint64_t refused = 0;                      // requests that were answered by an error
};

// The Kubernetes API over HTTP.
class KubeHandler final : public net::Handler {
 public:
  KubeHandler(rt::Runtime runtime, apiserver::Server& server, Counters& counters)
      : runtime_(runtime), server_(server), counters_(counters) {}
  Task<void> handle(net::ServerRequest request, net::Responder& responder) override;

 private:
  Task<Result<void>> stream(apiserver::Watch& watch, net::Responder& responder);
  void count(const apiserver::Request& request);

  rt::Runtime runtime_;
  apiserver::Server& server_;
  Counters& counters_;
};

// The members' client port: gRPC, as the one whose address was called.
class MemberHandler final : public net::Handler {
 public:
  MemberHandler(const Fleet& fleet, Counters& counters) : fleet_(fleet), counters_(counters) {}
  Task<void> handle(net::ServerRequest request, net::Responder& responder) override;

 private:
  const Fleet& fleet_;
  Counters& counters_;
};

// For whoever measures: `POST /NAME?number` calls a command, whose answer is JSON.
class ControlHandler final : public net::Handler {
 public:
  using Command = std::function<Task<Result<json::Value>>(int number)>;
  explicit ControlHandler(std::map<std::string, Command> commands)
      : commands_(std::move(commands)) {}
  Task<void> handle(net::ServerRequest request, net::Responder& responder) override;

 private:
  std::map<std::string, Command> commands_;
};

}  // namespace quorate::bench
