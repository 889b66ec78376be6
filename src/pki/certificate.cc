#include "pki/certificate.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "pki/digest.h"
#include "pki/openssl_impl.h"

namespace quorate::pki {

namespace {

using GeneralNames = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;

std::string text_of(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<std::size_t>(ASN1_STRING_length(string))};
}

std::optional<std::string> ip_text(const ASN1_OCTET_STRING* address) {
  const int length = ASN1_STRING_length(address);
  if (length != 4 && length != 16) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> out{};
  inet_ntop(length == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(address), out.data(),
            static_cast<socklen_t>(out.size()));
  return std::string(out.data());
}

Names names_of(const X509* x509) {
  Names names;
  const GeneralNames general(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(x509, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(general.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(general.get(), i);
    if (name->type == GEN_DNS) names.dns.push_back(text_of(name->d.dNSName));
    if (name->type == GEN_URI) names.uris.push_back(text_of(name->d.uniformResourceIdentifier));
    if (name->type != GEN_IPADD) continue;
    if (auto ip = ip_text(name->d.iPAddress)) names.ips.push_back(*std::move(ip));
  }
  return names;
}

Result<WallTime> time_of(const ASN1_TIME* time) {
  using namespace std::chrono;
  std::tm parts{};
  if (!time || ASN1_TIME_to_tm(time, &parts) != 1)
    return fail(Code::kInvalid, "certificate: a time that cannot be read");
  const year_month_day date(year(parts.tm_year + 1900),
                            month(static_cast<unsigned>(parts.tm_mon + 1)),
                            day(static_cast<unsigned>(parts.tm_mday)));
  return sys_days(date) + hours(parts.tm_hour) + minutes(parts.tm_min) + seconds(parts.tm_sec);
}

std::string render_name(const X509_NAME* name) {
  const Bio bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  return content(bio.get());
}

std::string hex_of(const ASN1_OCTET_STRING* bytes) {
  if (!bytes) return "";
  return encode_hex({reinterpret_cast<const char*>(ASN1_STRING_get0_data(bytes)),
                     static_cast<std::size_t>(ASN1_STRING_length(bytes))});
}

bool allows(const X509* x509, std::uint32_t purpose) {
  // Absent means any use.
  const std::uint32_t usage = X509_get_extended_key_usage(const_cast<X509*>(x509));
  return (usage & (purpose | XKU_ANYEKU)) != 0;
}

}  // namespace

Result<Certificate> wrap(X509Ptr x509) {
  TRY(auto not_before, time_of(X509_get0_notBefore(x509.get())));
  TRY(auto not_after, time_of(X509_get0_notAfter(x509.get())));
  auto names = names_of(x509.get());
  ERR_clear_error();
  return Certificate(std::make_shared<const Certificate::Rep>(
      Certificate::Rep{std::move(x509), std::move(names), not_before, not_after}));
}

Result<Certificate> Certificate::parse(std::string_view pem) {
  TRY(auto all, parse_all(pem));
  return all.front();
}

Result<std::vector<Certificate>> Certificate::parse_all(std::string_view pem) {
  std::vector<Certificate> all;
  const Bio bio = reading(pem);
  ERR_clear_error();
  while (true) {
    X509Ptr x509(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (!x509) break;
    auto certificate = wrap(std::move(x509));
    if (!certificate) return fail(std::move(certificate).error());
    all.push_back(*std::move(certificate));
  }
  // The end of the text is an error of its own to OpenSSL.
  const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const auto reason = openssl_reason();
  if (!ended)
    return fail(Code::kInvalid, fmt::format("certificate {}: {}", all.size() + 1, reason));
  if (all.empty()) return fail(Code::kInvalid, "no certificate in PEM form");
  return all;
}

std::string Certificate::pem() const {
  const Bio bio(BIO_new(BIO_s_mem()));
  CHECK(PEM_write_bio_X509(bio.get(), rep_->x509.get()) == 1, "{}", openssl_reason());
  return content(bio.get());
}

std::string Certificate::der() const { return der_of(rep_->x509.get(), i2d_X509); }

std::string Certificate::subject() const {
  return render_name(X509_get_subject_name(rep_->x509.get()));
}

std::string Certificate::issuer() const {
  return render_name(X509_get_issuer_name(rep_->x509.get()));
}

std::string Certificate::common_name() const {
  const X509_NAME* name = X509_get_subject_name(rep_->x509.get());
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (at < 0) return {};
  unsigned char* text = nullptr;
  const int length =
      ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
  if (length < 0) return {};
  std::string out(reinterpret_cast<const char*>(text), static_cast<std::size_t>(length));
  OPENSSL_free(text);
  return out;
}

Serial Certificate::serial() const {
  const ASN1_INTEGER* serial = X509_get0_serialNumber(rep_->x509.get());
  return Serial(text_of(serial));
}

const Names& Certificate::names() const { return rep_->names; }
WallTime Certificate::not_before() const { return rep_->not_before; }
WallTime Certificate::not_after() const { return rep_->not_after; }
bool Certificate::is_ca() const { return X509_check_ca(rep_->x509.get()) == 1; }
bool Certificate::for_servers() const { return allows(rep_->x509.get(), XKU_SSL_SERVER); }
bool Certificate::for_clients() const { return allows(rep_->x509.get(), XKU_SSL_CLIENT); }
std::string Certificate::fingerprint() const { return sha256_hex(der()); }

std::string Certificate::subject_key_id() const {
  return hex_of(X509_get0_subject_key_id(rep_->x509.get()));
}
std::string Certificate::authority_key_id() const {
  return hex_of(X509_get0_authority_key_id(rep_->x509.get()));
}

bool Certificate::matches(const PrivateKey& key) const {
  const bool same = X509_check_private_key(rep_->x509.get(), key.rep().key.get()) == 1;
  ERR_clear_error();
  return same;
}

bool Certificate::covers(std::string_view name_or_ip) const {
  const std::string name(name_or_ip);
  X509* x509 = rep_->x509.get();
  bool covered = false;
  if (std::unique_ptr<ASN1_OCTET_STRING, Deleter<ASN1_OCTET_STRING_free>> ip(
          a2i_IPADDRESS(name.c_str()));
      ip)
    covered = X509_check_ip_asc(x509, name.c_str(), 0) == 1;
  else
    covered = X509_check_host(x509, name.data(), name.size(), X509_CHECK_FLAG_NEVER_CHECK_SUBJECT,
                              nullptr) == 1;
  ERR_clear_error();
  return covered;
}

std::string render_pem(const std::vector<Certificate>& certificates) {
  std::string out;
  for (const auto& certificate : certificates) out += certificate.pem();
  return out;
}

Result<std::string> make_bundle(const std::vector<std::string>& pems) {
  std::vector<Certificate> bundle;
  for (const auto& pem : pems) {
    TRY(auto certificates, Certificate::parse_all(pem));
    for (auto& certificate : certificates) {
      if (!certificate.is_ca())
        return fail(Code::kInvalid,
                    fmt::format("certificate {} is not a CA", certificate.subject()));
      if (std::find(bundle.begin(), bundle.end(), certificate) == bundle.end())
        bundle.push_back(std::move(certificate));
    }
  }
  return render_pem(bundle);
}

}  // namespace quorate::pki
