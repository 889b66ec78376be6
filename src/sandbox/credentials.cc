#include "sandbox/credentials.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "json/document.h"
#include "json/yaml.h"
#include "pki/authority.h"
#include "pki/certificate.h"
#include "pki/digest.h"

namespace quorate::sandbox {
namespace {

constexpr const char* kName = "quorate-sandbox";
constexpr const char* kLoopback = "127.0.0.1";
constexpr auto kRenewBefore = std::chrono::hours(24 * 30);

}  // namespace

Result<Credentials> Credentials::make(pki::KeySource& keys, WallTime now) {
  const pki::Validity years{now - std::chrono::minutes(10), now + std::chrono::hours(24 * 365)};
  TRY(auto authority, pki::Authority::make(keys, kName, years));
  pki::LeafRequest request;
  request.common_name = "kubernetes";
  request.names = {{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
                   {kLoopback, "::1", "198.19.0.1"},
                   {}};
  request.purpose = pki::Purpose::kServer;
  request.validity = years;
  TRY(auto leaf, authority.issue(keys, request));
  Credentials out;
  out.authority = pki::render_pem({authority.certificate()});
  out.serving = {"", leaf.certificate_pem(), leaf.key.pem()};
  // As hard to guess as a key.
  out.token = Secret(pki::sha256_hex(keys.make_key().pem().reveal()));
  return out;
}

Secret Credentials::render() const {
  return Secret(json::render(json::Object{{"authority", authority},
                                          {"certificate", serving.certificate},
                                          {"key", serving.key.reveal()},
                                          {"token", token.reveal()}}));
}

Result<Credentials> Credentials::parse(const Secret& text, WallTime now) {
  TRY(const auto document, json::parse(text.reveal()));
  Credentials out;
  TRY(out.authority, json::text_at(document, "/authority"));
  TRY(out.serving.certificate, json::text_at(document, "/certificate"));
  TRY(const auto key, json::text_at(document, "/key"));
  out.serving.key = Secret(std::string(key));
  TRY(const auto token, json::text_at(document, "/token"));
  out.token = Secret(std::string(token));
  TRY(const auto certificate, pki::Certificate::parse(out.serving.certificate));
  TRY(const auto parsed_key, pki::PrivateKey::parse(out.serving.key));
  if (!certificate.matches(parsed_key))
    return fail(Code::kInvalid, "the certificate is of another key");
  if (out.token.empty()) return fail(Code::kInvalid, "the token is empty");
  if (certificate.not_after() < now + kRenewBefore)
    return fail(Code::kInvalid, "the certificate ends soon");
  return out;
}

kube::ClusterConfig Credentials::config(std::uint16_t port) const {
  kube::ClusterConfig out;
  out.endpoint.host = kLoopback;
  out.endpoint.port = port;
  out.endpoint.tls = true;
  out.authority.data = Secret(authority);
  out.token.data = token;
  out.context = kName;
  return out;
}

Secret Credentials::kubeconfig(std::uint16_t port) const {
  const json::Value document = json::Object{
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"current-context", kName},
      {"clusters",
       json::Array{json::Object{
           {"name", kName},
           {"cluster", json::Object{{"server", fmt::format("https://{}:{}", kLoopback, port)},
                                    {"certificate-authority-data", encode_base64(authority)}}}}}},
      {"users", json::Array{json::Object{{"name", kName},
                                         {"user", json::Object{{"token", token.reveal()}}}}}},
      {"contexts",
       json::Array{json::Object{{"name", kName},
                                {"context", json::Object{{"cluster", kName}, {"user", kName}}}}}}};
  return Secret(json::render_yaml(document));
}

}  // namespace quorate::sandbox
