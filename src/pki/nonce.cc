#include "pki/nonce.h"

#include "base/check.h"
#include "pki/openssl_impl.h"

namespace quorate::pki {

namespace {

constexpr std::size_t kLength = 32;  // of P-256 scalars and of SHA-256

BigNumber number(std::string_view bytes) {
  return BigNumber(BN_bin2bn(unsigned_bytes(bytes), static_cast<int>(bytes.size()), nullptr));
}

std::string octets(const BIGNUM& value) {
  std::string out(kLength, '\0');
  CHECK(BN_bn2binpad(&value, reinterpret_cast<unsigned char*>(out.data()), kLength) == kLength);
  return out;
}

std::string text(const Sha256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// The stream of candidates of RFC 6979, section 3.2, steps b to h.
class Nonces {
 public:
  Nonces(const std::string& key, const std::string& digest) {
    for (const char step : {'\0', '\1'}) {
      k_ = text(hmac_sha256(k_, v_ + step + key + digest));
      v_ = text(hmac_sha256(k_, v_));
    }
  }
  BigNumber next() {
    if (drawn_) {
      k_ = text(hmac_sha256(k_, v_ + '\0'));
      v_ = text(hmac_sha256(k_, v_));
    }
    drawn_ = true;
    v_ = text(hmac_sha256(k_, v_));
    return number(v_);
  }

 private:
  std::string k_ = std::string(kLength, '\0');
  std::string v_ = std::string(kLength, '\1');
  bool drawn_ = false;
};

}  // namespace

std::string sign_deterministically(std::string_view scalar, const Sha256& digest) {
  CHECK(scalar.size() == kLength);
  const Group group(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1));
  const BIGNUM* order = EC_GROUP_get0_order(group.get());
  const BigNumberContext context(BN_CTX_new());
  // SHA-256 and the order have the same length, so bits2int is a plain conversion.
  const BigNumber key = number(scalar), hash = number(text(digest));
  const BigNumber reduced(BN_new());
  CHECK(BN_nnmod(reduced.get(), hash.get(), order, context.get()) == 1);

  Nonces nonces(octets(*key), octets(*reduced));
  while (true) {
    const BigNumber nonce = nonces.next();
    if (BN_is_zero(nonce.get()) || BN_cmp(nonce.get(), order) >= 0) continue;
    const Point point(EC_POINT_new(group.get()));
    BigNumber r(BN_new()), s(BN_new());
    const BigNumber x(BN_new()), inverse(BN_new());
    CHECK(EC_POINT_mul(group.get(), point.get(), nonce.get(), nullptr, nullptr, context.get()) ==
          1);
    CHECK(EC_POINT_get_affine_coordinates(group.get(), point.get(), x.get(), nullptr,
                                          context.get()) == 1);
    CHECK(BN_nnmod(r.get(), x.get(), order, context.get()) == 1);
    // s = (hash + r * key) / nonce
    CHECK(BN_mod_inverse(inverse.get(), nonce.get(), order, context.get()) != nullptr);
    CHECK(BN_mod_mul(s.get(), r.get(), key.get(), order, context.get()) == 1);
    CHECK(BN_mod_add(s.get(), s.get(), hash.get(), order, context.get()) == 1);
    CHECK(BN_mod_mul(s.get(), s.get(), inverse.get(), order, context.get()) == 1);
    if (BN_is_zero(r.get()) || BN_is_zero(s.get())) continue;
    const Signature signature(ECDSA_SIG_new());
    CHECK(ECDSA_SIG_set0(signature.get(), r.release(), s.release()) == 1);
    return der_of(signature.get(), i2d_ECDSA_SIG);
  }
}

}  // namespace quorate::pki
