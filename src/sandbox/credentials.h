#pragma once

#include <string>
#include <string_view>

#include "base/secret.h"
#include "base/time.h"
#include "kube/kubeconfig.h"
#include "net/tls.h"
#include "pki/key.h"

namespace quorate::sandbox {

// Who the sandbox's API server is, and what its one user shows. Kept over restarts, so that a
// kubeconfig stays good.
struct Credentials {
  std::string authority;  // PEM
  net::TlsIdentity serving;
  Secret token;

  // For addresses of loopback and the names of Service default/kubernetes.
  [[nodiscard]] static Result<Credentials> make(pki::KeySource& keys, WallTime now);

  // The text in which they are kept, and what such a text says. kInvalid if it is damaged, or if
  // the certificate ends within a month: then new ones are due.
  [[nodiscard]] Secret render() const;
  [[nodiscard]] static Result<Credentials> parse(const Secret& text, WallTime now);

  // For clients in this process, and for people: the text of a kubeconfig file, to be kept from
  // others.
  [[nodiscard]] kube::ClusterConfig config(std::uint16_t port) const;
  [[nodiscard]] Secret kubeconfig(std::uint16_t port) const;
};

}  // namespace quorate::sandbox
