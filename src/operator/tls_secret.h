#pragma once

#include "base/secret.h"
#include "kube/client.h"

namespace quorate::op {

// What a Secret of type kubernetes.io/tls with a CA holds, decoded.
struct TlsPems {
  std::string ca;
  std::string certificate;
  Secret key;
  // Of an authority that is being replaced; empty otherwise.
  std::string next_certificate = {};
  Secret next_key = {};
};

// Reads it from the server. kInvalid names the Secret and the key that is missing or no base64;
// contents are never quoted.
Task<Result<TlsPems>> read_tls_secret(kube::Client& client, ObjectKey secret,
                                      rt::Deadline deadline);

// The same from an object that was read.
[[nodiscard]] Result<TlsPems> decode_tls_secret(const ObjectKey& secret,
                                                const kube::Object& object);

// The common name of the certificate in a Secret: `secret.namespace`, or, where that is longer than
// the 64 characters that X.509 allows, its beginning and a digest of the whole. It is for people;
// nobody is let in by it.
[[nodiscard]] std::string certificate_name(const ObjectKey& secret);

}  // namespace quorate::op
