#include "pki/key.h"

#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <array>

#include "base/check.h"
#include "pki/digest.h"
#include "pki/nonce.h"
#include "pki/openssl_impl.h"

namespace quorate::pki {

namespace {

using Params = std::unique_ptr<OSSL_PARAM, Deleter<OSSL_PARAM_free>>;
using ParamBuilder = std::unique_ptr<OSSL_PARAM_BLD, Deleter<OSSL_PARAM_BLD_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Deleter<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>>;

constexpr const char* kCurve = "prime256v1";  // P-256

PrivateKey wrap_key(Key key) {
  return PrivateKey(std::make_shared<const PrivateKey::Rep>(PrivateKey::Rep{std::move(key)}));
}

// Keys behind a passphrase are refused instead of asking on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

// The P-256 key with this scalar.
Key key_of(const BIGNUM* scalar) {
  const Group group(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1));
  const Point point(EC_POINT_new(group.get()));
  CHECK(EC_POINT_mul(group.get(), point.get(), scalar, nullptr, nullptr, nullptr) == 1);
  std::array<unsigned char, 65> encoded{};
  CHECK(EC_POINT_point2oct(group.get(), point.get(), POINT_CONVERSION_UNCOMPRESSED, encoded.data(),
                           encoded.size(), nullptr) == encoded.size());
  const ParamBuilder builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, kCurve, 0);
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, scalar);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, encoded.data(),
                                   encoded.size());
  const Params params(OSSL_PARAM_BLD_to_param(builder.get()));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* made = nullptr;
  CHECK(EVP_PKEY_fromdata_init(context.get()) == 1 &&
            EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_KEYPAIR, params.get()) == 1,
        "{}", openssl_reason());
  return Key(made);
}

// The scalar of a P-256 key, the highest byte first.
std::string scalar_of(const PrivateKey& key) {
  BIGNUM* number = nullptr;
  CHECK(EVP_PKEY_get_bn_param(key.rep().key.get(), OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1);
  const BigNumber scalar(number);
  std::string out(32, '\0');
  CHECK(BN_bn2binpad(scalar.get(), reinterpret_cast<unsigned char*>(out.data()), 32) == 32);
  return out;
}

// A serial number: positive, and of full length, so that its text is always the same size.
Serial serial_of(std::string bytes) {
  bytes.resize(16);
  bytes[0] = static_cast<char>((static_cast<unsigned char>(bytes[0]) & 0x3fU) | 0x40U);
  return Serial(std::move(bytes));
}

std::string as_text(const Sha256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

Result<PrivateKey> PrivateKey::parse(const Secret& pem) {
  const Bio bio = reading(pem.reveal());
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (!key) return fail(Code::kInvalid, "private key: " + openssl_reason());
  return wrap_key(std::move(key));
}

Secret PrivateKey::pem() const {
  const Bio bio(BIO_new(BIO_s_secmem()));
  CHECK(PEM_write_bio_PKCS8PrivateKey(bio.get(), rep_->key.get(), nullptr, nullptr, 0, nullptr,
                                      nullptr) == 1,
        "{}", openssl_reason());
  return Secret(content(bio.get()));
}

std::string PrivateKey::public_der() const { return der_of(rep_->key.get(), i2d_PUBKEY); }

bool PrivateKey::is_p256() const {
  std::array<char, 32> name{};
  std::size_t length = 0;
  return EVP_PKEY_is_a(rep_->key.get(), "EC") == 1 &&
         EVP_PKEY_get_group_name(rep_->key.get(), name.data(), name.size(), &length) == 1 &&
         std::string_view(name.data(), length) == kCurve;
}

PrivateKey SystemKeys::make_key() {
  Key key(EVP_EC_gen(kCurve));
  CHECK(key != nullptr, "{}", openssl_reason());
  return wrap_key(std::move(key));
}

Serial SystemKeys::make_serial() {
  std::array<unsigned char, 16> bytes{};
  CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1, "{}", openssl_reason());
  return serial_of(std::string(bytes.begin(), bytes.end()));
}

std::string SystemKeys::sign(const PrivateKey& key, std::string_view bytes) {
  CHECK(key.is_p256());
  const DigestContext context(EVP_MD_CTX_new());
  std::array<unsigned char, 128> signature{};
  std::size_t length = signature.size();
  CHECK(
      EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.rep().key.get()) == 1 &&
          EVP_DigestSign(context.get(), signature.data(), &length, unsigned_bytes(bytes),
                         bytes.size()) == 1,
      "{}", openssl_reason());
  return std::string(signature.begin(), signature.begin() + static_cast<std::ptrdiff_t>(length));
}

std::string SeededKeys::draw(std::string_view what) {
  return as_text(sha256(fmt::format("quorate {} {} {}", what, seed_, drawn_++)));
}

PrivateKey SeededKeys::make_key() {
  const Group group(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1));
  while (true) {
    const auto bytes = draw("key");
    const BigNumber scalar(
        BN_bin2bn(unsigned_bytes(bytes), static_cast<int>(bytes.size()), nullptr));
    const bool in_range =
        !BN_is_zero(scalar.get()) && BN_cmp(scalar.get(), EC_GROUP_get0_order(group.get())) < 0;
    if (in_range) return wrap_key(key_of(scalar.get()));
  }
}

Serial SeededKeys::make_serial() { return serial_of(draw("serial")); }

std::string SeededKeys::sign(const PrivateKey& key, std::string_view bytes) {
  CHECK(key.is_p256());
  return sign_deterministically(scalar_of(key), sha256(bytes));
}

}  // namespace quorate::pki
