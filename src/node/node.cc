#include "node/node.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "kube/watcher.h"
#include "node/process_id.h"
#include "node/small_file.h"

namespace quorate::kube {

template class Store<node::PodView>;

}  // namespace quorate::kube

namespace quorate::node {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr Duration kCallTimeout = 10s;
constexpr Duration kRetry = 500ms;

NodeFacts facts_of_this_machine(const rt::Runtime& runtime, const NodeOptions& options) {
  NodeFacts out;
  out.name = options.name;
  out.number = options.number;
  out.labels = options.labels;
  out.cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  out.memory_bytes = static_cast<long long>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  out.boot_id = fmt::format("{:016x}{:016x}", runtime.random->next(), runtime.random->next());
  out.started = runtime.clock->wall();
  return out;
}

kube::ClientOptions client_options(const Log& log) {
  kube::ClientOptions out;
  out.field_manager = "quorate-node";
  out.log = log;
  return out;
}

kube::RecorderOptions recorder_options(const NodeOptions& options, const Log& log) {
  kube::RecorderOptions out;
  out.controller = "quorate.io/node";
  out.instance = options.name;
  out.log = log;
  return out;
}

}  // namespace

int end_leftovers(const NodeDirs& dirs) {
  int ended = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(dirs.pods(), error), end; !error && it != end;
       it.increment(error)) {
    if (it.depth() >= 3) it.disable_recursion_pending();
    if (it.depth() != 3 || it->path().filename() != "pid") continue;
    auto text = read_small_file(it->path().string());
    auto process = text ? ProcessId::parse(*text) : std::nullopt;
    if (process && process->signal(SIGKILL)) ++ended;
    std::error_code ignored;
    fs::remove(it->path(), ignored);
  }
  return ended;
}

Result<std::unique_ptr<Node>> Node::make(rt::Runtime runtime, kube::Api& api, rt::Files& files,
                                         ClusterView& cluster, const ImageTable& images,
                                         NodeOptions options, Log log) {
  for (const auto& folder : {options.dirs.volumes(), options.dirs.pods(), options.dirs.place()})
    TRY(make_directories(folder));
  if (int count = end_leftovers(options.dirs); count > 0)
    log.warn("ended processes that an earlier life of the node had left", {{"count", count}});
  TRY(auto wires, in("node " + options.name, Wires::lay(options.number)));
  return std::unique_ptr<Node>(new Node(runtime, api, files, cluster, images, std::move(options),
                                        std::move(wires), std::move(log)));
}

Node::Node(rt::Runtime runtime, kube::Api& api, rt::Files& files, ClusterView& cluster,
           const ImageTable& images, NodeOptions options, Wires wires, Log log)
    : runtime_(runtime),
      options_(std::move(options)),
      log_(log.with("node", options_.name)),
      files_(files),
      api_(runtime, api),
      client_(runtime, api_, client_options(log_)),
      recorder_(runtime, client_, recorder_options(options_, log_)),
      cluster_(cluster),
      wires_(std::move(wires)),
      context_{runtime,
               client_,
               recorder_,
               cluster,
               cluster.finder(),
               images,
               wires_,
               options_.name,
               options_.dirs,
               AddressPool(options_.number),
               options_.policy,
               options_.base_environment,
               options_.log_limit,
               options_.keep_logs,
               log_},
      facts_(facts_of_this_machine(runtime, options_)),
      pods_(runtime),
      stopped_(runtime),
      cluster_changed_(runtime),
      pod_fibers_(runtime, [this](const std::string& fiber, const std::string& what) {
        log_.error("broken invariant", {{"fiber", fiber}, {"what", what}});
      }) {
  pods_.subscribe([this](const auto& change) { pod_changed(change); });
}

void Node::dependency_changed() {
  cluster_dirty_ = true;
  cluster_changed_.notify();
  for (auto& [uid, runner] : runners_) runner->dependency_changed();
}

Task<void> Node::run() {
  kube::WatcherOptions own;
  own.what.field_selector = "spec.nodeName=" + options_.name;
  own.log = log_;
  kube::Watcher pods(runtime_, client_, kube::kPods, own, pods_);
  rt::TaskGroup group(runtime_);
  group.spawn("keep alive", keep_alive());
  group.spawn("pods", pods.run());
  group.spawn("claims", follow_claims());
  group.spawn("events", recorder_.run());
  group.spawn("sweep", sweep_when_synced());

  bool cut_short = false;
  while (!stopping_ && !cut_short) {
    auto waited = co_await stopped_.wait(rt::Deadline::never());
    cut_short = !waited && waited.error().code() == Code::kCancelled;
  }
  group.cancel();
  if (cut_short) pod_fibers_.cancel();
  co_await pod_fibers_.join();
  co_await group.join();
}

