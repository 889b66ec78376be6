#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/sslerr.h>

#include <array>

#include "net/address.h"
#include "net/socket.h"
#include "net/tls_impl.h"

namespace quorate::net {

namespace {

std::string text_of(BIO* bio) {
  char* text = nullptr;
  const auto size = BIO_get_mem_data(bio, &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string subject_of(X509* certificate) {
  OwnedBio bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  return text_of(bio.get());
}

std::string time_of(const ASN1_TIME* time) {
  OwnedBio bio(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(bio.get(), time);
  return text_of(bio.get());
}

std::string name_of(const GENERAL_NAME* name) {
  int type = 0;
  const auto* value = static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(name, &type));
  if (type == GEN_DNS)
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
            static_cast<std::size_t>(ASN1_STRING_length(value))};
  if (type != GEN_IPADD) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(value) == 4 ? AF_INET : AF_INET6;
  inet_ntop(family, ASN1_STRING_get0_data(value), text.data(), text.size());
  return text.data();
}

std::string names_of(X509* certificate) {
  std::string names;
  auto* all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
    auto name = name_of(sk_GENERAL_NAME_value(all, i));
    if (!name.empty()) names += (names.empty() ? "" : ", ") + name;
  }
  GENERAL_NAMES_free(all);
  return names.empty() ? "nothing" : names;
}

std::string wrong_name(X509* certificate, const std::string& expected) {
  return fmt::format("certificate {} is for {}, not for {}", subject_of(certificate),
                     names_of(certificate), expected);
}

std::string expired(X509* certificate) {
  return fmt::format("certificate {} expired at {}", subject_of(certificate),
                     time_of(X509_get0_notAfter(certificate)));
}

// Alerts by which a peer says that it does not want us.
std::string_view refusal_by_alert(int reason) {
  switch (reason) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "it requires one";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "it has expired";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
      return "it was revoked";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "unknown authority";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      return "bad certificate";
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
      return "access denied";
    default:
      return {};
  }
}

}  // namespace

int note_refusal(int accepted, X509_STORE_CTX* verification) {
  if (accepted) return accepted;
  auto* ssl = static_cast<SSL*>(
      X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& notes = *static_cast<SslNotes*>(SSL_get_app_data(ssl));
  X509* certificate = X509_STORE_CTX_get_current_cert(verification);
  const int code = X509_STORE_CTX_get_error(verification);
  const auto subject = certificate ? subject_of(certificate) : "";
  switch (code) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      notes.refusal = expired(certificate);
      break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      notes.refusal = fmt::format("certificate {} is not valid before {}", subject,
                                  time_of(X509_get0_notBefore(certificate)));
      break;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      notes.refusal = fmt::format("certificate {} is signed by an unknown authority", subject);
      break;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      notes.refusal = wrong_name(certificate, notes.expected_name);
      break;
    default:
      notes.refusal =
          fmt::format("certificate {}: {}", subject, X509_verify_cert_error_string(code));
  }
  return accepted;
}

std::string refusal_of_resumed(X509* certificate, const std::string& name, std::time_t now) {
  const unsigned flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;
  const bool is_address = Address::parse(name, 0).has_value();
  const int fits = is_address
                       ? X509_check_ip_asc(certificate, name.c_str(), 0)
                       : X509_check_host(certificate, name.data(), name.size(), flags, nullptr);
  if (fits != 1) return wrong_name(certificate, name);
  if (X509_cmp_time(X509_get0_notAfter(certificate), &now) <= 0) return expired(certificate);
  return {};
}

Error tls_error(SSL* ssl, int code, int number) {
  const auto& notes = *static_cast<const SslNotes*>(SSL_get_app_data(ssl));
  if (code == SSL_ERROR_SYSCALL) {
    ERR_clear_error();
    if (number == 0)
      return Error(Code::kUnavailable, "the peer broke the connection off").in("tls");
    return broken_connection("tls", number);
  }
  if (!notes.refusal.empty()) {
    ERR_clear_error();
    return Error(Code::kForbidden, notes.refusal).in("tls");
  }
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  if (auto refusal = refusal_by_alert(reason); !refusal.empty()) {
    ERR_clear_error();
    return Error(Code::kForbidden, fmt::format("the peer refused our certificate: {}", refusal))
        .in("tls");
  }
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
    ERR_clear_error();
    return Error(Code::kForbidden, "the peer showed no certificate").in("tls");
  }
  return Error(Code::kUnavailable, last_openssl_error()).in("tls");
}

}  // namespace quorate::net
