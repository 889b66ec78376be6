#include "dashboard/dashboard.h"

#include <fmt/format.h>

#include <csignal>

#include "dashboard/live.h"
#include "dashboard/pages.h"
#include "net/server.h"
#include "rt/group.h"

namespace quorate::dashboard {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxBody = 4 << 10;  // nobody has reason to send any
constexpr int kMaxConnections = 64;

Task<Result<void>> try_to_read(rt::Runtime runtime, kube::Client& client, std::string ns) {
  const kube::EachItem nothing = [](json::PaddedView) { return Result<void>(); };
  auto page = co_await client.list_page(kube::kEtcdClusters,
                                        {.what = {.ns = std::move(ns), .page_size = 1}},
                                        runtime.in(20s), nothing);
  if (page) co_return Result<void>();
  if (page.error() == Code::kNotFound)
    co_return fail(Code::kUnavailable,
                   "the API server knows no EtcdClusters; `quorate manifests | kubectl apply -f -` "
                   "installs Quorate");
  co_return fail(std::move(page).error());
}

}  // namespace

Task<Result<void>> run_dashboard(rt::Loop& loop, kube::Client& client, DashboardOptions options) {
  const auto runtime = loop.runtime();
  CO_TRY(co_await try_to_read(runtime, client, options.ns));
  net::ServerOptions how;
  how.port = options.port;
  how.max_body = kMaxBody;
  how.max_connections = kMaxConnections;
  how.log = options.log;
  CO_TRY(auto server, net::make_server(runtime, std::move(how)));
  Live live(runtime, client, options.ns, options.log);
  const auto token = make_token(*runtime.random);
  Pages pages(live, token);
  rt::TaskGroup group(runtime);
  group.spawn("watches", live.run());
  group.spawn("pages", server->run(pages));
  options.ready(fmt::format("http://127.0.0.1:{}/#token={}", server->port(), token.reveal()));
  auto signal = co_await loop.wait_for_signal({SIGTERM, SIGINT});
  group.cancel();
  co_await group.join();
  if (!signal) co_return fail(std::move(signal).error());
  co_return Result<void>();
}

}  // namespace quorate::dashboard
