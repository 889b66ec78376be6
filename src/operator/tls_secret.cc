#include "operator/tls_secret.h"

#include "api/names.h"
#include "base/bytes.h"
#include "kube/resource.h"
#include "pki/digest.h"

namespace quorate::op {
namespace {

struct TlsView {
  std::string ca, certificate, next_certificate;
  Secret key, next_key;
};

void read(json::Reader& in, TlsView& out) {
  in.fields([&](std::string_view name, json::Reader& value) {
    if (name != "data") return;
    value.fields([&](std::string_view key, json::Reader& content) {
      if (key == api::kSecretCa)
        out.ca = content.text();
      else if (key == api::kSecretCertificate)
        out.certificate = content.text();
      else if (key == api::kSecretKey)
        out.key = Secret(std::string(content.text()));
      else if (key == api::kSecretNextCertificate)
        out.next_certificate = content.text();
      else if (key == api::kSecretNextKey)
        out.next_key = Secret(std::string(content.text()));
    });
  });
}

Result<std::string> decode(const ObjectKey& secret, std::string_view key,
                           const std::string& encoded) {
  auto bytes = decode_base64(encoded);
  if (!bytes || bytes->empty())
    return fail(Code::kInvalid, "Secret " + secret.text() + ": data[" + std::string(key) +
                                    "] is missing or no base64");
  return bytes;
}

}  // namespace

Result<TlsPems> decode_tls_secret(const ObjectKey& secret, const kube::Object& object) {
  TRY(auto view, object.as<TlsView>());
  TlsPems out;
  TRY(out.ca, decode(secret, api::kSecretCa, view.ca));
  TRY(out.certificate, decode(secret, api::kSecretCertificate, view.certificate));
  TRY(auto key, decode(secret, api::kSecretKey, view.key.reveal()));
  out.key = Secret(std::move(key));
  if (!view.next_certificate.empty()) {
    TRY(out.next_certificate, decode(secret, api::kSecretNextCertificate, view.next_certificate));
    TRY(auto next, decode(secret, api::kSecretNextKey, view.next_key.reveal()));
    out.next_key = Secret(std::move(next));
  }
  return out;
}

Task<Result<TlsPems>> read_tls_secret(kube::Client& client, ObjectKey secret,
                                      rt::Deadline deadline) {
  CO_TRY(auto object, co_await client.get(kube::kSecrets, secret, deadline));
  co_return decode_tls_secret(secret, object);
}

std::string certificate_name(const ObjectKey& secret) {
  constexpr std::size_t kLongest = 64;  // ub-common-name
  constexpr std::size_t kDigits = 12;
  auto name = secret.name + "." + secret.ns;
  if (name.size() <= kLongest) return name;
  const auto digest = pki::sha256_hex(name).substr(0, kDigits);
  return name.substr(0, kLongest - kDigits - 1) + "-" + digest;
}

}  // namespace quorate::op
