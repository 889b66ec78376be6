// What the transport alone costs its user: memory of an idle connection and of a stream that stays
// open, and calls per CPU second, over mutual TLS and plain. The server is a child process, so that
// its share is not counted. The figures of whole clients stand in bench/.

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "net/testing.h"
#include "pki/authority.h"

namespace quorate::net {
namespace {

using namespace testing;

constexpr int kConnections = 500;
constexpr int kStreams = 1000;
constexpr int kCalls = 20'000;
constexpr std::size_t kAtOnce = 32;

void print_figure(std::string_view name, double value, std::string_view unit) {
  fmt::print("figure {} {:.6g} {}\n", name, value, unit);
}

double resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6));
  throw std::runtime_error("no VmRSS");
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

// Small answers; "/watch" begins one that never ends.
class Answerer final : public Handler {
 public:
  explicit Answerer(rt::Runtime runtime) : runtime_(runtime) {}
  Task<void> handle(ServerRequest request, Responder& responder) override {
    if (request.path != "/watch") {
      Response response{200, {{"content-type", "application/json"}}, std::string(60, 'x')};
      (void)co_await responder.respond(std::move(response));
      co_return;
    }
    (void)co_await responder.start(200, {});
    (void)co_await runtime_.clock->sleep_until(Monotonic::max());
  }

 private:
  rt::Runtime runtime_;
};

struct Identities {
  TlsIdentity server;
  TlsIdentity client;
};

Identities make_identities() {
  pki::SystemKeys keys;
  const auto now = rt::Loop().runtime().clock->wall();
  const pki::Validity validity{now - 1h, now + 24h};
  const auto ca = must(pki::Authority::make(keys, "bench", validity));
  const auto issue = [&] {
    pki::LeafRequest request;
    request.common_name = "bench";
    request.names.ips = {"127.0.0.1"};
    request.validity = validity;
    auto leaf = must(ca.issue(keys, request));
    return TlsIdentity{ca.certificate().pem(), leaf.certificate_pem(), leaf.key.pem()};
  };
  return {issue(), issue()};
}

// A server in a child process, on two ports: plain and TLS.
class Child {
 public:
  explicit Child(const TlsIdentity& identity) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0) throw std::runtime_error("pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      serve(identity, ready[1]);
      _exit(0);
    }
    if (::read(ready[0], ports.data(), sizeof(ports)) != sizeof(ports))
      throw std::runtime_error("the child does not serve");
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  std::array<std::uint16_t, 2> ports{};

 private:
  static void serve(const TlsIdentity& identity, int tell) {
    rt::Loop loop;
    Answerer handler(loop.runtime());
    ServerOptions options;
    options.max_streams = kStreams + 100;
    auto plain = must(make_server(loop.runtime(), options));
    options.tls = must(TlsContext::for_server(identity, PeerCheck::kRequired, {"h2", "http/1.1"}));
    auto secure = must(make_server(loop.runtime(), options));
    const std::array<std::uint16_t, 2> both = {plain->port(), secure->port()};
    if (::write(tell, both.data(), sizeof(both)) != sizeof(both)) return;
    loop.run(run_both(loop.runtime(), *plain, *secure, handler));
  }
  static Task<void> run_both(rt::Runtime runtime, Server& plain, Server& secure, Handler& handler) {
    rt::TaskGroup group(runtime);
    group.spawn("plain", plain.run(handler));
    group.spawn("tls", secure.run(handler));
    co_await group.join();
  }

  pid_t pid_ = -1;
};

class Bench {
 public:
  Bench(rt::Runtime runtime, const Child& child, std::shared_ptr<TlsContext> tls)
      : runtime_(runtime), child_(child), tls_(std::move(tls)) {}

  Task<void> run() {
    co_await open_streams();
    co_await idle_connections("net_idle_plain", false);
    co_await idle_connections("net_idle_tls", true);
    co_await calls("net_calls_tls", true, true, 1);
    co_await calls("net_calls_tls_32", true, true, kAtOnce);
    co_await calls("net_calls_plain", false, true, 1);
    co_await calls("net_calls_http1_tls", true, false, 1);
    for (auto& each : kept_) co_await each->close();
  }

 private:
  std::unique_ptr<Client> client(bool tls, bool http2) {
    auto options = to_port(child_.ports[tls ? 1 : 0], http2);
    options.endpoint.tls = tls;
    options.tls = tls_;
    return make_client(runtime_, options);
  }
  Task<Result<Response>> call(Client& to) { return to.call(get("/"), soon(runtime_)); }

  Task<void> idle_connections(std::string_view name, bool tls) {
    kept_.push_back(client(tls, true));
    must(co_await call(*kept_.back()));
    const auto before = resident_kib();
    const auto cpu = cpu_seconds();
    for (int i = 0; i < kConnections; ++i) {
      kept_.push_back(client(tls, true));
      must(co_await call(*kept_.back()));
    }
    print_figure(name, (resident_kib() - before) / kConnections, "KiB");
    print_figure(fmt::format("{}_connect", name), (cpu_seconds() - cpu) * 1e3 / kConnections, "ms");
    if (tls) print_figure("net_resumed", static_cast<double>(tls_->resumed_sessions()), "sessions");
  }

  Task<void> open_streams() {
    auto one = client(true, true);
    std::vector<std::unique_ptr<ResponseStream>> streams;
    streams.push_back(must(co_await one->open(get("/watch"), soon(runtime_))));
    const auto before = resident_kib();
    for (int i = 0; i < kStreams; ++i)
      streams.push_back(must(co_await one->open(get("/watch"), soon(runtime_))));
    print_figure("net_stream", (resident_kib() - before) / kStreams, "KiB");
    streams.clear();
    co_await one->close();
  }

  Task<void> calls(std::string_view name, bool tls, bool http2, std::size_t at_once) {
    auto one = client(tls, http2);
    must(co_await call(*one));
    const auto cpu = cpu_seconds();
    if (at_once == 1) {
      for (int i = 0; i < kCalls; ++i) must(co_await call(*one));
    } else {
      std::vector<Task<Result<Response>>> all;
      for (int i = 0; i < kCalls; ++i) all.push_back(call(*one));
      for (auto& response : co_await rt::all(runtime_, std::move(all), at_once))
        must(std::move(response));
    }
    print_figure(name, kCalls / (cpu_seconds() - cpu), "/CPU-s");
    co_await one->close();
  }

  rt::Runtime runtime_;
  const Child& child_;
  std::shared_ptr<TlsContext> tls_;
  // To the end, so that no figure finds memory that another has left.
  std::vector<std::unique_ptr<Client>> kept_;
};

void run_bench() {
  const auto identities = make_identities();
  const Child child(identities.server);
  rt::Loop loop;
  Bench bench(loop.runtime(), child,
              must(TlsContext::for_client(identities.client, {"h2", "http/1.1"})));
  loop.run(bench.run());
}

}  // namespace
}  // namespace quorate::net

int main() { quorate::net::run_bench(); }
