#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "pki/certificate.h"
#include "pki/key.h"

// OpenSSL's objects with owners. Included by the .cc files of this library alone.
namespace quorate::pki {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using Bio = std::unique_ptr<BIO, Deleter<BIO_free>>;
using BigNumber = std::unique_ptr<BIGNUM, Deleter<BN_clear_free>>;
using BigNumberContext = std::unique_ptr<BN_CTX, Deleter<BN_CTX_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;
using Group = std::unique_ptr<EC_GROUP, Deleter<EC_GROUP_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Point = std::unique_ptr<EC_POINT, Deleter<EC_POINT_clear_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Deleter<ECDSA_SIG_free>>;
using X509Ptr = std::unique_ptr<X509, Deleter<X509_free>>;

struct PrivateKey::Rep {
  Key key;
};

struct Certificate::Rep {
  X509Ptr x509;
  Names names;
  WallTime not_before;
  WallTime not_after;
};

// What OpenSSL last complained about, and its queue emptied.
std::string openssl_reason();

// Everything written to a memory BIO.
std::string content(BIO* bio);

// The DER form, by an i2d function.
template <class T, class Encode>
std::string der_of(T* object, Encode encode) {
  unsigned char* bytes = nullptr;
  const int length = encode(object, &bytes);
  if (length < 0) return {};
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
  OPENSSL_free(bytes);
  return out;
}

// Reads from a text that outlives it.
Bio reading(std::string_view text);

inline const unsigned char* unsigned_bytes(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// A parsed certificate from OpenSSL's own; kInvalid if its times cannot be read.
Result<Certificate> wrap(X509Ptr x509);

}  // namespace quorate::pki
