#include "kube/http_api.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace quorate::kube {
namespace {

constexpr int kUnauthorized = 401;

Result<std::string> content(const Credential& credential, const ReadFile& read_file) {
  if (credential.file.empty()) return credential.data.reveal();
  return read_file(credential.file);
}

// Where a credential comes from, for messages.
std::string origin(const Credential& credential, std::string_view what) {
  return credential.file.empty() ? fmt::format("{} of the kubeconfig", what) : credential.file;
}

}  // namespace

Result<std::unique_ptr<HttpApi>> HttpApi::make(rt::Runtime runtime, ClusterConfig config,
                                               HttpApiOptions options) {
  std::unique_ptr<HttpApi> api(new HttpApi(runtime, std::move(config), std::move(options)));
  auto identity = api->read_identity();
  if (!identity) return fail(std::move(identity).error().in("read credentials"));
  api->identity_ = std::move(*identity);
  api->read_at_ = runtime.clock->now();
  net::HttpClientOptions http;
  http.endpoint = api->config_.endpoint;
  if (http.endpoint.tls) {
    TRY(api->tls_, api->make_tls(api->identity_));
    http.tls = api->tls_;
  }
  api->client_ = api->options_.make_client ? api->options_.make_client(runtime, std::move(http))
                                           : net::make_client(runtime, std::move(http));
  return api;
}

HttpApi::HttpApi(rt::Runtime runtime, ClusterConfig config, HttpApiOptions options)
    : runtime_(runtime),
      config_(std::move(config)),
      options_(std::move(options)),
      asked_(runtime) {}

Result<HttpApi::Identity> HttpApi::read_identity() const {
  Identity out;
  const bool system_roots = config_.endpoint.tls && !config_.authority.given();
  TRY(out.roots, system_roots ? read_system_roots(read_environment, options_.read_file)
                              : content(config_.authority, options_.read_file));
  TRY(out.certificate, content(config_.certificate, options_.read_file));
  TRY(auto key, content(config_.key, options_.read_file));
  TRY(auto token, content(config_.token, options_.read_file));
  out.key = Secret(std::move(key));
  out.token = Secret(std::string(trim(token)));
  if (config_.token.given() && out.token.empty())
    return fail(Error(Code::kInvalid, "holds no token").in(origin(config_.token, "the token")));
  if (!given_) return out;
  if (!given_->token.empty()) out.token = given_->token;
  if (!given_->key.empty()) {
    out.certificate = given_->certificate;
    out.key = given_->key;
  }
  return out;
}

Result<std::shared_ptr<net::TlsContext>> HttpApi::make_tls(const Identity& identity) const {
  const net::TlsIdentity tls{identity.roots, identity.certificate, identity.key};
  auto context = net::TlsContext::for_client(tls, {"h2", "http/1.1"});
  if (context) return context;
  auto from = config_.authority.given() ? origin(config_.authority, "the certificate authority")
                                        : "the system's certificate authorities";
  if (config_.certificate.given())
    from += " and " + origin(config_.certificate, "the client certificate");
  return fail(std::move(context).error().in("use " + from));
}

// Gives true if something changed. What cannot be used leaves everything as it was: files of a
// rotation appear one after the other.
bool HttpApi::reload() {
  read_at_ = runtime_.clock->now();
  suspect_ = false;
  auto fresh = read_identity();
  if (!fresh) {
    options_.log.warn("cannot read the API credentials again", {{"error", fresh.error()}});
    return false;
  }
  if (*fresh == identity_) return false;
  const bool tls_changed = fresh->roots != identity_.roots ||
                           fresh->certificate != identity_.certificate ||
                           fresh->key != identity_.key;
  if (config_.endpoint.tls && tls_changed) {
    auto context = make_tls(*fresh);
    if (!context) {
      options_.log.warn("cannot use the new API credentials", {{"error", context.error()}});
      return false;
    }
    tls_ = std::move(*context);
    client_->replace_tls(tls_);
  }
  identity_ = std::move(*fresh);
  options_.log.info("the API credentials were rotated");
  return true;
}

Task<Result<void>> HttpApi::prepare(rt::Deadline deadline) {
  if (suspect_ || runtime_.clock->now() - read_at_ >= options_.reload_every) reload();
  return sign_in(deadline);
}

Task<Result<void>> HttpApi::sign_in(rt::Deadline deadline) {
  while (asking_) CO_TRY(co_await asked_.wait(deadline));
  const bool due = config_.plugin &&
                   (!given_ || (given_->expires && *given_->expires <= runtime_.clock->wall()));
  if (due) CO_TRY(co_await ask_plugin(deadline));
  co_return Result<void>();
}

Task<bool> HttpApi::renew(rt::Deadline deadline) {
  if (!config_.plugin) co_return reload();
  const auto before = identity_;
  if (!asking_)
    if (const auto asked = co_await ask_plugin(deadline); !asked)
      options_.log.warn("cannot renew the API credentials", {{"error", asked.error()}});
  while (asking_)
    if (!co_await asked_.wait(deadline)) co_return false;
  co_return identity_ != before;
}

// Whoever comes meanwhile waits for the answer.
Task<Result<void>> HttpApi::ask_plugin(rt::Deadline deadline) {
  asking_ = true;
  rt::MachineProcesses processes(runtime_);
  auto given = co_await kube::ask_plugin(processes, *config_.plugin, deadline);
  asking_ = false;
  asked_.notify();
  CO_TRY(given_, std::move(given));
  reload();
  co_return Result<void>();
}

net::Request HttpApi::dress(const net::Request& request) const {
  net::Request out = request;
  out.path = config_.path_prefix + request.path;
  out.headers.emplace_back("user-agent", options_.user_agent);
  if (!identity_.token.empty())
    out.headers.emplace_back("authorization", "Bearer " + identity_.token.reveal());
  return out;
}

Task<Result<net::Response>> HttpApi::call(net::Request request, rt::Deadline deadline,
                                          std::size_t limit) {
  CO_TRY(co_await prepare(deadline));
  auto answer = co_await client_->call(dress(request), deadline, limit);
  if (answer && answer->status == kUnauthorized && co_await renew(deadline))
    answer = co_await client_->call(dress(request), deadline, limit);
  if (!answer) suspect_ = true;
  co_return answer;
}

Task<Result<std::unique_ptr<net::ResponseStream>>> HttpApi::open(net::Request request,
                                                                 rt::Deadline deadline) {
  CO_TRY(co_await prepare(deadline));
  auto stream = co_await client_->open(dress(request), deadline);
  if (stream && (*stream)->status() == kUnauthorized && co_await renew(deadline))
    stream = co_await client_->open(dress(request), deadline);
  if (!stream) suspect_ = true;
  co_return stream;
}

Task<Result<net::WebSocketClient::Opened>> HttpApi::open_websocket(
    net::Request request, std::vector<std::string> protocols, rt::Deadline deadline) {
  CO_TRY(co_await prepare(deadline));
  for (bool again = false;; again = true) {
    net::WebSocketTarget target{config_.endpoint, tls_, dress(request), protocols};
    auto opened = co_await net::WebSocketClient::open(runtime_, std::move(target), deadline);
    if (!opened) suspect_ = true;
    if (again || !opened || opened->answer.status != kUnauthorized) co_return opened;
    if (!co_await renew(deadline)) co_return opened;
  }
}

Task<void> HttpApi::close() { co_await client_->close(); }

}  // namespace quorate::kube
