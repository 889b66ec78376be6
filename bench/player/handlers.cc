#include "bench/player/handlers.h"

#include <cstdlib>

#include "base/strings.h"
#include "etcd/codec.h"
#include "net/grpc_codec.h"
#include "tests/sim/kube_link.h"

namespace quorate::bench {
namespace {

constexpr std::size_t kPiece = 64 << 10;

// /api/v1/namespaces/n/pods/x/status, /apis/quorate.io/v1alpha1/etcdclusters
std::string resource_in(const std::string& path) {
  const auto parts = split(path, '/');
  std::size_t at = parts.size() > 1 && parts[1] == "api" ? 3 : 4;
  if (parts.size() > at + 2 && parts[at] == "namespaces") at += 2;
  return at < parts.size() ? std::string(parts[at]) : path;
}

// The answer of one member to one method; nothing if it has none.
std::optional<std::string> answer_of(const Fleet& fleet, const Fleet::Member& member,
                                     std::string_view method) {
  const auto header = fleet.header(member);
  if (method == "Maintenance/Status") return etcd::encode(fleet.status(member));
  if (!fleet.has_quorum(member)) return std::nullopt;
  if (method == "Cluster/MemberList") return etcd::encode(fleet.list(member));
  if (method == "KV/Range") return etcd::encode(etcd::RangeAnswer{.header = header});
  if (method == "Maintenance/HashKV")
    return etcd::encode(etcd::HashKv{header, 0x1234, header.revision, Revision(0)});
  if (method == "Maintenance/Alarm") return etcd::encode(etcd::wire::AlarmAnswer{header, {}});
  return std::nullopt;
}

}  // namespace

void KubeHandler::count(const apiserver::Request& request) {
  const auto watch = request.query.find("watch");
  const bool watches =
      watch != request.query.end() && (watch->second == "1" || watch->second == "true");
  ++counters_.requests[(watches ? "WATCH" : request.method) + " " + resource_in(request.path)];
}

Task<void> KubeHandler::handle(net::ServerRequest request, net::Responder& responder) {
  auto asked = sim::to_server_request({std::move(request.method), std::move(request.path),
                                       std::move(request.headers), std::move(request.body)});
  asked.user = "operator";
  count(asked);
  auto answer = server_.serve(asked);
  if (answer.status >= 400) ++counters_.refused;
  if (!answer.watch) {
    (void)co_await responder.respond(
        {answer.status, std::move(answer.headers), std::move(answer.body)});
    co_return;
  }
  if (!co_await responder.start(answer.status, std::move(answer.headers))) co_return;
  if (co_await stream(*answer.watch, responder)) (void)co_await responder.finish();
}

// As many lines at once as are there.
Task<Result<void>> KubeHandler::stream(apiserver::Watch& watch, net::Responder& responder) {
  for (;;) {
    CO_TRY(auto line, co_await watch.read(rt::Deadline::never()));
    if (!line) co_return Result<void>();
    std::string piece = std::move(*line);
    bool ended = false;
    while (piece.size() < kPiece && !ended) {
      auto more = co_await watch.read(runtime_.in(Duration(0)));
      if (!more && more.error() == Code::kTimeout) break;
      if (!more) co_return fail(more.error());
      ended = !*more;
      if (!ended) piece += **more;
    }
    CO_TRY(co_await responder.write(std::move(piece), rt::Deadline::never()));
    if (ended) co_return Result<void>();
  }
}

Task<void> MemberHandler::handle(net::ServerRequest request, net::Responder& responder) {
  constexpr std::string_view kPackage = "/etcdserverpb.";
  const auto method = std::string_view(request.path)
                          .substr(request.path.starts_with(kPackage) ? kPackage.size() : 0);
  ++counters_.calls[std::string(method)];
  const auto* member = fleet_.find(request.local);
  const auto answer = member ? answer_of(fleet_, *member, method) : std::nullopt;
  if (!co_await responder.start(200, {{"content-type", "application/grpc"}})) co_return;
  if (answer && !co_await responder.write(net::frame_message(*answer), rt::Deadline::never()))
    co_return;
  (void)co_await responder.finish({{"grpc-status", answer ? "0" : "14"}});
}

Task<void> ControlHandler::handle(net::ServerRequest request, net::Responder& responder) {
  const auto parts = cut(request.path, "?");
  const std::string name((parts ? parts->before : std::string_view(request.path)).substr(1));
  const int number = parts ? std::atoi(std::string(parts->after).c_str()) : 0;
  net::Response response{404, {{"content-type", "application/json"}}, "\"no such command\""};
  if (auto command = commands_.find(name); command != commands_.end()) {
    auto answer = co_await command->second(number);
    response.status = answer ? 200 : 500;
    response.body = json::render(answer ? *answer : json::Value(answer.error().text()));
  }
  (void)co_await responder.respond(std::move(response));
}

}  // namespace quorate::bench
