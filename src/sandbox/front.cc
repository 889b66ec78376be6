#include "sandbox/front.h"

#include "apiserver/target.h"
#include "base/constant_time.h"
#include "base/strings.h"
#include "json/document.h"

namespace quorate::sandbox {
namespace {

constexpr std::string_view kAdmin = "sandbox-admin";

net::Response refusal() {
  const json::Value status =
      json::Object{{"kind", "Status"},    {"apiVersion", "v1"},        {"metadata", json::Object()},
                   {"status", "Failure"}, {"message", "Unauthorized"}, {"reason", "Unauthorized"},
                   {"code", 401}};
  return {401, {{"content-type", "application/json"}}, json::render(status)};
}

bool asks_for_health(std::string_view path) {
  path = path.substr(0, path.find('?'));
  return path == "/healthz" || path == "/livez" || path == "/readyz";
}

apiserver::Request to_request(net::ServerRequest&& request) {
  const auto header = [&](std::string_view name) {
    return std::string(net::find_header(request.headers, name).value_or(""));
  };
  auto out = apiserver::make_request(request.method, request.path, header, std::move(request.body));
  out.user = kAdmin;
  return out;
}

Task<Result<void>> stream(std::unique_ptr<apiserver::Watch> watch, int status, net::Headers headers,
                          net::Responder& responder) {
  CO_TRY(co_await responder.start(status, std::move(headers)));
  for (;;) {
    CO_TRY(auto line, co_await watch->read(rt::Deadline::never()));
    if (!line) co_return co_await responder.finish();
    CO_TRY(co_await responder.write(std::move(*line), rt::Deadline::never()));
  }
}

}  // namespace

bool Front::is_known(const net::ServerRequest& request) const {
  const auto given = net::find_header(request.headers, "authorization");
  constexpr std::string_view kScheme = "Bearer ";
  return given && given->starts_with(kScheme) &&
         equal_in_constant_time(given->substr(kScheme.size()), token_.reveal());
}

Annex* Front::find_annex(const net::ServerRequest& request) const {
  for (auto* annex : annexes_)
    if (annex->serves(request)) return annex;
  return nullptr;
}

Task<void> Front::handle(net::ServerRequest request, net::Responder& responder) {
  Result<void> sent;
  if (!is_known(request)) {
    sent = co_await responder.respond(refusal());
  } else if (asks_for_health(request.path)) {
    sent = co_await responder.respond({200, {{"content-type", "text/plain"}}, "ok"});
  } else if (auto* annex = find_annex(request)) {
    co_await annex->handle(std::move(request), responder);
  } else {
    auto answer = server_.serve(to_request(std::move(request)));
    net::Headers headers(answer.headers.begin(), answer.headers.end());
    if (answer.watch)
      sent = co_await stream(std::move(answer.watch), answer.status, std::move(headers), responder);
    else
      sent =
          co_await responder.respond({answer.status, std::move(headers), std::move(answer.body)});
  }
  static_cast<void>(sent);  // a caller that has gone needs no answer
}

}  // namespace quorate::sandbox
