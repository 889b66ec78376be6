#include "node/nodes.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>

#include <cerrno>

#include "node/fabric.h"
#include "node/netlink.h"
#include "node/refusal.h"
#include "node/small_file.h"

namespace quorate::node {
namespace {

using namespace std::chrono_literals;

constexpr Duration kCallTimeout = 10s;
constexpr Duration kRetry = 1s;
constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::string memory_of(const std::string& directory) { return directory + "/memory"; }

kube::ClientOptions client_options(const Log& log) {
  kube::ClientOptions out;
  out.field_manager = "quorate-node";
  out.log = log;
  return out;
}

ServiceNetwork::Options service_options(const NodesOptions& options, const Log& log) {
  ServiceNetwork::Options out;
  out.api_server = options.api_server;
  out.log = log;
  return out;
}

Result<void> check(const NodesOptions& options) {
  if (!options.directory.starts_with('/'))
    return fail(Code::kInvalid, "directory \"" + options.directory + "\" is not absolute");
  if (options.first < 1 || options.count < 1 ||
      options.first + options.count - 1 > layout::kMaxNodes)
    return fail(Code::kInvalid,
                fmt::format("nodes are numbered from 1 to {}; {} from {} on do not fit",
                            layout::kMaxNodes, options.count, options.first));
  return {};
}

}  // namespace

Result<void> prepare_node_process(const std::string& directory) {
  TRY(auto netlink, Netlink::open());
  if (auto bridge = netlink.carries(fabric_links::kBridge); !bridge)
    return fail(Code::kInvalid,
                "nodes run inside of a fabric, and this is none: use `quorate fabric --dir FOLDER "
                "-- quorate node ...`");
  auto refused = [](const char* call) {
    return fail(explain_refusal(NamespaceSettings::of_this_machine(), call, errno));
  };
  if (::unshare(CLONE_NEWNS) != 0) return refused("unshare(CLONE_NEWNS)");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return refused("mount(\"/\", MS_REC | MS_PRIVATE)");
  TRY(make_directories(memory_of(directory)));
  if (::mount("tmpfs", memory_of(directory).c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=700") !=
      0)
    return refused("mount(tmpfs)");
  return {};
}

Result<std::unique_ptr<Nodes>> Nodes::make(rt::Runtime runtime, kube::Api& api, rt::Files& files,
                                           NodesOptions options, Log log) {
  TRY(check(options));
  return std::unique_ptr<Nodes>(new Nodes(runtime, api, files, std::move(options), std::move(log)));
}

Nodes::Nodes(rt::Runtime runtime, kube::Api& api, rt::Files& files, NodesOptions options, Log log)
    : runtime_(runtime),
      api_(api),
      files_(files),
      options_(std::move(options)),
      log_(std::move(log)),
      client_(runtime, api, client_options(log_)),
      cluster_(runtime, client_, log_),
      services_(runtime, client_, service_options(options_, log_)),
      base_environment_{{"PATH", kPath}, {"HOME", "/root"}},
      changed_(runtime) {
  for (int number = options_.first; number < options_.first + options_.count; ++number)
    slots_[fmt::format("{}{}", options_.prefix, number)].number = number;
  for (auto& [name, slot] : slots_) {
    slot.on = !options_.off.contains(name);
    slot.cut = options_.cut.contains(name);
  }
  cluster_.subscribe([this] {
    for (auto& [name, slot] : slots_)
      if (slot.node) slot.node->dependency_changed();
  });
}

// --- lives of nodes

Result<void> Nodes::boot(const std::string& name, Slot& slot) {
  NodeOptions options;
  options.number = slot.number;
  options.name = name;
  options.dirs.disk = options_.directory + "/" + name;
  options.dirs.memory = memory_of(options_.directory) + "/" + name;
  options.labels = options_.labels;
  options.policy = options_.policy;
  options.base_environment = base_environment_;
  options.lease_period = options_.lease_period;
  options.lease_duration = 4 * options_.lease_period;
  options.shutdown_grace = options_.shutdown_grace;
  options.log_limit = options_.log_limit;
  options.keep_logs = options_.keep_logs;
  TRY(auto node,
      Node::make(runtime_, api_, files_, cluster_, options_.images, std::move(options), log_));
  if (slot.cut) TRY(node->cut());
  slot.node = std::move(node);
  slot.life = std::make_unique<rt::TaskGroup>(runtime_);
  slot.life->spawn(name, slot.node->run());
  log_.info("node is on", {{"node", name}});
  return {};
}

Result<Nodes::Slot*> Nodes::find_slot(const std::string& name) {
  if (!up_ || stopping_) return fail(Code::kUnavailable, "the nodes do not run; try again");
  auto found = slots_.find(name);
  if (found == slots_.end()) return fail(Code::kNotFound, "there is no node " + name);
  return &found->second;
}

Task<Result<void>> Nodes::power_off(std::string node) {
  CO_TRY(auto* slot, find_slot(node));
  if (!slot->on) co_return fail(Code::kNotFound, "node " + node + " is not on");
  slot->on = false;
  auto going = std::move(slot->node);  // from now on nobody else finds it
  auto life = std::move(slot->life);
  slot->going = true;
  life->cancel();
  co_await life->join();
  slot->going = false;
  log_.info("node is off", {{"node", node}});
  co_return Result<void>();
}

Result<void> Nodes::power_on(const std::string& node) {
  TRY(auto* slot, find_slot(node));
  if (slot->on) return fail(Code::kConflict, "node " + node + " is on already");
  if (slot->going) return fail(Code::kConflict, "node " + node + " is still going off");
  TRY(boot(node, *slot));
  slot->on = true;
  return {};
}

Result<void> Nodes::cut(const std::string& node) {
  TRY(auto* slot, find_slot(node));
  if (slot->node) TRY(slot->node->cut());
  slot->cut = true;
  return {};
}

Result<void> Nodes::mend(const std::string& node) {
  TRY(auto* slot, find_slot(node));
  if (slot->node) TRY(slot->node->mend());
  slot->cut = false;
  return {};
}

std::vector<Nodes::State> Nodes::states() const {
  std::vector<State> out;
  for (const auto& [name, slot] : slots_) out.push_back({name, slot.on, slot.cut});
  return out;
}

Node* Nodes::find(const std::string& node) {
  auto found = slots_.find(node);
  return found == slots_.end() ? nullptr : found->second.node.get();
}

Task<void> Nodes::end_lives() {
  for (auto& [name, slot] : slots_) {
    if (!slot.life) continue;
    co_await slot.life->join();
    slot.life.reset();
    slot.node.reset();
  }
}

// --- the process

void Nodes::stop() {
  stopping_ = true;
  changed_.notify();
}

Task<Result<void>> Nodes::run() {
  rt::TaskGroup shared(runtime_);
  shared.spawn("cluster", cluster_.run());
  if (options_.services) shared.spawn("services", services_.run());
  auto ended = co_await live();
  // Whatever ended it: nodes that have not been told to stop lose their power.
  for (auto& [name, slot] : slots_)
    if (slot.life && !stopping_) slot.life->cancel();
  co_await end_lives();
  shared.cancel();
  co_await shared.join();
  co_return ended;
}

Task<Result<void>> Nodes::live() {
  CO_TRY(co_await prepare_cluster());
  for (auto& [name, slot] : slots_)
    if (!stopping_ && slot.on) CO_TRY(boot(name, slot));
  up_ = true;
  while (!stopping_) {
    auto waited = co_await changed_.wait(rt::Deadline::never());
    if (!waited && waited.error().code() == Code::kCancelled) co_return waited;
  }
  for (auto& [name, slot] : slots_)
    if (slot.node) slot.node->stop();
  co_return Result<void>();
}

// Waits for the API as long as it takes: nodes are often up before it.
Task<Result<void>> Nodes::prepare_cluster() {
  CO_TRY(co_await cluster_.wait_until_synced(rt::Deadline::never()));
  while (!stopping_) {
    auto done = options_.storage_class ? co_await make_class() : Result<void>();
    if (done) done = co_await find_api_service();
    if (done || done.error().code() == Code::kCancelled) co_return done;
    log_.warn("the cluster is not ready for nodes yet", {{"error", done.error()}});
    CO_TRY(co_await runtime_.clock->sleep_until(runtime_.in(kRetry).at));
  }
  co_return Result<void>();
}

Task<Result<void>> Nodes::make_class() {
  if (cluster_.classes().find({"", kStorageClass})) co_return Result<void>();
  auto made = co_await client_.create(kube::kStorageClasses, "", make_storage_class(),
                                      runtime_.in(kCallTimeout));
  if (!made && made.error().code() != Code::kConflict) co_return fail(std::move(made).error());
  co_return Result<void>();
}

// Containers find the API as everywhere, by two variables. An API without that Service is fine.
Task<Result<void>> Nodes::find_api_service() {
  auto object =
      co_await client_.get(kube::kServices, {"default", "kubernetes"}, runtime_.in(kCallTimeout));
  if (!object && object.error().code() == Code::kNotFound) co_return Result<void>();
  if (!object) co_return fail(std::move(object).error());
  CO_TRY(auto service, object->as<ServiceView>());
  if (service.ports.empty()) co_return Result<void>();
  base_environment_.emplace_back("KUBERNETES_SERVICE_HOST", service.cluster_ip);
  base_environment_.emplace_back("KUBERNETES_SERVICE_PORT",
                                 std::to_string(service.ports.front().port));
  co_return Result<void>();
}

}  // namespace quorate::node
