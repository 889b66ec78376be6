#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apiserver/server.h"
#include "kube/api.h"
#include "rt/clock.h"
#include "rt/signal.h"
#include "tests/sim/faults/audit.h"
#include "tests/sim/faults/plan.h"

namespace quorate::sim {

// What becomes of one call.
struct CallFate {
  bool lose_request = false;
  bool lose_reply = false;
  int status = 0;  // answered with this, and not carried out
  Duration delay{};
  std::optional<Moment> crash;
  std::uint64_t effect = 0;  // its number, if it is a side effect
};

// How the streams of a replica are at the moment.
struct StreamWeather {
  bool frozen = false;
  bool duplicate = false;
  bool forgetful = false;        // what is resumed is answered 410
  std::uint64_t generation = 0;  // streams opened under an earlier one are half-open
  bool outage = false;           // they break
};

// Who decides about calls.
class Judge {
 public:
  virtual ~Judge() = default;
  virtual CallFate judge(const std::string& actor, const apiserver::Request& request) = 0;
  // Of a call that changes an etcd cluster.
  virtual CallFate judge_change(const std::string& actor, const std::string& operation,
                                const std::string& object) = 0;
  virtual StreamWeather weather(const std::string& actor) const = 0;
  // Notified whenever the weather changes.
  virtual rt::Signal& changed(const std::string& actor) = 0;
  // The caller is to be killed; nothing of it runs any more after this was
  // called and it waits.
  virtual void doom(const std::string& actor) = 0;
  virtual bool doomed(const std::string& actor) const = 0;
};

// The way from one operator replica to the API server, with all that may befall
// it. Every request that arrives is written into the audit log.
class FaultyLink : public kube::Api {
 public:
  FaultyLink(rt::Runtime here, std::string actor, apiserver::Server& server, Judge& judge,
             Audit& audit);

  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override;
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override;

 private:
  Task<Result<apiserver::Answer>> exchange(net::Request request, rt::Deadline deadline);
  apiserver::Answer serve(const apiserver::Request& request, const CallFate& fate);
  Duration latency();

  rt::Runtime here_;
  std::string actor_;
  apiserver::Server& server_;
  Judge& judge_;
  Audit& audit_;
};

// Who holds the operators' Lease; empty if nobody does.
[[nodiscard]] std::string lease_holder(apiserver::Server& server);

// Whether the request changes anything that matters: leases and Events do not
// count.
[[nodiscard]] bool is_effect(const apiserver::Request& request);

}  // namespace quorate::sim
