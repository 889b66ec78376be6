// The part of authority.h that judges chains.

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <chrono>

#include "base/check.h"
#include "base/strings.h"
#include "base/utc.h"
#include "pki/authority.h"
#include "pki/openssl_impl.h"

namespace quorate::pki {

namespace {

using namespace std::chrono;
using Store = std::unique_ptr<X509_STORE, Deleter<X509_STORE_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, Deleter<X509_STORE_CTX_free>>;
// Borrows the certificates.
using Stack =
    std::unique_ptr<STACK_OF(X509), decltype([](STACK_OF(X509) * s) { sk_X509_free(s); })>;

std::string time_text(WallTime time) { return render_utc(floor<seconds>(time)) + "Z"; }

std::string names_text(const Names& names) {
  std::vector<std::string> all = names.dns;
  all.insert(all.end(), names.ips.begin(), names.ips.end());
  all.insert(all.end(), names.uris.begin(), names.uris.end());
  return all.empty() ? "no name" : join(std::span<const std::string>(all), ", ");
}

// The certificate of the chain or of the roots that OpenSSL stopped at.
std::string reason_text(X509_STORE_CTX* context, bool server) {
  const int code = X509_STORE_CTX_get_error(context);
  X509* at = X509_STORE_CTX_get_current_cert(context);
  X509Ptr copy(at ? X509_dup(at) : nullptr);
  const auto certificate = copy ? wrap(std::move(copy)) : fail(Code::kInvalid, "none");
  if (!certificate) return X509_verify_cert_error_string(code);
  const auto subject = fmt::format("certificate {}", certificate->subject());
  switch (code) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return fmt::format("{} expired at {}", subject, time_text(certificate->not_after()));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return fmt::format("{} is not valid before {}", subject,
                         time_text(certificate->not_before()));
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return fmt::format("{} is signed by an authority that is not trusted ({})", subject,
                         certificate->issuer());
    case X509_V_ERR_INVALID_PURPOSE:
      return fmt::format("{} may not be used by {}", subject, server ? "servers" : "clients");
    case X509_V_ERR_INVALID_CA:
      return fmt::format("{} is not a CA", subject);
    default:
      return fmt::format("{}: {}", subject, X509_verify_cert_error_string(code));
  }
}

Result<void> verify_once(const std::vector<Certificate>& chain,
                         const std::vector<Certificate>& roots, bool server, WallTime now) {
  const Store store(X509_STORE_new());
  for (const auto& root : roots) X509_STORE_add_cert(store.get(), root.rep().x509.get());
  const Stack intermediates(sk_X509_new_null());
  for (std::size_t i = 1; i < chain.size(); ++i)
    sk_X509_push(intermediates.get(), chain[i].rep().x509.get());
  const StoreContext context(X509_STORE_CTX_new());
  CHECK(X509_STORE_CTX_init(context.get(), store.get(), chain.front().rep().x509.get(),
                            intermediates.get()) == 1);
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(parameters, floor<seconds>(now).time_since_epoch().count());
  // A root is trusted as it is given, whether or not it signed itself.
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_purpose(parameters,
                                server ? X509_PURPOSE_SSL_SERVER : X509_PURPOSE_SSL_CLIENT);
  const bool good = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  if (!good) return fail(Code::kInvalid, reason_text(context.get(), server));
  return {};
}

}  // namespace

Result<void> verify(const std::vector<Certificate>& chain, const std::vector<Certificate>& roots,
                    Purpose purpose, const std::optional<std::string>& name, WallTime now) {
  if (chain.empty()) return fail(Code::kInvalid, "no certificate to verify");
  if (purpose != Purpose::kClient) TRY(verify_once(chain, roots, true, now));
  if (purpose != Purpose::kServer) TRY(verify_once(chain, roots, false, now));
  if (name && !chain.front().covers(*name))
    return fail(Code::kInvalid,
                fmt::format("certificate {} is not valid for {} (valid for {})",
                            chain.front().subject(), *name, names_text(chain.front().names())));
  return {};
}

}  // namespace quorate::pki
