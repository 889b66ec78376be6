#include "node/pod_machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"

namespace quorate::node {
namespace {

constexpr Duration kPrepareRetryMax = std::chrono::seconds(10);

WallTime whole_seconds(WallTime time) { return std::chrono::floor<std::chrono::seconds>(time); }

template <class Containers, class Test>
bool all_of(const Containers& containers, Test test) {
  return std::all_of(containers.begin(), containers.end(), test);
}
template <class Containers, class Test>
bool any_of(const Containers& containers, Test test) {
  return std::any_of(containers.begin(), containers.end(), test);
}

std::string name(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::kStartup:
      return "Startup";
    case ProbeKind::kReadiness:
      return "Readiness";
    case ProbeKind::kLiveness:
      return "Liveness";
  }
  return "";
}

}  // namespace

PodMachine::PodMachine(const PodView& pod, Host host, const Moment& now)
    : pod_(pod),
      host_(std::move(host)),
      start_time_(pod.start_time.value_or(whole_seconds(now.wall))),
      began_(now.at - (now.wall - start_time_)),
      conditions_(pod.conditions) {
  auto make = [&](const ContainerSpec& spec, std::vector<ContainerMachine>& list) {
    auto& container = list.emplace_back(spec, pod.meta.uid, host_.policy);
    if (auto found = pod.memory.find(spec.name); found != pod.memory.end())
      container.remember(found->second, now);
  };
  for (const auto& spec : pod.init_containers) make(spec, init_);
  for (const auto& spec : pod.containers) make(spec, main_);
  // The Pod's network and mounts were lost with the node, so it is set up from the beginning,
  // unless there is nothing left to do.
  if (!pod.finished() && !finished())
    for (auto& container : init_) container.rerun();
  refused_ = !pod.unsupported.empty() && !pod.finished();
  if (pod.meta.deleting()) see(pod, now);
}

// --- facts

ContainerMachine* PodMachine::find(const std::string& name) {
  for (auto* list : {&init_, &main_})
    for (auto& container : *list)
      if (container.spec().name == name) return &container;
  return nullptr;
}

void PodMachine::see(const PodView& pod, const Moment& now) {
  pod_ = pod;
  for (auto* list : {&init_, &main_})
    for (auto& container : *list)
      if (const auto* spec = pod.find_container(container.spec().name)) container.see(*spec);
  if (pod.meta.deleting())
    stop_all(Stopping::kDeleted, now.at + pod.deletion_grace.value_or(pod.termination_grace));
  else if (pod.finished() && any_active())
    stop_all(Stopping::kOver, now.at + pod.termination_grace);
}

void PodMachine::object_gone(const Moment& now) { stop_all(Stopping::kGone, now.at); }

void PodMachine::shut_down(Duration grace, const Moment& now) {
  stop_all(Stopping::kShutDown, now.at + grace);
}

// A stronger reason replaces a weaker one; the earlier end counts.
void PodMachine::stop_all(Stopping why, Monotonic kill_at) {
  if (stopping_ != Stopping::kGone) stopping_ = why;
  for (auto* list : {&init_, &main_})
    for (auto& container : *list)
      if (container.active()) container.stop(kill_at);
}

void PodMachine::prepared(const std::string& address, const Moment&) {
  preparation_ = Preparation::kDone;
  address_ = address;
  prepare_problem_.clear();
  prepare_delay_ = {};
}

void PodMachine::prepare_failed(const std::string& reason, const Moment& now) {
  preparation_ = Preparation::kNone;
  prepare_delay_ = prepare_delay_ == Duration{} ? host_.policy.retry
                                                : std::min(2 * prepare_delay_, kPrepareRetryMax);
  prepare_at_ = now.at + prepare_delay_;
  if (reason != prepare_problem_) tells_.push_back({true, "FailedMount", reason});
  prepare_problem_ = reason;
}

void PodMachine::started(const std::string& container, const Moment& now) {
  auto* which = find(container);
  CHECK(which, "container {}", container);
  which->has_started(now);
  tells_.push_back({false, "Started", "Started container " + container});
  if (stopping_ != Stopping::kNo && !which->stopping()) which->stop(now.at);
}

void PodMachine::start_failed(const std::string& container, const StartFailure& failure,
                              const Moment& now) {
  auto* which = find(container);
  CHECK(which, "container {}", container);
  which->start_failed(failure, now);
  tells_.push_back({true, "Failed", fmt::format("container {}: {}", container, failure.message)});
}

void PodMachine::exited(const std::string& container, const Exit& exit, const Moment& now) {
  auto* which = find(container);
  CHECK(which, "container {}", container);
  which->has_exited(exit, now);
  if (will_restart(*which) && !which->may_start(now.at))
    tells_.push_back({true, "BackOff", "Back-off restarting failed container " + container});
}