void Node::stop() {
  stopping_ = true;
  for (auto& [uid, runner] : runners_) runner->shut_down(options_.shutdown_grace);
  stopped_.notify();
}

Result<void> Node::cut() {
  TRY(wires_.cut_node());
  api_.set_open(false);
  log_.info("cut off");
  return {};
}

Result<void> Node::mend() {
  TRY(wires_.mend_node());
  api_.set_open(true);
  log_.info("connected again");
  return {};
}

PodRunner* Node::find_pod(const ObjectKey& pod) {
  for (auto& [uid, runner] : runners_)
    if (runner->pod().meta.key == pod) return runner.get();
  return nullptr;
}

// --- Pods

void Node::pod_changed(const kube::Store<PodView>::Change& change) {
  bool replaced =
      change.before && change.after && change.before->meta.uid != change.after->meta.uid;
  if (change.before && (!change.after || replaced))
    if (auto found = runners_.find(change.before->meta.uid); found != runners_.end())
      found->second->object_gone();
  if (!change.after || stopping_) return;
  const auto& uid = change.after->meta.uid;
  if (auto found = runners_.find(uid); found != runners_.end()) {
    found->second->see(*change.after);
    return;
  }
  log_.info("pod is bound to this node", {{"pod", change.key}, {"uid", uid}});
  runners_[uid] = std::make_unique<PodRunner>(context_, *change.after);
  pod_fibers_.spawn("pod " + change.key.text(), run_pod(uid));
}

Task<void> Node::run_pod(Uid uid) {
  auto* runner = runners_.at(uid).get();
  co_await runner->run();
  if (!stopping_) runners_.erase(uid);
}

// What is left on disk of Pods that were deleted while the node was down.
Task<void> Node::sweep_when_synced() {
  if (auto synced = co_await pods_.wait_until_synced(rt::Deadline::never()); !synced) co_return;
  std::error_code error;
  std::vector<std::string> gone;
  for (const auto& entry : fs::directory_iterator(options_.dirs.pods(), error))
    if (!runners_.contains(Uid(entry.path().filename().string())))
      gone.push_back(entry.path().string());
  for (const auto& folder : gone) {
    log_.info("removing what is left of a Pod that is gone", {{"folder", folder}});
    if (auto removed = remove_tree(folder); !removed)
      log_.warn("cannot remove it", {{"error", removed.error()}});
  }
}

// --- the node itself

Task<Result<void>> Node::register_node() {
  auto made = co_await client_.create(kube::kNodes, "", make_node_object(facts_),
                                      runtime_.in(kCallTimeout));
  if (!made && made.error().code() != Code::kConflict) co_return fail(std::move(made).error());
  CO_TRY(auto object,
         co_await client_.get(kube::kNodes, {"", options_.name}, runtime_.in(kCallTimeout)));
  CO_TRY(auto meta, object.meta());
  uid_ = meta.uid.value();
  co_return co_await tell_status();
}

Task<Result<void>> Node::tell_status() {
  kube::WriteOptions options;
  options.part = kube::Part::kStatus;
  CO_TRY(co_await client_.patch(kube::kNodes, {"", options_.name}, kube::PatchKind::kStrategic,
                                make_node_status(facts_, runtime_.clock->wall()),
                                runtime_.in(kCallTimeout), options));
  co_return Result<void>();
}

Task<Result<void>> Node::renew_lease() {
  kube::ApplyOptions options;
  options.force = true;
  CO_TRY(co_await client_.apply(
      kube::kLeases, {kLeaseNamespace, options_.name},
      make_node_lease(facts_, uid_, options_.lease_duration, runtime_.clock->wall()),
      runtime_.in(kCallTimeout), options));
  co_return Result<void>();
}

