// Plays a Kubernetes API and all members of many etcd clusters, for benchmarks of the operator:
//
//   quorate-player CLUSTERS KUBECONFIG
//
// CLUSTERS of three are formed already when it says `ready CONTROL_PORT`; KUBECONFIG is written for
// the operator. Members answer on port 2379 of their Pods' addresses (198.18.0.0/16), all of which
// must be this machine's: run it, and whoever asks them, in a network namespace of its own with
// `ip route add local 198.18.0.0/16 dev lo`.

#include <csignal>

#include "api/names.h"
#include "apiserver/verbs.h"
#include "base/bytes.h"
#include "bench/player.h"
#include "bench/player/handlers.h"
#include "bench/player/kubelet.h"
#include "bench/player/seed.h"

namespace quorate::bench {
namespace {

using namespace std::chrono_literals;

class Stage {
 public:
  Stage(rt::Runtime runtime, int clusters)
      : runtime_(runtime),
        declared_(clusters),
        server_(runtime, {.history = 200'000}),
        fleet_(server_),
        kubelet_(runtime, server_) {}

  Task<Result<void>> run(const char* kubeconfig);

 private:
  Task<Result<void>> serve(rt::TaskGroup& group, const char* kubeconfig);
  void write_kubeconfig(const char* file, const Credentials& credentials, std::uint16_t port);
  std::map<std::string, ControlHandler::Command> commands();

  Task<Result<json::Value>> tell_counters(int);
  Task<Result<json::Value>> declare_more(int count);
  Task<Result<json::Value>> disturb(int count);
  Task<Result<double>> disturb_one(int number);

  rt::Runtime runtime_;
  int declared_;
  apiserver::Server server_;
  Fleet fleet_;
  Kubelet kubelet_;
  Counters counters_;
  std::vector<std::unique_ptr<net::Server>> servers_;
  std::vector<std::unique_ptr<net::Handler>> handlers_;
};

Task<Result<void>> Stage::run(const char* kubeconfig) {
  prepare(server_);
  declare(server_, 0, declared_);
  rt::TaskGroup group(runtime_);
  group.spawn("kubelet", kubelet_.run());
  Result<void> ended;
  if (declared_ > 0) ended = co_await form_all(runtime_, server_, fleet_);
  if (ended) ended = co_await serve(group, kubeconfig);
  if (!ended) group.cancel();
  co_await group.join();
  co_return ended;
}

Task<Result<void>> Stage::serve(rt::TaskGroup& group, const char* kubeconfig) {
  const auto credentials = make_credentials();
  const auto start = [&](net::ServerOptions options,
                         std::unique_ptr<net::Handler> handler) -> Result<std::uint16_t> {
    options.idle_timeout = 1h;
    options.max_connections = 5000;
    TRY(auto server, net::make_server(runtime_, std::move(options)));
    group.spawn("server", server->run(*handler));
    servers_.push_back(std::move(server));
    handlers_.push_back(std::move(handler));
    return servers_.back()->port();
  };
  net::ServerOptions kube;
  CO_TRY(kube.tls, net::TlsContext::for_server(credentials.server, net::PeerCheck::kRequired,
                                               {"h2", "http/1.1"}));
  CO_TRY(const auto port, start(kube, std::make_unique<KubeHandler>(runtime_, server_, counters_)));
  net::ServerOptions members;
  members.address = "0.0.0.0";
  members.port = api::kClientPort;
  members.tls_for = [this](const std::string& local) { return fleet_.tls(local); };
  CO_TRY(start(members, std::make_unique<MemberHandler>(fleet_, counters_)));
  CO_TRY(const auto control, start({}, std::make_unique<ControlHandler>(commands())));
  write_kubeconfig(kubeconfig, credentials, port);
  fmt::print("ready {}\n", control);
  std::fflush(stdout);
  co_return Result<void>();
}

void Stage::write_kubeconfig(const char* file, const Credentials& credentials, std::uint16_t port) {
  const auto data = [](std::string_view pem) { return encode_base64(pem); };
  const json::Object cluster{{"server", fmt::format("https://127.0.0.1:{}", port)},
                             {"certificate-authority-data", data(credentials.client.roots)}};
  const json::Object user{{"client-certificate-data", data(credentials.client.certificate)},
                          {"client-key-data", data(credentials.client.key.reveal())}};
  const json::Object context{{"cluster", "player"}, {"user", "operator"}};
  const json::Object config{
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"current-context", "player"},
      {"clusters", json::Array{json::Object{{"name", "player"}, {"cluster", cluster}}}},
      {"users", json::Array{json::Object{{"name", "operator"}, {"user", user}}}},
      {"contexts", json::Array{json::Object{{"name", "player"}, {"context", context}}}}};
  std::ofstream out(file);
  if (!(out << json::render(config) << std::flush))
    throw std::runtime_error("cannot write the kubeconfig");
}

std::map<std::string, ControlHandler::Command> Stage::commands() {
  return {{"counters", std::bind_front(&Stage::tell_counters, this)},
          {"declare", std::bind_front(&Stage::declare_more, this)},
          {"disturb", std::bind_front(&Stage::disturb, this)}};
}

// And begins to count anew.
Task<Result<json::Value>> Stage::tell_counters(int) {
  json::Object requests, calls;
  for (const auto& [what, count] : counters_.requests) requests[what] = count;
  for (const auto& [what, count] : counters_.calls) calls[what] = count;
  json::Value told = json::Object{{"requests", std::move(requests)}, {"calls", std::move(calls)},
                                  {"refused", counters_.refused},    {"clusters", declared_},
                                  {"ready", count_ready(server_)},   {"members", fleet_.size()}};
  counters_ = {};
  co_return told;
}

Task<Result<json::Value>> Stage::declare_more(int count) {
  declare(server_, declared_, count);
  declared_ += count;
  co_return json::Value(declared_);
}

// Takes the disruption budgets of so many clusters away, one after the other, and says how many
// milliseconds it took until each was there again.
Task<Result<json::Value>> Stage::disturb(int count) {
  json::Array times;
  for (int i = 0; i < count; ++i) {
    CO_TRY(const double milliseconds, co_await disturb_one(i % std::max(1, declared_)));
    times.push_back(milliseconds);
  }
  co_return json::Value(std::move(times));
}

Task<Result<double>> Stage::disturb_one(int number) {
  const auto& kind = *server_.registry().built_in().disruption_budgets;
  const ObjectKey key{kNamespace, cluster_name(number)};
  const auto began = runtime_.clock->now();
  if (auto gone = server_.verbs().remove(kind, key); !gone) co_return fail(gone.error().error());
  while (!server_.storage().find(kind, key))
    CO_TRY(co_await server_.storage().changed(kind).wait(
        rt::Deadline{began + std::chrono::seconds(30)}));
  co_return std::chrono::duration<double, std::milli>(runtime_.clock->now() - began).count();
}

}  // namespace
}  // namespace quorate::bench

int main(int count, char** words) {
  using namespace quorate;
  if (count != 3) {
    fmt::print(stderr, "usage: quorate-player CLUSTERS KUBECONFIG\n");
    return 2;
  }
  return bench::run_main([&] {
    std::signal(SIGPIPE, SIG_IGN);
    rt::Loop loop;
    bench::Stage stage(loop.runtime(), std::stoi(words[1]));
    bench::must(loop.run(stage.run(words[2])));
  });
}