void PodMachine::probed(const std::string& container, ProbeKind kind, bool ok,
                        const std::string& output, const Moment& now) {
  auto* which = find(container);
  CHECK(which, "container {}", container);
  if (!ok && which->state() == ContainerMachine::State::kRunning)
    tells_.push_back({true, "Unhealthy", fmt::format("{} probe failed: {}", name(kind), output)});
  if (!which->has_probed(kind, ok, now)) return;
  auto grace = which->find_probe(kind)->spec().termination_grace.value_or(pod_.termination_grace);
  which->stop(now.at + grace);
  tells_.push_back({false, "Killing",
                    fmt::format("Container {} failed {} probe, will be restarted", container,
                                to_lower(name(kind)))});
}

void PodMachine::dependency_changed() {
  if (preparation_ == Preparation::kNone) prepare_at_ = Monotonic::min();
  for (auto* list : {&init_, &main_})
    for (auto& container : *list) container.hasten();
}

void PodMachine::remove_failed(const Moment& now) {
  remove_asked_ = false;
  remove_at_ = now.at + host_.policy.retry;
}

// --- what is the case

bool PodMachine::any_active() const {
  auto active = [](const ContainerMachine& container) { return container.active(); };
  return any_of(init_, active) || any_of(main_, active);
}

bool PodMachine::will_restart(const ContainerMachine& container) const {
  if (stopping_ != Stopping::kNo || refused_) return false;
  if (container.state() != ContainerMachine::State::kEnded) return true;
  if (container.must_restart()) return true;
  if (pod_.restart_policy == RestartPolicy::kNever) return false;
  bool init = &container >= init_.data() && &container < init_.data() + init_.size();
  if (init || pod_.restart_policy == RestartPolicy::kOnFailure) return !container.succeeded();
  return true;
}

bool PodMachine::init_failed() const {
  return any_of(init_, [&](const ContainerMachine& container) {
    return container.state() == ContainerMachine::State::kEnded && !container.succeeded() &&
           !will_restart(container);
  });
}

bool PodMachine::initialized() const {
  return all_of(init_, [](const ContainerMachine& container) { return container.succeeded(); });
}

bool PodMachine::finished() const {
  if (any_active()) return false;
  if (stopping_ != Stopping::kNo || refused_ || pod_.finished() || init_failed()) return true;
  return all_of(main_, [&](const ContainerMachine& container) { return !will_restart(container); });
}

ContainerMachine* PodMachine::next_init() {
  for (auto& container : init_)
    if (!container.succeeded()) return &container;
  return nullptr;
}

bool PodMachine::may_run() const {
  return stopping_ == Stopping::kNo && !refused_ && !pod_.finished() && !init_failed();
}

std::vector<ContainerMachine*> PodMachine::waiting_to_start() {
  std::vector<ContainerMachine*> out;
  if (!may_run()) return out;
  if (auto* init = next_init()) {
    if (!init->active()) out.push_back(init);
    return out;
  }
  for (auto& container : main_)
    if (!container.active() && will_restart(container)) out.push_back(&container);
  return out;
}

bool PodMachine::at_rest() const { return !any_active() && dismantled_; }

// --- decisions

void PodMachine::step_deadline(const Moment& now) {
  if (!pod_.active_deadline || stopping_ != Stopping::kNo || finished()) return;
  if (now.at < began_ + *pod_.active_deadline) return;
  stop_all(Stopping::kDeadline, now.at + pod_.termination_grace);
}

void PodMachine::step_changed_definitions(const Moment& now) {
  for (auto& container : main_) {
    if (!container.must_restart() || !container.active() || container.stopping()) continue;
    container.stop(now.at + pod_.termination_grace);
    tells_.push_back(
        {false, "Killing",
         fmt::format("Container {} definition changed, will be restarted", container.spec().name)});
  }
}

void PodMachine::step_start(const Moment& now, std::vector<Action>& out) {
  auto waiting = waiting_to_start();
  if (waiting.empty()) return;
  if (preparation_ == Preparation::kNone && now.at >= prepare_at_) {
    preparation_ = Preparation::kAsked;
    out.push_back(act::Prepare{});
  }
  if (preparation_ != Preparation::kDone) return;
  for (auto* container : waiting) {
    if (!container->may_start(now.at)) continue;
    container->asked_to_start(now);
    out.push_back(act::Start{container->spec().name, container->attempt()});
  }
}

void PodMachine::step_running(const Moment& now, std::vector<Action>& out) {
  for (auto* list : {&init_, &main_}) {
    for (auto& container : *list) {
      if (auto signal = container.due_signal(now.at))
        out.push_back(act::Signal{container.spec().name, *signal});
      for (auto kind : container.due_probes(now.at))
        out.push_back(act::RunProbe{container.spec().name, kind});
    }
  }
}

void PodMachine::step_end(const Moment& now, std::vector<Action>& out) {
  if (!finished() || preparation_ == Preparation::kAsked) return;
  if (!dismantled_) {
    dismantled_ = true;
    preparation_ = Preparation::kNone;
    out.push_back(act::Dismantle{});
  }
  if (!pod_.meta.deleting() || stopping_ == Stopping::kGone || stopping_ == Stopping::kShutDown)
    return;
  // A grace of zero in the object means that the API has it removed already, but for finalizers of
  // others.
  if (remove_asked_ || now.at < remove_at_) return;
  remove_asked_ = true;
  out.push_back(act::Remove{});
}

