#include "node/run_nodes.h"

#include <csignal>
#include <cstdio>

#include "kube/http_api.h"
#include "kube/kubeconfig.h"
#include "rt/cpu_pool.h"
#include "rt/files.h"
#include "rt/loop.h"

namespace quorate::node {
namespace {

Log make_log(const RunNodesOptions& options, rt::Loop& loop) {
  Log::Options out;
  out.format = options.log_format;
  out.level = options.log_level;
  out.now = [clock = loop.runtime().clock] { return clock->wall(); };
  out.sink = options.log_sink;
  if (!out.sink)
    out.sink = [](std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); };
  return Log(std::move(out));
}

Task<void> stop_on_signal(rt::Loop& loop, Nodes& nodes, Log log) {
  auto signal = co_await loop.wait_for_signal({SIGTERM, SIGINT});
  if (!signal) co_return;
  log.info("stopping", {{"signal", *signal}});
  nodes.stop();
}

Task<Result<void>> serve(rt::Loop& loop, RunNodesOptions options) {
  auto runtime = loop.runtime();
  auto log = make_log(options, loop);
  CO_TRY(auto config, kube::find_config(options.kubeconfig, options.context));
  if (auto address = Ipv4::parse(config.endpoint.host))
    options.nodes.api_server = SocketAddress{*address, config.endpoint.port};
  kube::HttpApiOptions api_options;
  api_options.user_agent = "quorate-node";
  api_options.log = log;
  CO_TRY(auto api, kube::HttpApi::make(runtime, config, api_options));
  rt::CpuPool threads(runtime, 1);
  rt::MachineFiles files(runtime, threads);
  CO_TRY(auto nodes, Nodes::make(runtime, *api, files, std::move(options.nodes), log));
  log.info("nodes run", {{"server", config.endpoint.text()}});
  rt::TaskGroup group(runtime);
  group.spawn("signals", stop_on_signal(loop, *nodes, log));
  auto ended = co_await nodes->run();
  group.cancel();
  co_await group.join();
  co_await api->close();
  co_return ended;
}

}  // namespace

Result<void> run_nodes(RunNodesOptions options) {
  TRY(prepare_node_process(options.nodes.directory));
  rt::Loop loop;
  return loop.run(serve(loop, std::move(options)));
}

}  // namespace quorate::node
