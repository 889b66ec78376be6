#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/text_table.h"
#include "base/result.h"

namespace quorate::api {

// A released version of etcd: 3.6.16. No pre-releases, no leading `v`.
struct EtcdVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;
  std::string text() const;
  friend auto operator<=>(const EtcdVersion&, const EtcdVersion&) = default;
};

// Exactly MAJOR.MINOR.PATCH without leading zeros. kInvalid says what is wrong with the text and
// what would be right (`v3.5.16`: without the v; `latest`: a version has three numbers).
[[nodiscard]] Result<EtcdVersion> parse_etcd_version(std::string_view text);

// The one that is run where nothing is said.
[[nodiscard]] EtcdVersion default_etcd_version();

// What is known of one minor release.
struct MinorRelease {
  int minor;             // of major 3
  int floor;             // patches below have defects that an operator must not run
  std::string_view why;  // the reason for the floor
  bool supported;        // by the etcd project, when this table was made
  int tried_patch;       // the newest that our tests run; newer ones are taken, too
};
[[nodiscard]] std::span<const MinorRelease> etcd_releases();  // ascending
[[nodiscard]] const MinorRelease* find_release(const EtcdVersion& version);

// Whether we run it: kInvalid with the nearest version that we do run.
[[nodiscard]] Result<void> check_supported(const EtcdVersion& version);

// The readiness probe's path on the metrics port: /readyz from 3.5.11 on, else /health.
[[nodiscard]] std::string_view readiness_path(const EtcdVersion& version);

// Tells peers to skip the check of a client certificate's names against the connection's source
// address (E20): its spelling differs by version.
[[nodiscard]] std::string_view skip_client_san_flag(const EtcdVersion& version);

// What etcd is started with, but for the flags that the launch guard adds (name, data directory,
// initial cluster): everything here is the same for the whole life of a Pod.
struct EtcdFlags {
  EtcdVersion version;
  std::string advertise_client_url;
  bool peer_tls = true;
  bool client_tls = true;
  bool client_certificates = true;  // clients must show one
  TextTable options = {};           // valid ones
};
[[nodiscard]] std::vector<std::string> make_etcd_arguments(const EtcdFlags& flags);

}  // namespace quorate::api
