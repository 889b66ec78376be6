#include "conform_kube_served.h"

#include <stdexcept>
#include <utility>

#include "conform_kube_servers.h"
#include "net/server.h"
#include "pki/key.h"
#include "rt/cpu_pool.h"
#include "rt/group.h"
#include "sandbox/credentials.h"
#include "sandbox/front.h"
#include "tests/support/temp_dir.h"

namespace quorate::conform {

namespace {

// Until `stop` is kept: a thread of the pool waits for it.
Task<Result<void>> serve_until(rt::Runtime runtime, net::Server& server, net::Handler& handler,
                               std::future<void> stop) {
  rt::CpuPool pool(runtime, 1);
  rt::TaskGroup group(runtime);
  group.spawn("server", server.run(handler));
  auto stopped = co_await pool.run([&stop] { stop.wait(); });
  group.cancel();
  co_await group.join();
  co_return stopped;
}

}  // namespace

ServedKube::ServedKube(std::filesystem::path kubeconfig) {
  thread_ = std::thread([this, kubeconfig = std::move(kubeconfig)] {
    try {
      serve(kubeconfig);
    } catch (...) {
      ready_.set_exception(std::current_exception());
    }
  });
  try {
    ready_.get_future().get();
  } catch (...) {
    thread_.join();
    throw;
  }
}

ServedKube::~ServedKube() {
  stop_.set_value();
  thread_.join();
}

void ServedKube::serve(const std::filesystem::path& kubeconfig) {
  rt::Loop loop;
  OurKube ours(loop);
  pki::SystemKeys keys;
  auto credentials = sandbox::Credentials::make(keys, loop.runtime().clock->wall()).value();
  sandbox::Front front(ours.server(), credentials.token);
  auto tls =
      net::TlsContext::for_server(credentials.serving, net::PeerCheck::kNone, {"h2", "http/1.1"})
          .value();
  auto server = net::make_server(loop.runtime(), {.tls = std::move(tls)}).value();
  support::write_file(kubeconfig, std::string(credentials.kubeconfig(server->port()).reveal()));
  ready_.set_value();
  if (auto served = loop.run(serve_until(loop.runtime(), *server, front, stop_.get_future()));
      !served)
    throw std::runtime_error(served.error().text());
}

}  // namespace quorate::conform
