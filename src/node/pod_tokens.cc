#include "node/pod_tokens.h"

#include "kube/resource.h"

namespace quorate::node {
namespace {

std::vector<FileSource> token_sources(const PodView& pod) {
  std::vector<FileSource> out;
  for (const auto& volume : pod.volumes)
    if (const auto* files = std::get_if<FileVolume>(&volume.source))
      for (const auto& source : files->sources)
        if (source.kind == FileSource::Kind::kToken) out.push_back(source);
  return out;
}

}  // namespace

Task<Result<void>> PodTokens::renew(PodView pod, rt::Deadline deadline) {
  for (const auto& source : token_sources(pod)) {
    Key key{source.object, source.expiration};
    auto held = tokens_.find(key);
    if (held != tokens_.end() && runtime_.clock->now() < held->second.renew_at) continue;
    CO_TRY(auto token, co_await request(pod, source, deadline));
    tokens_.insert_or_assign(key, std::move(token));
  }
  co_return Result<void>();
}

Task<Result<PodTokens::Token>> PodTokens::request(PodView pod, FileSource source,
                                                  rt::Deadline deadline) {
  json::Object spec{{"expirationSeconds", source.expiration.count()},
                    {"boundObjectRef", json::Object{{"apiVersion", "v1"},
                                                    {"kind", "Pod"},
                                                    {"name", pod.meta.key.name},
                                                    {"uid", pod.meta.uid.value()}}}};
  if (!source.object.empty()) spec["audiences"] = json::Array{source.object};
  net::Request ask;
  ask.method = "POST";
  ask.path = kube::kServiceAccounts.path(ObjectKey{pod.meta.key.ns, pod.service_account}, "token");
  ask.headers = {{"content-type", "application/json"}};
  ask.body = json::render(json::Object{{"apiVersion", "authentication.k8s.io/v1"},
                                       {"kind", "TokenRequest"},
                                       {"spec", std::move(spec)}});
  auto answer = co_await client_.raw(std::move(ask), deadline);
  if (!answer && answer.error() == Code::kNotFound)
    co_return fail(
        answer.error().in("no token for the service account; a Pod that needs none says "
                          "automountServiceAccountToken: "
                          "false"));
  if (!answer) co_return fail(std::move(answer).error());
  CO_TRY(auto document, json::parse(answer->body));
  CO_TRY(auto text, json::text_at(document, "/status/token"));
  auto lifetime = source.expiration * 4 / 5;
  co_return Token{std::string(text), runtime_.clock->now() + lifetime};
}

std::optional<std::string> PodTokens::find(const FileSource& source) const {
  auto held = tokens_.find({source.object, source.expiration});
  if (held == tokens_.end()) return std::nullopt;
  return held->second.text;
}

std::optional<Monotonic> PodTokens::due() const {
  std::optional<Monotonic> earliest;
  for (const auto& [key, token] : tokens_)
    if (!earliest || token.renew_at < *earliest) earliest = token.renew_at;
  return earliest;
}

}  // namespace quorate::node
