#include "pki/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/bytes.h"
#include "base/check.h"

namespace quorate::pki {

Sha256 sha256(std::string_view bytes) {
  Sha256 digest{};
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1);
  return digest;
}

std::string sha256_hex(std::string_view bytes) {
  const auto digest = sha256(bytes);
  return encode_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

struct Sha256Stream::Context {
  EVP_MD_CTX* native = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(native); }
};

Sha256Stream::Sha256Stream() : context_(std::make_unique<Context>()) {
  CHECK(context_->native && EVP_DigestInit_ex(context_->native, EVP_sha256(), nullptr) == 1);
}
Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;

void Sha256Stream::update(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(context_->native, bytes.data(), bytes.size()) == 1);
}

std::string Sha256Stream::finish() {
  std::string digest(kSize, '\0');
  CHECK(EVP_DigestFinal_ex(context_->native, reinterpret_cast<unsigned char*>(digest.data()),
                           nullptr) == 1);
  return digest;
}

Sha256 hmac_sha256(std::string_view key, std::string_view bytes) {
  Sha256 digest{};
  CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(),
             nullptr) != nullptr);
  return digest;
}

Sha1 sha1(std::string_view bytes) {
  Sha1 digest{};
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha1(), nullptr) == 1);
  return digest;
}

}  // namespace quorate::pki