std::vector<Action> PodMachine::step(const Moment& now) {
  std::vector<Action> out;
  step_deadline(now);
  step_changed_definitions(now);
  step_start(now, out);
  step_running(now, out);
  step_end(now, out);
  for (auto& tell : std::exchange(tells_, {})) out.push_back(std::move(tell));
  return out;
}

std::optional<Monotonic> PodMachine::wake(const Moment& now) const {
  std::optional<Monotonic> earliest;
  auto keep = [&](std::optional<Monotonic> other) {
    if (other && (!earliest || *other < *earliest)) earliest = other;
  };
  auto waiting = const_cast<PodMachine*>(this)->waiting_to_start();
  for (const auto* list : {&init_, &main_})
    for (const auto& container : *list) {
      bool turn = std::find(waiting.begin(), waiting.end(), &container) != waiting.end();
      keep(container.wake(turn && preparation_ == Preparation::kDone, now.at));
    }
  if (!waiting.empty() && preparation_ == Preparation::kNone) keep(prepare_at_);
  if (pod_.active_deadline && may_run() && !finished()) keep(began_ + *pod_.active_deadline);
  if (pod_.meta.deleting() && dismantled_ && !remove_asked_) keep(remove_at_);
  return earliest;
}

// --- status

std::string PodMachine::phase(bool finished_now) const {
  if (pod_.finished()) return pod_.phase;  // said once, said for good
  if (refused_ || stopping_ == Stopping::kDeadline) return finished_now ? "Failed" : "Running";
  if (finished_now) {
    auto succeeded = [](const ContainerMachine& container) { return container.succeeded(); };
    return all_of(init_, succeeded) && all_of(main_, succeeded) ? "Succeeded" : "Failed";
  }
  if (!initialized()) return "Pending";
  auto never_ran = [](const ContainerMachine& container) { return !container.ever_ran(); };
  return any_of(main_, never_ran) ? "Pending" : "Running";
}

void PodMachine::add_condition(PodStatus& status, const std::string& type, bool holds,
                               std::string reason, std::string message, const Moment& now) {
  auto& memory = conditions_[type];
  const char* word = holds ? "True" : "False";
  if (memory.status != word || !memory.since) memory = {word, whole_seconds(now.wall)};
  status.conditions.push_back({type, holds, std::move(reason), std::move(message), *memory.since});
}

void PodMachine::add_conditions(PodStatus& status, const Moment& now) {
  bool finished_well = status.phase == "Succeeded";
  std::vector<std::string> unready;
  for (const auto& container : status.containers)
    if (!container.ready) unready.push_back(container.name);
  std::vector<std::string> uninitialized;
  for (const auto& container : init_)
    if (!container.succeeded()) uninitialized.push_back(container.spec().name);

  auto listed = [](std::string_view what, const std::vector<std::string>& names) {
    return fmt::format("containers with {} status: [{}]", what, join(names, " "));
  };
  add_condition(status, "PodReadyToStartContainers", preparation_ == Preparation::kDone, "", "",
                now);
  if (uninitialized.empty())
    add_condition(status, "Initialized", true, finished_well ? "PodCompleted" : "", "", now);
  else
    add_condition(status, "Initialized", false, "ContainersNotInitialized",
                  listed("incomplete", uninitialized), now);
  bool ready = unready.empty() && status.phase == "Running";
  for (const char* type : {"Ready", "ContainersReady"}) {
    if (ready)
      add_condition(status, type, true, "", "", now);
    else if (finished_well)
      add_condition(status, type, false, "PodCompleted", "", now);
    else
      add_condition(status, type, false, "ContainersNotReady", listed("unready", unready), now);
  }
  add_condition(status, "PodScheduled", true, "", "", now);
}

PodStatus PodMachine::status(const Moment& now) {
  PodStatus out;
  bool finished_now = finished();
  out.phase = phase(finished_now);
  if (refused_) {
    out.reason = "Unsupported";
    out.message = "this node does not honour: " + join(pod_.unsupported, ", ");
  } else if (stopping_ == Stopping::kDeadline) {
    out.reason = "DeadlineExceeded";
    out.message = "Pod was active on the node longer than the specified deadline";
  }
  out.host_ip = host_.address;
  out.pod_ip = address_.empty() ? pod_.pod_ip : address_;
  out.start_time = start_time_;
  out.observed_generation = pod_.meta.generation;
  for (const auto& container : init_) {
    out.init_containers.push_back(container.status(true, will_restart(container), now.at));
    // An init container is "ready" when it has done its work.
    out.init_containers.back().ready = container.succeeded();
  }
  for (const auto& container : main_)
    out.containers.push_back(container.status(!init_.empty(), will_restart(container), now.at));
  if (!prepare_problem_.empty() && preparation_ != Preparation::kDone)
    for (auto* list : {&out.init_containers, &out.containers})
      for (auto& container : *list)
        if (auto* waiting = std::get_if<Waiting>(&container.state))
          if (waiting->message.empty()) waiting->message = prepare_problem_;
  add_conditions(out, now);
  return out;
}

}  // namespace quorate::node
