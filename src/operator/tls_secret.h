#pragma once

#include "base/secret.h"
#include "kube/client.h"

namespace quorate::op {

// What a Secret of type kubernetes.io/tls with a CA holds, decoded.
struct TlsPems {
  std::string ca;
  std::string certificate;
  Secret key;
};

// Reads it from the server. kInvalid names the Secret and the key that is missing or no base64;
// contents are never quoted.
Task<Result<TlsPems>> read_tls_secret(kube::Client& client, ObjectKey secret,
                                      rt::Deadline deadline);

}  // namespace quorate::op
