#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "cmd/quorate/commands.h"
#include "etcd/client.h"
#include "kube/http_api.h"
#include "kube/kubeconfig.h"
#include "operator/operator.h"
#include "pki/key.h"
#include "rt/loop.h"

namespace quorate::cmd {
namespace {

struct Options {
  std::string kubeconfig;
  std::string context;
  std::string lease;
  std::string listen = "0.0.0.0:8080";
  std::string log_format = "json";
  std::string log_level = "info";
  op::OperatorOptions op;
};

Result<net::ServerOptions> parse_listen(const std::string& text) {
  const auto colon = text.rfind(':');
  net::ServerOptions out;
  int port = -1;
  if (colon != std::string::npos) {
    out.address = text.substr(0, colon);
    const auto digits = text.substr(colon + 1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc() || end != digits.data() + digits.size()) port = -1;
  }
  if (port < 0 || port > 65535)
    return fail(Code::kInvalid,
                "--listen: \"" + text + "\" is not ADDRESS:PORT, as in 0.0.0.0:8080");
  out.port = static_cast<std::uint16_t>(port);
  return out;
}

Result<ObjectKey> parse_lease(const std::string& text, const std::string& default_namespace) {
  if (text.empty()) return ObjectKey{default_namespace, "quorate-operator"};
  const auto slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size())
    return fail(
        Code::kInvalid,
        "--lease: \"" + text + "\" is not NAMESPACE/NAME, as in quorate-system/quorate-operator");
  return ObjectKey{text.substr(0, slash), text.substr(slash + 1)};
}

Log make_log(const Options& options, rt::Loop& loop) {
  Log::Options out;
  out.format = options.log_format == "json" ? LogFormat::kJson : LogFormat::kHuman;
  out.level = parse_log_level(options.log_level).value_or(LogLevel::kInfo);
  out.now = [clock = loop.runtime().clock] { return clock->wall(); };
  out.sink = [](std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); };
  return Log(std::move(out));
}

// Tells the operator to hand over when the process is told to end.
Task<void> stop_on_signal(rt::Loop& loop, op::Operator& op, Log log) {
  auto signal = co_await loop.wait_for_signal({SIGTERM, SIGINT});
  if (!signal) co_return;
  log.info("stopping", {{"signal", *signal}});
  op.stop();
}

Task<Result<void>> serve(rt::Loop& loop, Options options) {
  auto runtime = loop.runtime();
  auto log = make_log(options, loop);
  CO_TRY(auto listen, parse_listen(options.listen));
  CO_TRY(auto config, kube::find_config(options.kubeconfig, options.context));
  CO_TRY(options.op.lease, parse_lease(options.lease, config.ns));
  kube::HttpApiOptions api_options;
  api_options.user_agent = std::string("quorate-operator/") + kVersion;
  api_options.log = log;
  CO_TRY(auto api, kube::HttpApi::make(runtime, config, api_options));
  CO_TRY(auto lease_api, kube::HttpApi::make(runtime, config, api_options));
  etcd::Pool pool(runtime, {});
  auto etcd = etcd::make_client(pool);
  pki::SystemKeys keys;
  CO_TRY(auto op, op::Operator::make(runtime, *api, *lease_api, *etcd, keys, options.op, log));
  CO_TRY(auto server, net::make_server(runtime, listen));
  op::HealthHandler health(*op, &pool, kVersion);

  rt::TaskGroup group(runtime);
  group.spawn("health", server->run(health));
  group.spawn("etcd pool", pool.run());
  group.spawn("signals", stop_on_signal(loop, *op, log));
  log.info("operator runs",
           {{"version", kVersion}, {"server", config.endpoint.text()}, {"port", server->port()}});
  auto ended = co_await op->run();
  group.cancel();
  co_await group.join();
  co_await pool.close();
  co_await api->close();
  co_await lease_api->close();
  co_return ended;
}

}  // namespace

void add_operator(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "operator", "Run the Kubernetes operator: watches EtcdClusters and acts on them");
  command->footer(
      "Every option can also be given by the environment variable in brackets.\n"
      "Outside of a cluster: quorate operator --kubeconfig ~/.kube/config --launch-image "
      "localhost/quorate:dev --log-format human");
  auto add = [&](const char* name, auto& value, const char* help, const char* env) {
    return command->add_option(name, value, help)->envname(env);
  };
  add("--kubeconfig", options->kubeconfig,
      "Kubeconfig file; else KUBECONFIG, the Pod's own account, ~/.kube/config",
      "QUORATE_KUBECONFIG");
  add("--context", options->context, "Context of the kubeconfig; its current one if not given",
      "QUORATE_CONTEXT");
  add("--namespace", options->op.ns, "The one namespace to manage; all if not given",
      "QUORATE_NAMESPACE");
  add("--lease", options->lease, "Lease for leader election, NAMESPACE/NAME", "QUORATE_LEASE");
  add("--identity", options->op.identity,
      "Under which clusters are claimed; the same for all replicas", "QUORATE_IDENTITY")
      ->capture_default_str();
  add("--replica", options->op.replica, "Name of this replica, for people: the Pod's name",
      "QUORATE_REPLICA")
      ->capture_default_str();
  add("--workers", options->op.workers, "Clusters that are looked at side by side",
      "QUORATE_WORKERS")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  add("--launch-image", options->op.launch_image, "Image that holds /quorate-launch",
      "QUORATE_LAUNCH_IMAGE")
      ->required();
  add("--default-version", options->op.default_version, "etcd version of clusters that name none",
      "QUORATE_DEFAULT_VERSION");
  add("--default-repository", options->op.default_repository,
      "Image repository of clusters that name none", "QUORATE_DEFAULT_REPOSITORY");
  add("--listen", options->listen, "Address of /healthz, /readyz, /metrics and /debug/clusters",
      "QUORATE_LISTEN")
      ->capture_default_str();
  add("--log-format", options->log_format, "json or human", "QUORATE_LOG_FORMAT")
      ->check(CLI::IsMember({"json", "human"}))
      ->capture_default_str();
  add("--log-level", options->log_level, "debug, info, warn or error", "QUORATE_LOG_LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
  command->callback([options, &exit_code] {
    rt::Loop loop;
    auto ended = loop.run(serve(loop, *options));
    if (ended) return;
    std::fprintf(stderr, "quorate operator: %s\n", ended.error().text().c_str());
    exit_code = ended.error() == Code::kInvalid ? kUsage : kFailed;
  });
}

}  // namespace quorate::cmd
