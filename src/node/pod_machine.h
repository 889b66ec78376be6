#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "node/container_machine.h"

namespace quorate::node {

// What the machine asks for. Each is asked for once; what came of it is told back by the call named
// beside it.
namespace act {
struct Prepare {};  // network and volumes: prepared, prepare_failed
struct Start {      // started or start_failed, then exited
  std::string container;
  int attempt = 0;
};
struct Signal {
  std::string container;
  int number = 0;
};
struct RunProbe {  // probed
  std::string container;
  ProbeKind kind = ProbeKind::kReadiness;
};
struct Dismantle {};  // no container runs any more: network and volumes may go. Not told back
struct Remove {};     // the status stands for the last time; the object may go: remove_failed
struct Tell {         // an Event for people
  bool warning = false;
  std::string reason;
  std::string note;
};
}  // namespace act
using Action = std::variant<act::Prepare, act::Start, act::Signal, act::RunProbe, act::Dismantle,
                            act::Remove, act::Tell>;

// The life of one Pod on its node, as the kubelet leads it. Pure: facts and time come in, actions
// and status go out; whoever drives it carries the actions out, tells what came of them, and steps
// again at `wake` at the latest.
//
// A new machine may be made at any time from the API object alone: that is a reboot of the node.
// Init containers then run again, what had ended for good stays ended.
//
// Invariants  A container is started only while the Pod is prepared and not being stopped. `Remove`
//             comes after every container has ended and `Dismantle` was asked for.
class PodMachine {
 public:
  struct Host {
    std::string address;  // of the node
    PodPolicy policy;
  };

  PodMachine(const PodView& pod, Host host, const Moment& now);

  // --- facts
  void see(const PodView& pod, const Moment& now);  // the object, in a newer version
  void object_gone(const Moment& now);              // deleted without waiting for us: kill at once
  void shut_down(Duration grace, const Moment& now);  // the node goes down; the Pod stays its own
  void prepared(const std::string& address, const Moment& now);
  void prepare_failed(const std::string& reason, const Moment& now);
  void started(const std::string& container, const Moment& now);
  void start_failed(const std::string& container, const StartFailure& failure, const Moment& now);
  void exited(const std::string& container, const Exit& exit, const Moment& now);
  void probed(const std::string& container, ProbeKind kind, bool ok, const std::string& output,
              const Moment& now);
  void dependency_changed();  // an object that the Pod names: whoever waits for it tries again
  void remove_failed(const Moment& now);

  // --- decisions
  [[nodiscard]] std::vector<Action> step(const Moment& now);
  [[nodiscard]] std::optional<Monotonic> wake(const Moment& now) const;
  [[nodiscard]] PodStatus status(const Moment& now);
  // Nothing runs and nothing will: the driver may let go once the object is gone (or, after
  // shut_down, at once).
  [[nodiscard]] bool at_rest() const;

 private:
  enum class Stopping {
    kNo,
    kDeleted,   // the object asks for it
    kGone,      // the object is gone
    kOver,      // somebody else has said that the Pod has failed
    kDeadline,  // activeDeadlineSeconds
    kShutDown,  // of the node
  };

  ContainerMachine* find(const std::string& name);
  void stop_all(Stopping why, Monotonic kill_at);
  bool any_active() const;
  bool will_restart(const ContainerMachine& container) const;
  bool init_failed() const;  // for good
  bool finished() const;     // nothing will run again
  ContainerMachine* next_init();
  bool initialized() const;
  std::vector<ContainerMachine*> waiting_to_start();
  bool may_run() const;
  std::string phase(bool finished_now) const;

  void step_deadline(const Moment& now);
  void step_changed_definitions(const Moment& now);
  void step_start(const Moment& now, std::vector<Action>& out);
  void step_running(const Moment& now, std::vector<Action>& out);
  void step_end(const Moment& now, std::vector<Action>& out);
  void add_condition(PodStatus& status, const std::string& type, bool holds, std::string reason,
                     std::string message, const Moment& now);
  void add_conditions(PodStatus& status, const Moment& now);

  PodView pod_;
  Host host_;
  std::vector<ContainerMachine> init_;
  std::vector<ContainerMachine> main_;

  WallTime start_time_;
  Monotonic began_;  // when start_time_ was, on the other clock
  std::string address_;
  enum class Preparation { kNone, kAsked, kDone } preparation_ = Preparation::kNone;
  Monotonic prepare_at_ = Monotonic::min();
  Duration prepare_delay_{};
  std::string prepare_problem_;

  Stopping stopping_ = Stopping::kNo;
  bool refused_ = false;  // the Pod asks for what this node cannot do
  bool dismantled_ = false;
  bool remove_asked_ = false;
  Monotonic remove_at_ = Monotonic::min();
  std::vector<act::Tell> tells_;
  std::map<std::string, ConditionMemory, std::less<>> conditions_;
};

}  // namespace quorate::node
