#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "tests/sim/etcd/config.h"

// Handshakes as a predicate: certificates are real, connections are not.
namespace quorate::etcdsim {

using FileReader = std::function<std::optional<std::string>(const std::string& path)>;

// One side of a handshake: PEM texts.
struct TlsSide {
  std::string roots;
  std::string chain;  // empty = shows none
};

// A port of etcd that speaks TLS, or plain text if its files name no certificate. Leaves are read
// again at each handshake, authorities once, at the start (E21).
class TlsPort {
 public:
  TlsPort() = default;
  // kInvalid if a file that is named cannot be read.
  static Result<TlsPort> open(const TlsFiles& files, FileReader read);

  bool secure() const { return files_.used(); }
  const TlsFiles& files() const { return files_; }
  // What this process shows and trusts when it dials with the same files.
  TlsSide as_client() const;

  // A client dials `name` and shows itself: kForbidden with the reason, on either side.
  // `from_address`: where the connection comes from, for the check of a peer's own name (E20).
  Result<void> accept(const TlsSide& client, const std::string& name, WallTime now,
                      const std::vector<std::string>& from_addresses) const;
  // The common name that a client shows: etcd takes it for the user.
  static std::string common_name(const TlsSide& client);

 private:
  TlsFiles files_;
  FileReader read_;
  std::string roots_;
};

}  // namespace quorate::etcdsim
