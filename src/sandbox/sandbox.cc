#include "sandbox/sandbox.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "apiserver/controllers.h"
#include "apiserver/server.h"
#include "etcd/client.h"
#include "kube/client.h"
#include "kube/http_api.h"
#include "kube/kubeconfig.h"
#include "net/server.h"
#include "node/fabric.h"
#include "node/nodes.h"
#include "node/relay.h"
#include "node/small_file.h"
#include "operator/operator.h"
#include "pki/key.h"
#include "rt/cpu_pool.h"
#include "rt/files.h"
#include "rt/group.h"
#include "rt/log_file.h"
#include "rt/loop.h"
#include "sandbox/control.h"
#include "sandbox/credentials.h"
#include "sandbox/front.h"
#include "sandbox/furnish.h"
#include "sandbox/host_sockets.h"
#include "sandbox/object_store.h"
#include "sandbox/pod_exec.h"
#include "sandbox/pod_logs.h"
#include "sandbox/reach.h"
#include "sandbox/switches.h"

namespace quorate::sandbox {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr Duration kOperatorPause = 1s;
// Nodes beat faster than a kubelet and are missed sooner: whoever pulls a cable here waits for it.
constexpr Duration kHeartbeat = 4s;
constexpr Duration kSilence = 16s;
constexpr Bytes kCredentialsLimit(1 << 20);

// Lines go to a file: the terminal is for what people want to know.
class LogFile {
 public:
  static Result<LogFile> open(const fs::path& path) {
    LogFile out(std::fopen(path.c_str(), "ae"));
    if (!out.file_) return fail(errno_error("open " + path.string(), errno));
    return out;
  }
  Log make(const SandboxOptions& options, const rt::Runtime& runtime) const {
    Log::Options how;
    how.format = LogFormat::kHuman;
    how.level = options.log_level;
    how.now = [clock = runtime.clock] { return clock->wall(); };
    how.sink = [file = file_](std::string_view line) {
      std::fwrite(line.data(), 1, line.size(), file.get());
      std::fflush(file.get());
    };
    return Log(std::move(how));
  }

 private:
  explicit LogFile(std::FILE* file)
      : file_(file, [](std::FILE* open) {
          if (open) std::fclose(open);
        }) {}
  std::shared_ptr<std::FILE> file_;
};

// The parts, in the order in which they need each other.
class Parts {
 public:
  Parts(rt::Loop& loop, SandboxOptions options, HostSockets host, Log log)
      : loop_(loop),
        runtime_(loop.runtime()),
        options_(std::move(options)),
        host_(std::move(host)),
        log_(std::move(log)),
        api_(runtime_, {}),
        objects_(options_.folder.objects()),
        store_(objects_, api_.registry(), api_.storage(),
               {.on_broken = [this](const Error& error) { end_at_once(error); }}),
        controllers_(runtime_, api_.verbs(),
                     {.nodes = {.grace = kSilence, .orphan = kSilence}, .provisions = false}),
        pool_(runtime_, {}),
        threads_(runtime_, 1),
        files_(runtime_, threads_),
        switches_(runtime_, files_, options_.folder.switches()),
        reach_(runtime_, api_, host_, files_, options_.folder.reach(), log_),
        control_(
            runtime_, [this] { return nodes_.get(); }, switches_, reach_),
        logs_(runtime_, api_, [this] { return nodes_.get(); }),
        exec_(runtime_, api_, [this] { return nodes_.get(); }) {}

