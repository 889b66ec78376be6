// One certificate from any DER bytes: every accessor and verify must come to an end.

#include <chrono>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "pki/authority.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate;
  using namespace quorate::pki;
  static SeededKeys keys(1);
  static const auto now = WallTime(std::chrono::hours(500'000));
  static const auto authority = *Authority::make(keys, "ca", {now, now + std::chrono::hours(1000)});
  static const auto key = keys.make_key();

  const std::string_view der(reinterpret_cast<const char*>(data), size);
  std::string pem = "-----BEGIN CERTIFICATE-----\n";
  const auto encoded = encode_base64(der);
  for (std::size_t i = 0; i < encoded.size(); i += 64) pem += encoded.substr(i, 64) + "\n";
  pem += "-----END CERTIFICATE-----\n";
  const auto certificate = Certificate::parse(pem);
  if (!certificate) return 0;
  (void)certificate->subject();
  (void)certificate->issuer();
  (void)certificate->common_name();
  (void)certificate->serial();
  (void)certificate->is_ca();
  (void)certificate->for_servers();
  (void)certificate->for_clients();
  (void)certificate->fingerprint();
  (void)certificate->covers("a.b");
  (void)certificate->covers("10.0.0.1");
  (void)renewal_due(*certificate);
  CHECK(!certificate->matches(key));
  (void)verify({*certificate}, {authority.certificate()}, Purpose::kBoth, "a.b", now);
  (void)verify({*certificate}, {*certificate}, Purpose::kServer, {}, certificate->not_before());
  return 0;
}
