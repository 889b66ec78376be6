#include "pki/authority.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/strings.h"
#include "pki/openssl_impl.h"

namespace quorate::pki {

namespace {

using namespace std::chrono;
using Asn1Time = std::unique_ptr<ASN1_TIME, Deleter<ASN1_TIME_free>>;

// The last second that a certificate can say.
const WallTime kEndOfTime = sys_days(year(9999) / December / 31) + days(1) - seconds(1);

Result<void> set_validity(X509* x509, const Validity& validity) {
  const auto begin = floor<seconds>(validity.not_before), end = floor<seconds>(validity.not_after);
  if (begin >= end || begin < sys_days(year(1950) / January / 1) || end > kEndOfTime)
    return fail(Code::kInvalid, "the validity is empty or beyond what a certificate can say");
  const auto set = [](ASN1_TIME* time, sys_seconds at) {
    CHECK(ASN1_TIME_set(time, at.time_since_epoch().count()) != nullptr);
  };
  set(X509_getm_notBefore(x509), begin);
  set(X509_getm_notAfter(x509), end);
  return {};
}

Result<void> add_name_entry(X509_NAME* name, int nid, std::string_view text) {
  if (text.empty()) return {};
  if (X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8, unsigned_bytes(text),
                                 static_cast<int>(text.size()), -1, 0) == 1)
    return {};
  return fail(Code::kInvalid, fmt::format("subject \"{}\": {}", text, openssl_reason()));
}

void add_extension(X509* x509, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, x509, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  CHECK(extension && X509_add_ext(x509, extension.get(), -1) == 1, "{}", openssl_reason());
}

// Letters that a DNS name may hold, a `*` as the whole first label, no empty labels.
bool is_dns_name(std::string_view name) {
  if (name.starts_with("*.")) name.remove_prefix(2);
  const auto labels = split(name, '.');
  return name.size() <= 253 &&
         std::all_of(labels.begin(), labels.end(),
                     [](std::string_view label) {
                       return !label.empty() && label.size() <= 63 && label.front() != '-' &&
                              label.back() != '-' &&
                              std::all_of(label.begin(), label.end(), [](char c) {
                                return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                       (c >= '0' && c <= '9') || c == '-' || c == '_';
                              });
                     }) &&
         !std::all_of(labels.back().begin(), labels.back().end(),
                      [](char c) { return c >= '0' && c <= '9'; });  // 1.2.3 is no name
}

Result<void> add_names(X509* x509, const Names& names) {
  std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>> all(GENERAL_NAMES_new());
  const auto add = [&](int type, ASN1_STRING* content) {
    GENERAL_NAME* name = GENERAL_NAME_new();
    GENERAL_NAME_set0_value(name, type, content);
    sk_GENERAL_NAME_push(all.get(), name);
  };
  const auto ia5 = [](std::string_view text) {
    ASN1_STRING* out = ASN1_IA5STRING_new();
    ASN1_STRING_set(out, text.data(), static_cast<int>(text.size()));
    return out;
  };
  for (const auto& name : names.dns) {
    if (!is_dns_name(name))
      return fail(Code::kInvalid, fmt::format("\"{}\" is not a DNS name", name));
    add(GEN_DNS, ia5(name));
  }
  for (const auto& ip : names.ips) {
    ASN1_OCTET_STRING* address = a2i_IPADDRESS(ip.c_str());
    if (!address) return fail(Code::kInvalid, fmt::format("\"{}\" is not an IP address", ip));
    add(GEN_IPADD, address);
  }
  for (const auto& uri : names.uris) {
    if (uri.find("://") == std::string::npos)
      return fail(Code::kInvalid, fmt::format("\"{}\" is not a URI", uri));
    add(GEN_URI, ia5(uri));
  }
  if (sk_GENERAL_NAME_num(all.get()) > 0)
    CHECK(X509_add1_ext_i2d(x509, NID_subject_alt_name, all.get(), 0, 0) == 1);
  return {};
}

// Signs with the source's signature, so that seeded ones come out the same. OpenSSL cannot be
// given a signature, so it signs first, which settles all fields, and then the outer sequence
// {what is signed, algorithm, signature} is put together anew around our own.
Result<Certificate> sign(KeySource& keys, X509* x509, const PrivateKey& issuer) {
  CHECK(X509_sign(x509, issuer.rep().key.get(), EVP_sha256()) > 0, "{}", openssl_reason());
  const auto signed_part = der_of(x509, i2d_re_X509_tbs);
  const ASN1_BIT_STRING* old_signature = nullptr;
  const X509_ALGOR* algorithm = nullptr;
  X509_get0_signature(&old_signature, &algorithm, x509);

  const auto signature = keys.sign(issuer, signed_part);
  std::unique_ptr<ASN1_BIT_STRING, Deleter<ASN1_BIT_STRING_free>> bits(ASN1_BIT_STRING_new());
  ASN1_BIT_STRING_set(bits.get(), const_cast<unsigned char*>(unsigned_bytes(signature)),
                      static_cast<int>(signature.size()));
  bits->flags = ASN1_STRING_FLAG_BITS_LEFT;  // no unused bits
  const auto body =
      signed_part + der_of(algorithm, i2d_X509_ALGOR) + der_of(bits.get(), i2d_ASN1_BIT_STRING);
  std::string whole(
      static_cast<std::size_t>(ASN1_object_size(1, static_cast<int>(body.size()), V_ASN1_SEQUENCE)),
      '\0');
  auto* at = reinterpret_cast<unsigned char*>(whole.data());
  ASN1_put_object(&at, 1, static_cast<int>(body.size()), V_ASN1_SEQUENCE, V_ASN1_UNIVERSAL);
  std::copy(body.begin(), body.end(), at);

  const unsigned char* in = unsigned_bytes(whole);
  X509Ptr final(d2i_X509(nullptr, &in, static_cast<long>(whole.size())));
  CHECK(final && X509_verify(final.get(), issuer.rep().key.get()) == 1, "{}", openssl_reason());
  return wrap(std::move(final));
}

// A certificate with serial, key and validity, still without names and extensions.
Result<X509Ptr> begin(KeySource& keys, const PrivateKey& key, const Validity& validity) {
  X509Ptr x509(X509_new());
  X509_set_version(x509.get(), X509_VERSION_3);
  const auto serial = keys.make_serial();
  const BigNumber number(
      BN_bin2bn(unsigned_bytes(serial.value()), static_cast<int>(serial.value().size()), nullptr));
  BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(x509.get()));
  CHECK(X509_set_pubkey(x509.get(), key.rep().key.get()) == 1);
  TRY(set_validity(x509.get(), validity));
  return x509;
}

