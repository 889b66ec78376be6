#include "node/pod_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "node/small_file.h"

namespace quorate::node {
namespace {

using namespace std::chrono_literals;

constexpr Duration kCallTimeout = 15s;     // of one request to the API
constexpr Duration kCarrierTimeout = 3s;   // of the Pod's cable
constexpr Duration kPublishRetry = 500ms;  // doubled
constexpr Duration kPublishRetryMax = 10s;

}  // namespace

PodRunner::PodRunner(NodeContext& node, const PodView& pod)
    : node_(node),
      log_(node.log.with("pod", pod.meta.key)),
      pod_(pod),
      machine_(pod, {node.wires.address().text(), node.policy}, now()),
      tokens_(node.runtime, node.client),
      volumes_(node, pod.meta.uid),
      changed_(node.runtime),
      status_changed_(node.runtime),
      work_(node.runtime, [this](const std::string& fiber, const std::string& what) {
        log_.error("broken invariant", {{"fiber", fiber}, {"what", what}});
      }) {
  // Its old address is kept for it before another Pod can get it.
  if (!pod.finished()) address_ = node_.addresses.take(pod.meta.uid, Ipv4::parse(pod.pod_ip));
}

Moment PodRunner::now() const { return {node_.runtime.clock->now(), node_.runtime.clock->wall()}; }

void PodRunner::changed() {
  dirty_ = true;
  changed_.notify();
}

// --- what comes from outside

void PodRunner::see(const PodView& pod) {
  bool fields_changed =
      pod.annotations != pod_.annotations || pod.meta.labels() != pod_.meta.labels();
  pod_ = pod;
  machine_.see(pod, now());
  if (prepared_ && fields_changed) volumes_.refresh(pod_, file_context());
  changed();
}

void PodRunner::object_gone() {
  gone_ = true;
  machine_.object_gone(now());
  changed();
}

void PodRunner::shut_down(Duration grace) {
  shutting_down_ = true;
  machine_.shut_down(grace, now());
  changed();
}

void PodRunner::dependency_changed() {
  machine_.dependency_changed();
  if (prepared_) volumes_.refresh(pod_, file_context());
  changed();
}

Task<Result<CommandOutcome>> PodRunner::execute(std::string container,
                                                std::vector<std::string> command, std::size_t limit,
                                                rt::Deadline deadline) {
  auto found = running_.find(container);
  if (found == running_.end())
    co_return fail(Code::kNotFound, "container " + container + " does not run");
  Program program;
  program.arguments = std::move(command);
  program.environment = found->second.environment;
  int pid = found->second.child->pid();
  co_return co_await run_command(node_.runtime, std::move(program), pid, limit, deadline);
}

Result<Spawned> PodRunner::start_command(const std::string& container, Program program) const {
  const auto found = running_.find(container);
  if (found == running_.end())
    return fail(Code::kNotFound, "container " + container + " does not run");
  program.environment = found->second.environment;
  if (program.terminal) program.environment.emplace_back("TERM=xterm");  // as container runtimes do
  return spawn_in_container(node_.runtime, program, found->second.child->pid());
}

std::optional<int> PodRunner::find_run(const std::string& container) const {
  const auto found = running_.find(container);
  if (found == running_.end()) return std::nullopt;
  return found->second.attempt;
}

// --- the loop

bool PodRunner::over() const {
  return (gone_ || shutting_down_) && machine_.at_rest() && running_.empty();
}

Task<void> PodRunner::run() {
  work_.spawn("publish", publish());
  work_.spawn("tokens", keep_tokens());
  while (true) {
    dirty_ = false;
    for (const auto& action : machine_.step(now()))
      std::visit([this](const auto& what) { carry_out(what); }, action);
    auto status = machine_.status(now());
    if (status != wanted_) {
      wanted_ = std::move(status);
      status_changed_.notify();
    }
    if (over()) break;
    auto wake = machine_.wake(now());
    auto deadline = wake ? rt::Deadline{*wake} : rt::Deadline::never();
    if (dirty_) continue;
    auto waited = co_await changed_.wait(deadline);
    if (!waited && waited.error().code() == Code::kCancelled) break;
  }
  work_.cancel();
  co_await work_.join();
  if (gone_ && over()) clean_up();
}

void PodRunner::carry_out(const act::Prepare&) { work_.spawn("prepare", prepare()); }

void PodRunner::carry_out(const act::Start& start) {
  work_.spawn("container " + start.container, attend_container(start.container, start.attempt));
}

void PodRunner::carry_out(const act::Signal& signal) {
  auto found = running_.find(signal.container);
  if (found == running_.end()) return;
  log_.info("signal to container", {{"container", signal.container}, {"signal", signal.number}});
  found->second.child->signal(signal.number);
}

void PodRunner::carry_out(const act::RunProbe& probe) {
  work_.spawn("probe", attend_probe(probe.container, probe.kind));
}

void PodRunner::carry_out(const act::Dismantle&) {
  prepared_ = false;
  if (spaces_ && address_)
    if (auto detached = node_.wires.detach(*address_); !detached)
      log_.warn("cannot detach the Pod's network", {{"error", detached.error()}});
  spaces_.reset();
  volumes_.take_down();
  if (!shutting_down_) node_.addresses.give_back(pod_.meta.uid);
}

void PodRunner::carry_out(const act::Remove&) { work_.spawn("remove", remove_object()); }

void PodRunner::carry_out(const act::Tell& tell) {
  log_.debug("event", {{"reason", tell.reason}, {"note", tell.note}});
  kube::Notice notice;
  notice.regarding = kube::make_reference(kube::kPods, pod_.meta);
  notice.type = tell.warning ? kube::Notice::Type::kWarning : kube::Notice::Type::kNormal;
  notice.reason = tell.reason;
  notice.action = tell.reason;
  notice.note = tell.note;
  node_.recorder.publish(std::move(notice));
}

// --- preparing

PodFacts PodRunner::facts() const {
  return {pod_, address_ ? address_->text() : "", node_.wires.address().text()};
}

FileContext PodRunner::file_context() const {
  return {facts(), node_.objects,
          [this](const FileSource& source) { return tokens_.find(source); }};
}

Task<void> PodRunner::prepare() {
  auto done = co_await try_prepare();
  if (!done && done.error().code() == Code::kCancelled) co_return;
  if (done) {
    prepared_ = true;
    machine_.prepared(address_->text(), now());
  } else {
    log_.warn("cannot prepare the Pod yet", {{"error", done.error()}});
    machine_.prepare_failed(done.error().text(), now());
  }
  changed();
}

Task<Result<void>> PodRunner::try_prepare() {
  CO_TRY(co_await set_up_network());
  CO_TRY(co_await tokens_.renew(pod_, node_.runtime.in(kCallTimeout)));
  CO_TRY(volumes_.set_up(pod_, file_context()));
  co_return volumes_.write_network_files(pod_, *address_);
}

Task<Result<void>> PodRunner::set_up_network() {
  if (spaces_) co_return Result<void>();
  if (!address_) address_ = node_.addresses.take(pod_.meta.uid, Ipv4::parse(pod_.pod_ip));
  if (!address_) co_return fail(Code::kUnavailable, "the node has no address left");
  CO_TRY(auto spaces, make_pod_spaces(pod_.host_name().substr(0, 63)));
  CO_TRY(node_.wires.attach(spaces, *address_));
  spaces_ = std::move(spaces);
  auto deadline = node_.runtime.in(kCarrierTimeout);
  while (!deadline.passed(*node_.runtime.clock)) {
    CO_TRY(auto carries, node_.wires.carries(*spaces_, *address_));
    if (carries) break;
    CO_TRY(co_await node_.runtime.clock->sleep_until(node_.runtime.in(2ms).at));
  }
  co_return Result<void>();
}

Task<void> PodRunner::keep_tokens() {
  while (true) {
    auto due = tokens_.due().value_or(node_.runtime.in(10s).at);
    if (auto slept = co_await node_.runtime.clock->sleep_until(due); !slept) co_return;
    if (!prepared_ || !tokens_.due()) continue;
    auto renewed = co_await tokens_.renew(pod_, node_.runtime.in(kCallTimeout));
    if (!renewed) {
      log_.warn("cannot renew a token", {{"error", renewed.error()}});
      if (auto slept = co_await node_.runtime.clock->sleep_until(node_.runtime.in(10s).at); !slept)
        co_return;
      continue;
    }
    if (prepared_) volumes_.refresh(pod_, file_context());
  }
}

// --- probes

Task<void> PodRunner::attend_probe(std::string container, ProbeKind kind) {
  auto found = running_.find(container);
  const auto* spec = pod_.find_container(container);
  if (found == running_.end() || !spec || !address_) co_return;
  const auto& probe = kind == ProbeKind::kStartup     ? spec->startup
                      : kind == ProbeKind::kReadiness ? spec->readiness
                                                      : spec->liveness;
  if (!probe) co_return;
  int attempt = found->second.attempt;
  ProbeTarget target{node_.wires.network_space(), *address_, found->second.child->pid(),
                     found->second.environment};
  auto outcome = co_await run_probe(node_.runtime, *probe, *spec, std::move(target));
  if (!outcome && outcome.error().code() == Code::kCancelled) co_return;
  found = running_.find(container);
  if (found == running_.end() || found->second.attempt != attempt) co_return;  // of an earlier run
  machine_.probed(container, kind, outcome.has_value(), outcome ? "" : outcome.error().text(),
                  now());
  changed();
}

// --- telling the API

Task<Result<void>> PodRunner::publish_once() {
  auto status = wanted_;
  kube::WriteOptions options;
  options.part = kube::Part::kStatus;
  auto done = co_await node_.client.patch(kube::kPods, pod_.meta.key, kube::PatchKind::kStrategic,
                                          render_status_patch(status, pod_.meta.uid),
                                          node_.runtime.in(kCallTimeout), options);
  bool settled = done || done.error().code() == Code::kNotFound ||
                 done.error().code() == Code::kConflict;  // another Pod of that name by now
  if (!settled) co_return fail(std::move(done).error());
  published_ = std::move(status);
  status_changed_.notify();
  co_return Result<void>();
}

Task<void> PodRunner::publish() {
  auto pause = kPublishRetry;
  while (true) {
    while (published_ == wanted_ || gone_ || shutting_down_)
      if (auto waited = co_await status_changed_.wait(rt::Deadline::never());
          !waited && waited.error().code() == Code::kCancelled)
        co_return;
    auto done = co_await publish_once();
    if (done) {
      pause = kPublishRetry;
      continue;
    }
    if (done.error().code() == Code::kCancelled) co_return;
    log_.warn("cannot tell the Pod's status", {{"error", done.error()}});
    if (auto slept = co_await node_.runtime.clock->sleep_until(node_.runtime.in(pause).at); !slept)
      co_return;
    pause = std::min(2 * pause, kPublishRetryMax);
  }
}

Task<void> PodRunner::remove_object() {
  // The last word is said before the object goes: others read in it that everything has ended.
  while (published_ != wanted_ && !gone_)
    if (auto waited = co_await status_changed_.wait(rt::Deadline::never());
        !waited && waited.error().code() == Code::kCancelled)
      co_return;
  if (gone_) co_return;
  kube::DeleteOptions options;
  options.uid = pod_.meta.uid;
  options.grace = 0s;
  auto done = co_await node_.client.remove(kube::kPods, pod_.meta.key,
                                           node_.runtime.in(kCallTimeout), options);
  if (done || done.error().code() == Code::kNotFound || done.error().code() == Code::kConflict)
    co_return;
  if (done.error().code() == Code::kCancelled) co_return;
  log_.warn("cannot remove the Pod's object", {{"error", done.error()}});
  machine_.remove_failed(now());
  changed();
}

void PodRunner::clean_up() {
  for (const auto& folder :
       {node_.dirs.pod(pod_.meta.uid),
        node_.keep_logs ? std::string() : node_.dirs.logs(pod_.meta.key, pod_.meta.uid)}) {
    if (folder.empty()) continue;
    if (auto removed = remove_tree(folder); !removed)
      log_.warn("cannot remove a Pod's folder", {{"error", removed.error()}});
  }
}

}  // namespace quorate::node
