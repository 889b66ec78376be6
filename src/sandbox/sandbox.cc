#include "sandbox/sandbox.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "api/crd.h"
#include "apiserver/controllers.h"
#include "apiserver/server.h"
#include "apiserver/verbs.h"
#include "etcd/client.h"
#include "kube/client.h"
#include "kube/http_api.h"
#include "net/server.h"
#include "node/fabric.h"
#include "node/nodes.h"
#include "node/relay.h"
#include "operator/operator.h"
#include "pki/key.h"
#include "rt/cpu_pool.h"
#include "rt/files.h"
#include "rt/group.h"
#include "rt/loop.h"
#include "sandbox/credentials.h"
#include "sandbox/front.h"

namespace quorate::sandbox {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* kOperatorNamespace = "quorate-system";

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

// What every Kubernetes has from the beginning, and our own kinds.
Result<void> furnish(apiserver::Server& api) {
  for (const auto& crd : api::make_crds()) TRY(api.install_crd(json::render(crd)));
  for (const char* name : {"default", "kube-system", kOperatorNamespace}) {
    apiserver::Request request;
    request.method = "POST";
    request.path = "/api/v1/namespaces";
    request.content_type = "application/json";
    request.body = json::render(json::Object{
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::Object{{"name", name}}}});
    const auto answer = api.serve(request);
    if (answer.status != 201 && answer.status != 409)
      return fail(Code::kInternal, fmt::format("namespace {}: {}", name, answer.body));
  }
  return {};
}

// The parts, in the order in which they need each other.
class Parts {
 public:
  Parts(rt::Loop& loop, SandboxOptions options, Log log)
      : loop_(loop),
        runtime_(loop.runtime()),
        options_(std::move(options)),
        log_(std::move(log)),
        api_(runtime_, {}),
        controllers_(runtime_, api_.verbs(), {.provisions = false}),
        pool_(runtime_, {}) {}

  Task<Result<void>> run(int host_listener) {
    CO_TRY(furnish(api_));
    CO_TRY(credentials_, Credentials::make(keys_, runtime_.clock->wall()));
    Front front(api_, credentials_.token);
    CO_TRY(auto tls, net::TlsContext::for_server(credentials_.serving, net::PeerCheck::kNone,
                                                 {"h2", "http/1.1"}));
    CO_TRY(auto outside,
           net::make_server(runtime_, {.listen_fd = host_listener, .tls = tls, .log = log_}));
    CO_TRY(auto inside, net::make_server(runtime_, {.tls = tls, .log = log_}));
    CO_TRY(co_await write_kubeconfig(outside->port()));
    rt::TaskGroup servers(runtime_);
    servers.spawn("api outside", outside->run(front));
    servers.spawn("api inside", inside->run(front));
    servers.spawn("controllers", controllers_.run());
    options_.tell(fmt::format("the API answers at https://127.0.0.1:{}", outside->port()));
    auto ended = co_await run_hands(credentials_.config(inside->port()));
    servers.cancel();
    co_await servers.join();
    co_return ended;
  }

 private:
  Task<Result<void>> write_kubeconfig(std::uint16_t port) {
    rt::CpuPool threads(runtime_, 1);
    rt::MachineFiles files(runtime_, threads);
    co_return co_await files.write_atomically(options_.directory + "/kubeconfig",
                                              credentials_.kubeconfig(port).reveal(), 0600);
  }

  // Nodes and operator: production code, which knows of no sandbox.
  Task<Result<void>> run_hands(kube::ClusterConfig config) {
    CO_TRY(auto node_api, kube::HttpApi::make(runtime_, config, {.user_agent = "quorate-node"}));
    CO_TRY(auto api, kube::HttpApi::make(runtime_, config, {.user_agent = "quorate-operator"}));
    CO_TRY(auto lease_api,
           kube::HttpApi::make(runtime_, config, {.user_agent = "quorate-operator"}));
    node::NodesOptions nodes;
    nodes.directory = options_.directory + "/nodes";
    nodes.count = options_.nodes;
    nodes.images = options_.images;
    if (auto address = node::Ipv4::parse(config.endpoint.host))
      nodes.api_server = node::SocketAddress{*address, config.endpoint.port};
    CO_TRY(nodes_, node::Nodes::make(runtime_, *node_api, std::move(nodes), log_));
    etcd_ = etcd::make_client(pool_);
    op::OperatorOptions options;
    options.lease = {kOperatorNamespace, "quorate-operator"};
    options.launch_image = options_.launch_image;
    options.cluster_domain = "cluster.local";
    CO_TRY(operator_, op::Operator::make(runtime_, *api, *lease_api, *etcd_, keys_, options, log_));
    rt::TaskGroup beside(runtime_);
    beside.spawn("etcd pool", pool_.run());
    beside.spawn("signals", stop_on_signal());
    beside.spawn("operator", run_operator());
    options_.tell(fmt::format("{} nodes and the operator run; logs are in {}", options_.nodes,
                              options_.directory));
    auto ended = co_await nodes_->run();
    beside.cancel();
    co_await beside.join();
    co_await pool_.close();
    for (auto* one : {node_api.get(), api.get(), lease_api.get()}) co_await one->close();
    co_return ended;
  }

  Task<void> run_operator() {
    auto ended = co_await operator_->run();
    if (!ended) log_.error("operator ended", {{"error", ended.error()}});
  }

  Task<void> stop_on_signal() {
    auto signal = co_await loop_.wait_for_signal({SIGTERM, SIGINT});
    if (!signal) co_return;
    options_.tell("stopping: members end in peace");
    operator_->stop();
    nodes_->stop();
  }

  rt::Loop& loop_;
  rt::Runtime runtime_;
  SandboxOptions options_;
  Log log_;
  pki::SystemKeys keys_;
  Credentials credentials_;
  apiserver::Server api_;
  apiserver::Controllers controllers_;
  etcd::Pool pool_;
  std::unique_ptr<etcd::Api> etcd_;
  std::unique_ptr<node::Nodes> nodes_;
  std::unique_ptr<op::Operator> operator_;
};

}  // namespace

Result<void> run_sandbox(SandboxOptions options) {
  std::error_code failed;
  fs::create_directories(options.directory, failed);
  if (failed)
    return fail(Code::kInvalid, fmt::format("{}: {}", options.directory, failed.message()));
  options.directory = fs::absolute(options.directory).lexically_normal().string();
  if (node::Fabric::find(options.directory))
    return fail(Code::kConflict, "a sandbox runs in " + options.directory + " already");
  TRY(auto listener, node::listen_at({*node::Ipv4::parse("127.0.0.1"), options.port}));
  TRY(auto log_file, LogFile::open(fs::path(options.directory) / "sandbox.log"));
  TRY(auto fabric, node::Fabric::make({options.directory, false}));
  TRY(fabric.enter());
  fs::create_directories(options.directory + "/nodes", failed);
  TRY(node::prepare_node_process(options.directory + "/nodes"));
  rt::Loop loop;
  auto log = log_file.make(options, loop.runtime());
  Parts parts(loop, std::move(options), log);
  auto ended = loop.run(parts.run(listener.release()));
  fabric.end();
  return ended;
}

}  // namespace quorate::sandbox