const char* extended_usage(Purpose purpose) {
  switch (purpose) {
    case Purpose::kServer:
      return "serverAuth";
    case Purpose::kClient:
      return "clientAuth";
    case Purpose::kBoth:
      return "serverAuth,clientAuth";
  }
  return "";
}

}  // namespace

Result<Identity> Identity::parse(std::string_view certificate_pem, const Secret& key_pem) {
  TRY(auto chain, Certificate::parse_all(certificate_pem));
  TRY(auto key, PrivateKey::parse(key_pem));
  if (!chain.front().matches(key))
    return fail(Code::kInvalid,
                fmt::format("certificate {} has another key", chain.front().subject()));
  return Identity{std::move(chain), std::move(key)};
}

Result<Authority> Authority::make(KeySource& keys, std::string_view common_name,
                                  const Validity& validity) {
  const auto key = keys.make_key();
  TRY(auto x509, in("make CA", begin(keys, key, validity)));
  X509_NAME* name = X509_get_subject_name(x509.get());
  TRY(in("make CA", add_name_entry(name, NID_commonName, common_name)));
  X509_set_issuer_name(x509.get(), name);
  add_extension(x509.get(), x509.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(x509.get(), x509.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(x509.get(), x509.get(), NID_subject_key_identifier, "hash");
  TRY(auto certificate, in("make CA", sign(keys, x509.get(), key)));
  return Authority(std::move(certificate), key);
}

Result<Authority> Authority::parse(std::string_view certificate_pem, const Secret& key_pem) {
  TRY(auto identity, in("CA", Identity::parse(certificate_pem, key_pem)));
  if (!identity.leaf().is_ca())
    return fail(Code::kInvalid,
                fmt::format("certificate {} is not a CA", identity.leaf().subject()));
  if (!identity.key.is_p256())
    return fail(Code::kInvalid,
                fmt::format("CA {}: its key is not P-256", identity.leaf().subject()));
  return Authority(identity.leaf(), std::move(identity.key));
}

Result<Identity> Authority::issue(KeySource& keys, const LeafRequest& request) const {
  const auto operation = fmt::format("issue certificate {}", request.common_name);
  const bool named =
      !request.names.dns.empty() || !request.names.ips.empty() || !request.names.uris.empty();
  if (request.purpose != Purpose::kClient && !named)
    return fail(Error(Code::kInvalid, "a server needs names").in(operation));
  const auto key = keys.make_key();
  const Validity validity{std::max(request.validity.not_before, certificate_.not_before()),
                          std::min(request.validity.not_after, certificate_.not_after())};
  TRY(auto x509, in(operation, begin(keys, key, validity)));
  X509* issuer = certificate_.rep().x509.get();
  X509_NAME* name = X509_get_subject_name(x509.get());
  for (const auto& organization : request.organizations)
    TRY(in(operation, add_name_entry(name, NID_organizationName, organization)));
  TRY(in(operation, add_name_entry(name, NID_commonName, request.common_name)));
  X509_set_issuer_name(x509.get(), X509_get_subject_name(issuer));
  add_extension(x509.get(), issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(x509.get(), issuer, NID_key_usage, "critical,digitalSignature");
  add_extension(x509.get(), issuer, NID_ext_key_usage, extended_usage(request.purpose));
  add_extension(x509.get(), issuer, NID_subject_key_identifier, "hash");
  add_extension(x509.get(), issuer, NID_authority_key_identifier, "keyid:always");
  TRY(in(operation, add_names(x509.get(), request.names)));
  TRY(auto certificate, in(operation, sign(keys, x509.get(), key_)));
  return Identity{{std::move(certificate)}, key};
}

WallTime renewal_due(const Certificate& certificate) {
  const auto lifetime = certificate.not_after() - certificate.not_before();
  return certificate.not_before() + lifetime / 3 * 2;
}

}  // namespace quorate::pki
