#include "tests/sim/replica.h"

#include "base/check.h"
#include "operator/operator.h"
#include "tests/sim/keys.h"

namespace quorate::sim {

// Everything that a process of the operator owns.
struct Replica::Run {
  Run(const Place& place, rt::Runtime runtime, const std::string& actor, std::uint64_t number)
      : link(runtime, actor, place.api, place.judge, place.audit),
        lease_link(runtime, actor, place.api, place.judge, place.audit),
        members(place.etcd, runtime, actor),
        member_link(runtime, actor, members, place.api, place.judge, place.audit),
        keys(number),
        group(runtime) {
    if (place.wrap) wrapped = place.wrap(runtime, link);
    if (place.wrap_etcd) wrapped_members = place.wrap_etcd(runtime, member_link, members);
    auto options = place.options;
    options.replica = actor;
    auto made = op::Operator::make(runtime, wrapped ? *wrapped : static_cast<kube::Api&>(link),
                                   lease_link, wrapped_members ? *wrapped_members : member_link,
                                   keys, std::move(options), place.log.with("replica", actor));
    CHECK(made.has_value(), "operator: {}", made.error().text());
    op = std::move(*made);
  }

  FaultyLink link;
  FaultyLink lease_link;
  etcdsim::SimEtcd members;
  EtcdLink member_link;
  std::unique_ptr<kube::Api> wrapped;
  std::unique_ptr<etcd::Api> wrapped_members;
  RememberedKeys keys;
  std::unique_ptr<op::Operator> op;
  rt::TaskGroup group;
};

Replica::Replica(Place place, int number)
    : place_(std::move(place)), actor_("operator-" + std::to_string(number)) {}

Replica::~Replica() = default;

void Replica::start() {
  if (run_) crash();
  ended_ = false;
  ++starts_;
  auto runtime = place_.loop.actor(actor_);
  run_ = std::make_unique<Run>(place_, runtime, actor_, starts_);
  run_->group.spawn("process", work());
}

Task<void> Replica::work() {
  auto ended = co_await run_->op->run();
  static_cast<void>(ended);  // whatever the reason: a process that ended is started again
  ended_ = true;
}

void Replica::crash() {
  if (!run_) return;
  place_.loop.crash(actor_);
  run_.reset();
  ended_ = false;
}

void Replica::stop() {
  if (run_) run_->op->stop();
}

bool Replica::leading() const { return running() && run_->op->leading(); }

std::string Replica::metrics() const {
  CHECK(running(), "{} does not run", actor_);
  return run_->op->metrics(nullptr, "simulated");
}

}  // namespace quorate::sim
