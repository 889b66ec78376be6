#include "dashboard/pages.h"

#include <fmt/format.h>

#include "base/constant_time.h"
#include "base/strings.h"
#include "dashboard/assets.h"
#include "dashboard/feed.h"

namespace quorate::dashboard {
namespace {

constexpr const char* kText = "text/plain; charset=utf-8";

// Nothing but our own files may be loaded or asked, nobody may frame the page, and nothing is kept.
const net::Headers& strict_headers() {
  static const net::Headers headers{
      {"content-security-policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
       "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"x-content-type-options", "nosniff"},
      {"referrer-policy", "no-referrer"},
      {"cross-origin-opener-policy", "same-origin"},
      {"cross-origin-resource-policy", "same-origin"},
      {"cache-control", "no-store"},
  };
  return headers;
}

net::Response make_answer(int status, std::string body, const char* type = kText) {
  net::Response out{status, strict_headers(), std::move(body)};
  out.headers.emplace_back("content-type", type);
  return out;
}

const char* type_of(std::string_view file) {
  if (file.ends_with(".html")) return "text/html; charset=utf-8";
  if (file.ends_with(".css")) return "text/css; charset=utf-8";
  if (file.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (file.ends_with(".svg")) return "image/svg+xml";
  return kText;
}

// The host without its port: the port may be another one where it is forwarded.
bool is_loopback(std::string_view host) {
  const auto colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos)
    host = host.substr(0, colon);
  const auto name = to_lower(host);
  return name == "127.0.0.1" || name == "localhost" || name == "[::1]";
}

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

// `namespace=N&name=C`; nothing: the fleet.
Result<std::optional<ObjectKey>> parse_cluster(std::string_view target) {
  const auto sides = cut(target, "?");
  if (!sides || sides->after.empty()) return std::nullopt;
  ObjectKey key;
  for (const auto part : split(sides->after, '&')) {
    const auto field = cut(part, "=");
    if (field && field->before == "namespace")
      key.ns = field->after;
    else if (field && field->before == "name")
      key.name = field->after;
    else
      return fail(Code::kInvalid, fmt::format("\"{}\" is neither namespace=NAMESPACE nor "
                                              "name=CLUSTER",
                                              part));
  }
  if (key.ns.empty() || key.name.empty())
    return fail(Code::kInvalid, "namespace=NAMESPACE and name=CLUSTER belong together");
  return key;
}

}  // namespace

Secret make_token(rt::Random& random) {
  std::string digits;
  for (int i = 0; i < 4; ++i) digits += fmt::format("{:016x}", random.next());
  return Secret(std::move(digits));
}

bool Pages::brings_token(const net::ServerRequest& request) const {
  const auto given = net::find_header(request.headers, "authorization");
  constexpr std::string_view kScheme = "Bearer ";
  return given && given->starts_with(kScheme) &&
         equal_in_constant_time(given->substr(kScheme.size()), token_.reveal());
}

net::Response Pages::answer(const net::ServerRequest& request) const {
  const auto host = net::find_header(request.headers, "host");
  if (!host || !is_loopback(*host))
    return make_answer(421, "this server answers to 127.0.0.1 and localhost alone\n");
  if (request.method != "GET" && request.method != "HEAD") {
    auto refusal = make_answer(405, "the dashboard only reads\n");
    refusal.headers.emplace_back("allow", "GET, HEAD");
    return refusal;
  }
  const auto path = path_of(request.path);
  if (path == "/live") {
    if (!brings_token(request))
      return make_answer(401, "open the address that `quorate dashboard` has printed\n");
    const auto cluster = parse_cluster(request.path);
    return cluster ? make_answer(200, "", "text/event-stream")
                   : make_answer(400, cluster.error().text() + "\n");
  }
  const auto name = path == "/" ? std::string_view("index.html") : path.substr(1);
  for (const auto& asset : all_assets())
    if (asset.name == name) return make_answer(200, std::string(asset.text), type_of(name));
  return make_answer(404, "there is no such page\n");
}

Task<void> Pages::handle(net::ServerRequest request, net::Responder& responder) {
  auto response = answer(request);
  const bool streams =
      response.status == 200 && request.method == "GET" && path_of(request.path) == "/live";
  Result<void> sent;
  if (!streams) {
    sent = co_await responder.respond(std::move(response));
  } else {
    sent = co_await responder.start(response.status, std::move(response.headers));
    if (sent) sent = co_await feed(live_, *parse_cluster(request.path), responder);
  }
  static_cast<void>(sent);  // a caller that has gone needs no answer
}

}  // namespace quorate::dashboard
