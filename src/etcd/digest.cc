#include "etcd/digest.h"

#include <openssl/evp.h>

#include "base/check.h"

namespace quorate::etcd {

struct Sha256::Context {
  EVP_MD_CTX* native = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(native); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  CHECK(context_->native && EVP_DigestInit_ex(context_->native, EVP_sha256(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(context_->native, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::finish() {
  std::string digest(kSize, '\0');
  CHECK(EVP_DigestFinal_ex(context_->native, reinterpret_cast<unsigned char*>(digest.data()),
                           nullptr) == 1);
  return digest;
}

}  // namespace quorate::etcd
