#pragma once

#include <string>

#include "base/secret.h"
#include "base/time.h"
#include "kube/kubeconfig.h"
#include "net/tls.h"
#include "pki/key.h"

namespace quorate::sandbox {

// Who the sandbox's API server is, and what its one user shows.
struct Credentials {
  std::string authority;  // PEM
  net::TlsIdentity serving;
  Secret token;

  // For addresses of loopback and the names of Service default/kubernetes.
  [[nodiscard]] static Result<Credentials> make(pki::KeySource& keys, WallTime now);

  // For clients in this process, and for people: the text of a kubeconfig file, to be kept from
  // others.
  [[nodiscard]] kube::ClusterConfig config(std::uint16_t port) const;
  [[nodiscard]] Secret kubeconfig(std::uint16_t port) const;
};

}  // namespace quorate::sandbox
