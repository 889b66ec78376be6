#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "operator/options.h"
#include "rt/virtual_loop.h"
#include "tests/sim/etcd/api.h"
#include "tests/sim/faults/etcd_link.h"

namespace quorate::sim {

// Decorators of a replica's seams. What they make lives as long as the
// replica's run.
using WrapApi = std::function<std::unique_ptr<kube::Api>(rt::Runtime here, kube::Api& inner)>;
// `raw` can also do what etcd::Api leaves out on purpose.
using WrapEtcd = std::function<std::unique_ptr<etcd::Api>(rt::Runtime here, etcd::Api& inner,
                                                          etcdsim::SimEtcd& raw)>;

// One replica of the production operator, from process start to process end,
// again and again.
class Replica {
 public:
  struct Place {
    rt::VirtualLoop& loop;
    apiserver::Server& api;
    etcdsim::EtcdWorld& etcd;
    Judge& judge;
    Audit& audit;
    op::OperatorOptions options;
    WrapApi wrap;
    WrapEtcd wrap_etcd;
    Log log;
  };
  Replica(Place place, int number);
  ~Replica();

  [[nodiscard]] const std::string& actor() const { return actor_; }
  void start();
  // As by SIGKILL. Must not be called by a fiber of this replica.
  void crash();
  // As by SIGTERM: it releases its lease.
  void stop();
  void pause() { place_.loop.pause(actor_); }
  void resume() { place_.loop.resume(actor_); }
  // From its next start on.
  void set_launch_image(std::string image) { place_.options.launch_image = std::move(image); }
  void set_wall_offset(Duration offset) { place_.loop.set_wall_offset(actor_, offset); }

  [[nodiscard]] bool running() const { return run_ != nullptr && !ended_; }
  // run() of the operator has come to its end by itself: the process is over.
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool leading() const;
  [[nodiscard]] std::string metrics() const;  // as it shows them; must be running
  [[nodiscard]] std::uint64_t starts() const { return starts_; }

 private:
  struct Run;
  Task<void> work();

  Place place_;
  std::string actor_;
  std::unique_ptr<Run> run_;
  bool ended_ = false;
  std::uint64_t starts_ = 0;
};

}  // namespace quorate::sim
