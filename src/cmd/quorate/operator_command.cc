#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "base/strings.h"
#include "cmd/quorate/commands.h"
#include "cmd/quorate/operator_flags.h"
#include "etcd/client.h"
#include "kube/http_api.h"
#include "kube/kubeconfig.h"
#include "operator/health.h"
#include "operator/process_figures.h"
#include "pki/key.h"
#include "rt/loop.h"

namespace quorate::cmd {
namespace {

Log make_log(const OperatorSettings& settings, rt::Loop& loop) {
  Log::Options out;
  out.format = settings.log_format;
  out.level = settings.log_level;
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

// Much of the program is needed for its start alone.
Task<void> settle_in(rt::Runtime runtime, op::Operator& op) {
  while (!op.ready()) {
    const auto later = runtime.clock->now() + std::chrono::seconds(1);
    if (!co_await runtime.clock->sleep_until(later)) co_return;
  }
  op::give_back_program_pages();
}

// Where health and metrics are served: at one address, or at two.
struct Listeners {
  std::unique_ptr<net::Server> health;
  std::unique_ptr<net::Server> metrics;  // nullptr: the same
};

Result<Listeners> listen(rt::Runtime runtime, const OperatorSettings& settings) {
  Listeners out;
  TRY(out.health, in("--listen", net::make_server(runtime, settings.listen)));
  if (settings.metrics_listen) {
    TRY(out.metrics, in("--metrics-listen", net::make_server(runtime, *settings.metrics_listen)));
  }
  return out;
}

Task<Result<void>> serve(rt::Loop& loop, OperatorSettings settings) {
  auto runtime = loop.runtime();
  auto log = make_log(settings, loop);
  CO_TRY(auto config, kube::find_config(settings.kubeconfig, settings.context));
  settings.op.lease = settings.lease.value_or(ObjectKey{config.ns, "quorate-operator"});
  kube::HttpApiOptions api_options;
  api_options.user_agent = std::string("quorate-operator/") + kVersion;
  api_options.log = log;
  CO_TRY(auto api, kube::HttpApi::make(runtime, config, api_options));
  CO_TRY(auto lease_api, kube::HttpApi::make(runtime, config, api_options));
  etcd::Pool pool(runtime, {});
  auto etcd = etcd::make_client(pool);
  pki::SystemKeys keys;
  CO_TRY(auto op, op::Operator::make(runtime, *api, *lease_api, *etcd, keys, settings.op, log));
  CO_TRY(auto servers, listen(runtime, settings));
  using Pages = op::HealthHandler::Pages;
  op::HealthHandler health(*op, &pool, kVersion, servers.metrics ? Pages::kHealth : Pages::kAll);
  op::HealthHandler metrics(*op, &pool, kVersion, Pages::kMetrics);

  rt::TaskGroup group(runtime);
  group.spawn("health", servers.health->run(health));
  if (servers.metrics) group.spawn("metrics", servers.metrics->run(metrics));
  group.spawn("etcd pool", pool.run());
  group.spawn("signals", stop_on_signal(loop, *op, log));
  group.spawn("start", settle_in(runtime, *op));
  log.info(
      "operator runs",
      {{"version", kVersion},
       {"server", config.endpoint.text()},
       {"port", servers.health->port()},
       {"identity", settings.op.identity},
       {"lease", settings.op.lease},
       {"namespaces", settings.op.namespaces.empty() ? "all" : join(settings.op.namespaces, ",")},
       {"selector", settings.op.selector},
       {"cluster_domain", settings.op.cluster_domain}});
  auto ended = co_await op->run();
  group.cancel();
  co_await group.join();
  co_await pool.close();
  co_await api->close();
  co_await lease_api->close();
  co_return ended;
}

Result<void> run(OperatorSettings settings) {
  rt::Loop loop;
  return loop.run(serve(loop, std::move(settings)));
}

}  // namespace

void add_operator(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<OperatorFlags>();
  auto* command = app.add_subcommand(
      "operator", "Run the Kubernetes operator: watches EtcdClusters and acts on them");
  command->footer(
      "Example:\n  quorate operator --kubeconfig ~/.kube/config --namespace team\n"
      "Every flag can also be given by the environment variable beside it.\n"
      "SIGTERM and SIGINT end it in the clean way: it ends its work and releases the lease, so "
      "that "
      "another replica need not wait.\n"
      "Outside of a cluster: quorate operator --kubeconfig ~/.kube/config --launch-image "
      "localhost/quorate:dev --log-format human");
  add_flags(*command, *flags);
  command->callback([flags, &exit_code] {
    auto settings = read_flags(*flags);
    auto ended = settings ? run(std::move(*settings)) : fail(settings.error());
    if (ended) return;
    std::fprintf(stderr, "quorate operator: %s\n", ended.error().text().c_str());
    exit_code = ended.error() == Code::kInvalid ? kUsage : kFailed;
  });
}

}  // namespace quorate::cmd