Task<void> Node::keep_alive() {
  std::optional<Monotonic> told;  // nothing: to be registered
  bool silent = false;            // whoever did not hear of us may have given us up
  while (true) {
    Result<void> done;
    bool due = told && (silent || runtime_.clock->now() - *told >= options_.status_period);
    if (!told)
      done = co_await register_node();
    else if (due)
      done = co_await tell_status();
    if (done && (!told || due)) told = runtime_.clock->now();
    // Somebody has deleted the Node object: it is made again, since we are still there.
    if (!done && done.error().code() == Code::kNotFound) told.reset();
    if (done) done = co_await renew_lease();
    silent = !done;
    if (!done && done.error().code() == Code::kCancelled) co_return;
    if (!done) log_.warn("cannot tell that the node is alive", {{"error", done.error()}});
    auto pause = done ? options_.lease_period : kRetry;
    if (auto slept = co_await runtime_.clock->sleep_until(runtime_.in(pause).at); !slept) co_return;
  }
}

// --- claims

Task<void> Node::follow_claims() {
  while (true) {
    cluster_dirty_ = false;
    ClaimFacts facts;
    facts.node = options_.name;
    facts.volumes = options_.dirs.volumes();
    const auto claims = cluster_.claims().all();
    const auto volumes = cluster_.volumes().all();
    const auto classes = cluster_.classes().all();
    facts.claims = kube::borrow(claims);
    facts.persistent_volumes = kube::borrow(volumes);
    facts.classes = kube::borrow(classes);
    auto steps = decide_claims(facts);
    bool failed = false;
    for (auto& step : steps) {
      Result<void> done;
      if (auto* provision = std::get_if<Provision>(&step))
        done = co_await carry_out(std::move(*provision));
      else if (auto* reclaim = std::get_if<Reclaim>(&step))
        done = co_await carry_out(std::move(*reclaim));
      else
        done = co_await carry_out(std::move(std::get<Grow>(step)));
      if (!done && done.error().code() == Code::kCancelled) co_return;
      if (!done) log_.warn("cannot serve a claim yet", {{"error", done.error()}});
      failed = failed || !done;
    }
    if (cluster_dirty_ && !failed) continue;
    // Our own writes come back by the watch; until then the same steps would be decided again.
    auto deadline = failed || !steps.empty() ? runtime_.in(kRetry) : rt::Deadline::never();
    if (auto waited = co_await cluster_changed_.wait(deadline);
        !waited && waited.error().code() == Code::kCancelled)
      co_return;
  }
}

// The directory is on the disk before anybody hears of the volume: a power cut in between could
// otherwise leave a volume that says it holds a member's data, and holds none.
Task<Result<void>> Node::carry_out(Provision step) {
  CO_TRY(co_await files_.make_directories(step.directory, 0755));
  auto made = co_await client_.create(kube::kPersistentVolumes, "", std::move(step.volume),
                                      runtime_.in(kCallTimeout));
  if (!made && made.error().code() != Code::kConflict) co_return fail(std::move(made).error());
  log_.info("provisioned a volume", {{"directory", step.directory}});
  co_return Result<void>();
}

Task<Result<void>> Node::carry_out(Reclaim step) {
  CO_TRY(remove_tree(step.directory));
  kube::DeleteOptions options;
  options.uid = step.uid;
  auto removed = co_await client_.remove(kube::kPersistentVolumes, {"", step.name},
                                         runtime_.in(kCallTimeout), options);
  if (!removed && removed.error().code() != Code::kNotFound &&
      removed.error().code() != Code::kConflict)
    co_return removed;
  log_.info("reclaimed a volume", {{"directory", step.directory}});
  co_return Result<void>();
}

Task<Result<void>> Node::carry_out(Grow step) {
  json::Object capacity{{"storage", step.size.text()}};
  CO_TRY(co_await client_.patch(
      kube::kPersistentVolumes, {"", step.volume}, kube::PatchKind::kMerge,
      json::Object{{"spec", json::Object{{"capacity", capacity}}}}, runtime_.in(kCallTimeout)));
  kube::WriteOptions status;
  status.part = kube::Part::kStatus;
  CO_TRY(co_await client_.patch(
      kube::kPersistentVolumeClaims, step.claim, kube::PatchKind::kMerge,
      json::Object{{"metadata", json::Object{{"uid", step.claim_uid.value()}}},
                   {"status", json::Object{{"capacity", capacity}}}},
      runtime_.in(kCallTimeout), status));
  log_.info("grew a volume", {{"claim", step.claim}, {"size", step.size.text()}});
  co_return Result<void>();
}

}  // namespace quorate::node