  Task<Result<void>> run(int host_listener) {
    CO_TRY(install_kinds(api_));
    CO_TRY(in(options_.folder.objects(), store_.open()));
    log_.info("objects are there", {{"version", api_.storage().version()}, {"cut", store_.cut()}});
    CO_TRY(furnish(api_));
    CO_TRY(co_await find_credentials());
    Front front(api_, credentials_.token, {&control_, &logs_, &exec_});
    CO_TRY(auto tls, net::TlsContext::for_server(credentials_.serving, net::PeerCheck::kNone,
                                                 {"h2", "http/1.1"}));
    CO_TRY(auto outside,
           net::make_server(runtime_, {.listen_fd = host_listener, .tls = tls, .log = log_}));
    // At the same address, so that the kubeconfig is good there, too.
    CO_TRY(auto inside,
           net::make_server(runtime_, {.port = outside->port(), .tls = tls, .log = log_}));
    CO_TRY(co_await write_file(options_.folder.kubeconfig(),
                               credentials_.kubeconfig(outside->port())));
    rt::TaskGroup servers(runtime_);
    servers.spawn("api outside", outside->run(front));
    servers.spawn("api inside", inside->run(front));
    servers.spawn("controllers", controllers_.run());
    servers.spawn("reach", reach_.run());
    options_.tell(fmt::format("the API answers at https://127.0.0.1:{}", outside->port()));
    if (options_.ready) options_.ready();
    auto ended = co_await run_hands(credentials_.config(inside->port()));
    servers.cancel();
    co_await servers.join();
    co_return ended;
  }

 private:
  // Nothing more may be answered. The kernel ends everything that runs here with this process.
  [[noreturn]] void end_at_once(const Error& error) {
    log_.error("objects cannot be kept: the sandbox ends", {{"error", error}});
    options_.tell("objects cannot be kept, so nothing can be acknowledged: " + error.text());
    ::_exit(EXIT_FAILURE);
  }

  Task<Result<void>> write_file(std::string path, Secret text) {
    co_return co_await files_.write_atomically(std::move(path), text.reveal(), 0600);
  }

  // Those of the last start, or new ones.
  Task<Result<void>> find_credentials() {
    const auto path = options_.folder.credentials();
    auto text = co_await files_.read(path, kCredentialsLimit);
    if (!text && text.error() != Code::kNotFound) co_return fail(std::move(text).error());
    const auto now = runtime_.clock->wall();
    if (text) {
      auto kept = Credentials::parse(Secret(std::move(*text)), now);
      if (kept) {
        credentials_ = std::move(*kept);
        co_return Result<void>();
      }
      log_.warn("credentials are made anew", {{"error", kept.error()}});
    }
    CO_TRY(credentials_, Credentials::make(keys_, now));
    co_return co_await write_file(path, credentials_.render());
  }

  // Nodes and operator: production code, which knows of no sandbox.
  Task<Result<void>> run_hands(kube::ClusterConfig config) {
    CO_TRY(auto node_api, kube::HttpApi::make(runtime_, config, {.user_agent = "quorate-node"}));
    CO_TRY(nodes_, make_nodes(*node_api, config.endpoint, co_await find_switches()));
    etcd_ = etcd::make_client(pool_);
    rt::TaskGroup beside(runtime_);
    beside.spawn("etcd pool", pool_.run());
    beside.spawn("signals", stop_on_signal());
    beside.spawn("operator", run_operator(config));
    auto ended = co_await nodes_->run();
    beside.cancel();
    co_await beside.join();
    co_await pool_.close();
    co_await node_api->close();
    co_return ended;
  }

  // Those of the last start.
  Task<Switches> find_switches() {
    auto kept = co_await switches_.load();
    if (kept) co_return std::move(*kept);
    log_.warn("all nodes are powered on and connected", {{"error", kept.error()}});
    co_return Switches();
  }

  Result<std::unique_ptr<node::Nodes>> make_nodes(kube::Api& api, const net::Endpoint& endpoint,
                                                  Switches switches) {
    node::NodesOptions nodes;
    nodes.directory = options_.folder.nodes();
    TRY(nodes.count, settle_nodes(api_, options_.nodes));
    nodes.lease_period = kHeartbeat;
    nodes.off = std::move(switches.off);
    nodes.cut = std::move(switches.cut);
    nodes.images = options_.images;
    if (auto address = node::Ipv4::parse(endpoint.host))
      nodes.api_server = node::SocketAddress{*address, endpoint.port};
    options_.tell(fmt::format("{} nodes and the operator run; the log is {}", nodes.count,
                              options_.folder.log()));
    return node::Nodes::make(runtime_, api, files_, std::move(nodes), log_);
  }

