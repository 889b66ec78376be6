#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/pod_status.h"
#include "node/probe_machine.h"

namespace quorate::node {

// Both clocks at one moment: waits are measured by the one, people read the other.
struct Moment {
  Monotonic at;
  WallTime wall;
};

// The kubelet's numbers.
struct PodPolicy {
  Duration backoff_base = std::chrono::seconds(10);
  Duration backoff_max = std::chrono::minutes(5);
  Duration retry = std::chrono::seconds(1);  // of what is missing: volumes, keys for env
};

// How a run of a container ended.
struct Exit {
  int code = 0;  // of the process, or 128 + signal
  int signal = 0;
  std::string reason;  // empty: Completed or Error, by the code
  std::string message;
};

// Why a container could not be started.
struct StartFailure {
  enum class Kind {
    kImage,    // its image is not known here
    kConfig,   // something that its environment names is missing
    kProgram,  // the program could not be run: counts as an exit
  };
  Kind kind = Kind::kProgram;
  std::string message;
};

// One container of a Pod, over all of its runs: when it may start, how it is stopped, what its
// probes say, what its status is. Pure: time comes in with every call.
//
//   kIdle ──asked──► kStarting ──started──► kRunning ──exited──► kEnded
//     ▲ └──start_failed (image, config)──┘                         │
//     └──────────────── restart, after back-off ───────────────────┘
class ContainerMachine {
 public:
  enum class State { kIdle, kStarting, kRunning, kEnded };

  ContainerMachine(const ContainerSpec& spec, const Uid& pod, const PodPolicy& policy);
  // After the node has been down: what ran is ended, by nobody knows what.
  void remember(const ContainerMemory& memory, const Moment& now);
  // Forgets a past success, so that it runs again: init containers after the node has been down.
  void rerun();

  State state() const { return state_; }
  const ContainerSpec& spec() const { return spec_; }
  bool active() const { return state_ == State::kStarting || state_ == State::kRunning; }
  bool ever_ran() const { return ended_ || state_ == State::kRunning; }
  // Ended, with that code. Only right in kEnded.
  const Terminated& ended() const { return *ended_; }
  bool succeeded() const { return state_ == State::kEnded && ended_->exit_code == 0; }
  bool ready() const;
  bool started() const;  // running, and its startup probe (if any) has passed

  // The spec may have changed: another image ends the run, and the next starts without back-off.
  void see(const ContainerSpec& spec);

  // --- starting
  bool may_start(Monotonic now) const { return !active() && now >= start_at_; }
  void asked_to_start(const Moment& now);
  void has_started(const Moment& now);
  void start_failed(const StartFailure& failure, const Moment& now);
  void has_exited(const Exit& exit, const Moment& now);
  // Something that its environment waits for may be there now: no more waiting.
  void hasten();
  // Its image was changed while it ran: this run has to end, and another follows whatever the
  // restart policy says.
  bool must_restart() const { return definition_changed_; }
  // Counts the runs from 0; the number of the present one, or of the last.
  int attempt() const { return attempt_; }

  // --- stopping: SIGTERM now, SIGKILL at the given time or earlier.
  void stop(Monotonic kill_at);
  bool stopping() const { return kill_at_.has_value(); }
  // The signal to send now, once each.
  std::optional<int> due_signal(Monotonic now);

  // --- probes
  std::vector<ProbeKind> due_probes(Monotonic now);
  // True if the answer means that this run has to end.
  bool has_probed(ProbeKind kind, bool ok, const Moment& now);
  const ProbeMachine* find_probe(ProbeKind kind) const;

  // The next time at which something is due, if nothing comes in before. `waiting_to_start`: it is
  // this container's turn.
  std::optional<Monotonic> wake(bool waiting_to_start, Monotonic now) const;

  // `initializing`: the Pod has init containers. `restarts`: its end is to be followed by a start.
  ContainerStatus status(bool initializing, bool restarts, Monotonic now) const;

 private:
  void back_off(const Moment& now);
  Monotonic error_shown_until() const { return start_at_ - image_delay_ + policy_.retry; }
  ProbeMachine* probe(ProbeKind kind);
  Waiting waiting(bool initializing, bool restarts, Monotonic now) const;

  ContainerSpec spec_;
  PodPolicy policy_;
  State state_ = State::kIdle;
  Uid pod_;
  std::string container_id_;
  int attempt_ = 0;
  int restart_count_ = 0;
  std::optional<Terminated> ended_;     // the last end; stands as `lastState` while it runs again
  std::optional<Terminated> previous_;  // the one before
  WallTime started_wall_{};
  std::vector<ProbeMachine> probes_;

  Monotonic start_at_ = Monotonic::min();
  Duration delay_{};                       // of the next restart
  std::optional<Monotonic> restarted_at_;  // since when `delay_` counts
  std::optional<StartFailure> failure_;    // the last start, if it failed
  Duration image_delay_{};
  bool definition_changed_ = false;

  std::optional<Monotonic> kill_at_;
  bool term_sent_ = false;
  bool kill_sent_ = false;
};

}  // namespace quorate::node
