#include "operator/health.h"

#include "base/strings.h"
#include "operator/metrics.h"

namespace quorate::op {
namespace {

constexpr const char* kText = "text/plain; charset=utf-8";

net::Response make_answer(int status, std::string body, const char* type = kText) {
  return {status, {{"content-type", type}}, std::move(body)};
}

}  // namespace

net::Response HealthHandler::show_clusters(std::string_view query) const {
  ClusterFilter filter;
  for (auto part : split(query, '&')) {
    if (part.empty()) continue;
    const auto sides = cut(part, "=");
    if (sides && sides->before == "namespace")
      filter.ns = sides->after;
    else if (sides && sides->before == "name")
      filter.name = sides->after;
    else
      return make_answer(
          400, "\"" + std::string(part) + "\" is neither namespace=NAMESPACE nor name=CLUSTER\n");
  }
  return make_answer(200, op_.verdicts(filter) + "\n", "application/json");
}

net::Response HealthHandler::answer(std::string_view path) const {
  const auto mark = path.find('?');
  const auto query = mark == std::string_view::npos ? "" : path.substr(mark + 1);
  path = path.substr(0, mark);
  if (pages_ != Pages::kMetrics) {
    if (path == "/healthz") return make_answer(200, "ok\n");
    if (path == "/readyz")
      return op_.ready() ? make_answer(200, "ok\n")
                         : make_answer(503, "waiting for the first lists\n" + op_.unready());
  }
  if (pages_ != Pages::kHealth) {
    if (path == "/metrics")
      return make_answer(200, op_.metrics(pool_, version_),
                         "text/plain; version=0.0.4; charset=utf-8");
    if (path == "/debug/clusters") return show_clusters(query);
  }
  const char* known = pages_ == Pages::kAll      ? "/healthz, /readyz, /metrics and /debug/clusters"
                      : pages_ == Pages::kHealth ? "/healthz and /readyz"
                                                 : "/metrics and /debug/clusters";
  return make_answer(404, std::string("there are ") + known + "\n");
}

Task<void> HealthHandler::handle(net::ServerRequest request, net::Responder& responder) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  auto sent =
      co_await responder.respond(reads ? answer(request.path) : make_answer(405, "only GET\n"));
  static_cast<void>(sent);  // a caller that has gone needs no answer
}

}  // namespace quorate::op