  // One life after the other: an operator that was held up for longer than its lease ends.
  Task<void> run_operator(kube::ClusterConfig config) {
    while (!stopping_) {
      auto ended = co_await run_operator_once(config);
      if (stopping_) co_return;
      if (!ended) log_.error("operator ended", {{"error", ended.error()}});
      if (!co_await runtime_.clock->sleep_until(runtime_.in(kOperatorPause).at)) co_return;
    }
  }

  Task<Result<void>> run_operator_once(kube::ClusterConfig config) {
    CO_TRY(auto api, kube::HttpApi::make(runtime_, config, {.user_agent = "quorate-operator"}));
    CO_TRY(auto lease_api,
           kube::HttpApi::make(runtime_, config, {.user_agent = "quorate-operator"}));
    op::OperatorOptions options;
    options.lease = {kOperatorNamespace, kOperatorLease};
    options.launch_image = options_.launch_image;
    options.default_version = options_.etcd_version;
    options.cluster_domain = "cluster.local";
    CO_TRY(operator_, op::Operator::make(runtime_, *api, *lease_api, *etcd_, keys_, options, log_));
    auto ended = co_await operator_->run();
    operator_.reset();
    co_await api->close();
    co_await lease_api->close();
    co_return ended;
  }

  Task<void> stop_on_signal() {
    auto signal = co_await loop_.wait_for_signal({SIGTERM, SIGINT});
    if (!signal) co_return;
    options_.tell("stopping: members end in peace");
    stopping_ = true;
    if (operator_) operator_->stop();
    nodes_->stop();
  }

  rt::Loop& loop_;
  rt::Runtime runtime_;
  SandboxOptions options_;
  HostSockets host_;
  Log log_;
  pki::SystemKeys keys_;
  Credentials credentials_;
  apiserver::Server api_;
  rt::MachineLogFile objects_;
  ObjectStore store_;
  apiserver::Controllers controllers_;
  etcd::Pool pool_;
  rt::CpuPool threads_;
  rt::MachineFiles files_;
  SwitchFile switches_;
  Reach reach_;
  Control control_;
  PodLogs logs_;
  PodExec exec_;
  std::unique_ptr<etcd::Api> etcd_;
  std::unique_ptr<node::Nodes> nodes_;
  std::unique_ptr<op::Operator> operator_;
  bool stopping_ = false;
};

// At the port of the last start, if nobody else has taken it, so that kubeconfigs stay good.
Result<rt::Fd> listen_for_api(const SandboxOptions& options) {
  const auto loopback = *node::Ipv4::parse("127.0.0.1");
  if (options.port) return node::listen_at({loopback, *options.port});
  if (const auto before = kube::load_kubeconfig(options.folder.kubeconfig()))
    if (auto again = node::listen_at({loopback, before->endpoint.port})) return again;
  return node::listen_at({loopback, 0});
}

}  // namespace

Result<void> run_sandbox(SandboxOptions options) {
  TRY(options.folder.make());
  TRY(const auto lock, options.folder.lock());
  TRY(auto listener, listen_for_api(options));
  TRY(auto log_file, LogFile::open(options.folder.log()));
  TRY(auto host, HostSockets::make());
  TRY(auto fabric, node::Fabric::make({options.folder.path(), false}));
  TRY(fabric.enter());
  TRY(node::make_directories(options.folder.nodes()));
  TRY(node::prepare_node_process(options.folder.nodes()));
  rt::Loop loop;
  auto log = log_file.make(options, loop.runtime());
  Parts parts(loop, std::move(options), std::move(host), log);
  auto ended = loop.run(parts.run(listener.release()));
  fabric.end();
  return ended;
}

}  // namespace quorate::sandbox
