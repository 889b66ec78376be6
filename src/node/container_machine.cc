#include "node/container_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "json/duration.h"

namespace quorate::node {
namespace {

constexpr int kLostExitCode = 255;    // containerd's, for what ended while nobody looked
constexpr int kStartErrorCode = 128;  // likewise, for what could not be run

Terminated make_terminated(const Exit& exit) {
  Terminated out;
  out.exit_code = exit.code;
  out.signal = exit.signal;
  out.reason = !exit.reason.empty() ? exit.reason : exit.code == 0 ? "Completed" : "Error";
  out.message = exit.message;
  return out;
}

void keep_earlier(std::optional<Monotonic>& earliest, Monotonic other) {
  if (!earliest || other < *earliest) earliest = other;
}

}  // namespace

ContainerMachine::ContainerMachine(const ContainerSpec& spec, const Uid& pod,
                                   const PodPolicy& policy)
    : spec_(spec), policy_(policy), pod_(pod) {}

void ContainerMachine::remember(const ContainerMemory& memory, const Moment& now) {
  restart_count_ = memory.restart_count;
  attempt_ = memory.restart_count;
  container_id_ = memory.container_id;
  previous_ = memory.last;
  if (memory.was_running) {
    Exit lost{kLostExitCode, 0, "Unknown", "the node was down"};
    ended_ = make_terminated(lost);
    ended_->started = memory.started;
    ended_->finished = now.wall;
    ended_->container_id = memory.container_id;
  } else {
    ended_ = memory.ended ? memory.ended : memory.last;
    if (!memory.ended) previous_.reset();
  }
  if (ended_) state_ = State::kEnded;
}

void ContainerMachine::rerun() {
  if (state_ == State::kEnded) state_ = State::kIdle;
}

bool ContainerMachine::started() const {
  if (state_ != State::kRunning) return false;
  const auto* startup = find_probe(ProbeKind::kStartup);
  return !startup || startup->passing();
}

bool ContainerMachine::ready() const {
  if (!started() || stopping()) return false;
  const auto* readiness = find_probe(ProbeKind::kReadiness);
  return !readiness || readiness->passing();
}

void ContainerMachine::see(const ContainerSpec& spec) {
  bool changed = spec.image != spec_.image;
  spec_ = spec;
  if (!changed) return;
  delay_ = {};
  image_delay_ = {};
  restarted_at_.reset();
  failure_.reset();
  start_at_ = Monotonic::min();
  definition_changed_ = active();
}

// --- starting

void ContainerMachine::asked_to_start(const Moment& now) {
  state_ = State::kStarting;
  definition_changed_ = false;
  kill_at_.reset();
  if (!ended_) return;
  attempt_ = restart_count_ + 1;
  // A restart counts from here: the next one comes after a pause, the first came at once.
  delay_ = delay_ == Duration{} ? policy_.backoff_base : std::min(2 * delay_, policy_.backoff_max);
  restarted_at_ = now.at;
}

void ContainerMachine::has_started(const Moment& now) {
  restart_count_ = attempt_;
  state_ = State::kRunning;
  container_id_ = fmt::format("quorate://{}/{}/{}", pod_.value(), spec_.name, attempt_);
  started_wall_ = now.wall;
  failure_.reset();
  image_delay_ = {};
  probes_.clear();
  if (spec_.startup) probes_.emplace_back(ProbeKind::kStartup, *spec_.startup, now.at);
  if (spec_.readiness) probes_.emplace_back(ProbeKind::kReadiness, *spec_.readiness, now.at);
  if (spec_.liveness) probes_.emplace_back(ProbeKind::kLiveness, *spec_.liveness, now.at);
}

void ContainerMachine::start_failed(const StartFailure& failure, const Moment& now) {
  if (failure.kind == StartFailure::Kind::kProgram) {
    has_started(now);
    has_exited({kStartErrorCode, 0, "StartError", failure.message}, now);
    return;
  }
  failure_ = failure;
  state_ = ended_ ? State::kEnded : State::kIdle;
  if (failure.kind == StartFailure::Kind::kConfig) {
    start_at_ = now.at + policy_.retry;
    return;
  }
  image_delay_ = image_delay_ == Duration{} ? policy_.backoff_base
                                            : std::min(2 * image_delay_, policy_.backoff_max);
  start_at_ = now.at + image_delay_;
}

void ContainerMachine::has_exited(const Exit& exit, const Moment& now) {
  previous_ = std::exchange(ended_, make_terminated(exit));
  ended_->started = started_wall_;
  ended_->finished = now.wall;
  ended_->container_id = container_id_;
  state_ = State::kEnded;
  probes_.clear();
  kill_at_.reset();
  term_sent_ = kill_sent_ = false;
  back_off(now);
}

void ContainerMachine::back_off(const Moment& now) {
  bool ran_well = restarted_at_ && now.at - *restarted_at_ > 2 * policy_.backoff_max;
  if (definition_changed_ || !restarted_at_ || ran_well) delay_ = {};
  start_at_ = now.at + delay_;
}

void ContainerMachine::hasten() {
  if (failure_ && failure_->kind == StartFailure::Kind::kConfig) start_at_ = Monotonic::min();
}

// --- stopping

void ContainerMachine::stop(Monotonic kill_at) {
  if (!kill_at_ || kill_at < *kill_at_) kill_at_ = kill_at;
}

std::optional<int> ContainerMachine::due_signal(Monotonic now) {
  if (state_ != State::kRunning || !kill_at_) return std::nullopt;
  if (now >= *kill_at_ && !kill_sent_) {
    kill_sent_ = term_sent_ = true;
    return SIGKILL;
  }
  if (term_sent_) return std::nullopt;
  term_sent_ = true;
  return SIGTERM;
}

// --- probes

const ProbeMachine* ContainerMachine::find_probe(ProbeKind kind) const {
  for (const auto& probe : probes_)
    if (probe.kind() == kind) return &probe;
  return nullptr;
}

ProbeMachine* ContainerMachine::probe(ProbeKind kind) {
  return const_cast<ProbeMachine*>(find_probe(kind));
}

std::vector<ProbeKind> ContainerMachine::due_probes(Monotonic now) {
  std::vector<ProbeKind> due;
  if (state_ != State::kRunning || stopping()) return due;
  bool up = started();
  for (auto& probe : probes_) {
    if (!up && probe.kind() != ProbeKind::kStartup) continue;
    if (!probe.due(now)) continue;
    probe.asked();
    due.push_back(probe.kind());
  }
  return due;
}

bool ContainerMachine::has_probed(ProbeKind kind, bool ok, const Moment& now) {
  auto* asked = probe(kind);
  if (!asked || state_ != State::kRunning) return false;
  bool was_up = started();
  asked->answered(ok, now.at);
  if (!was_up && started())
    if (auto* readiness = probe(ProbeKind::kReadiness)) readiness->hasten(now.at);
  return kind != ProbeKind::kReadiness && asked->failed() && !stopping();
}

std::optional<Monotonic> ContainerMachine::wake(bool waiting_to_start, Monotonic now) const {
  std::optional<Monotonic> earliest;
  if (waiting_to_start && !active()) keep_earlier(earliest, start_at_);
  if (failure_ && failure_->kind == StartFailure::Kind::kImage && now < error_shown_until())
    keep_earlier(earliest, error_shown_until());
  if (state_ != State::kRunning) return earliest;
  if (kill_at_) {
    if (!kill_sent_) keep_earlier(earliest, *kill_at_);
    return earliest;
  }
  bool up = started();
  for (const auto& probe : probes_)
    if (probe.next() && (up || probe.kind() == ProbeKind::kStartup))
      keep_earlier(earliest, *probe.next());
  return earliest;
}

// --- status

Waiting ContainerMachine::waiting(bool initializing, bool restarts, Monotonic now) const {
  if (failure_ && failure_->kind == StartFailure::Kind::kConfig)
    return {"CreateContainerConfigError", failure_->message};
  if (failure_ && failure_->kind == StartFailure::Kind::kImage) {
    // The error is shown for a moment, then that it is being waited out.
    if (now < error_shown_until()) return {"ErrImagePull", failure_->message};
    return {"ImagePullBackOff", "Back-off pulling image \"" + spec_.image + "\""};
  }
  if (ended_ && restarts)
    return {"CrashLoopBackOff", fmt::format("back-off {} restarting failed container={}",
                                            json::render_duration(delay_), spec_.name)};
  return {initializing ? "PodInitializing" : "ContainerCreating", ""};
}

ContainerStatus ContainerMachine::status(bool initializing, bool restarts, Monotonic now) const {
  ContainerStatus out;
  out.name = spec_.name;
  out.image = spec_.image;
  out.container_id = container_id_;
  out.restart_count = restart_count_;
  out.started = started();
  out.ready = ready();
  if (state_ == State::kRunning) {
    out.state = Running{started_wall_};
    out.last = ended_;
    return out;
  }
  bool backing_off = restarts && (now < start_at_ || failure_);
  if (state_ == State::kEnded && !backing_off) {
    out.state = *ended_;  // its end, or a start that follows at once
    out.last = previous_;
    return out;
  }
  if (state_ == State::kStarting && ended_) {
    out.state = *ended_;
    out.last = previous_;
    return out;
  }
  out.state = waiting(initializing, restarts, now);
  out.last = ended_;
  return out;
}

}  // namespace quorate::node
