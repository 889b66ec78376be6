#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "tests/sim/etcd/versions.h"

namespace quorate::etcdsim {

// Certificate files of one port, as etcd's flags name them.
struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string trusted_ca;
  bool client_auth = false;
  std::string allowed_cn;
  bool skip_client_san = false;

  bool used() const { return !certificate.empty(); }
};

// What etcd makes of its command line.
struct Config {
  std::string name = "default";
  std::string data_dir;
  std::map<std::string, std::vector<std::string>> initial_cluster;  // name -> peer URLs
  bool new_cluster = true;
  std::string token = "etcd-cluster";
  std::vector<std::string> advertise_peer;
  std::vector<std::string> advertise_client;
  std::vector<std::string> listen_peer;
  std::vector<std::string> listen_client;
  std::vector<std::string> listen_metrics;
  TlsFiles client_tls;
  TlsFiles peer_tls;
  bool strict_reconfig = true;
  bool force_new_cluster = false;
  std::optional<bool> pre_vote;
  Duration heartbeat = std::chrono::milliseconds(100);
  Duration election = std::chrono::milliseconds(1000);
  Duration batch_interval = std::chrono::milliseconds(100);
  std::int64_t quota = std::int64_t{2} << 30;
  std::int64_t max_request = 1536 * 1024;
  std::optional<std::uint64_t> snapshot_count;
  std::size_t max_txn_ops = 128;

  // etcd's own time-out of requests: computation, and two elections.
  Duration request_timeout() const { return std::chrono::seconds(5) + 2 * election; }
};

// argv[0] is the program; ETCD_* variables count where no flag stands. kInvalid with what etcd
// writes to stderr before it ends with exit code 2 (a flag that it does not know) or 1 (a value).
Result<Config> parse_config(const std::vector<std::string>& argv,
                            const std::vector<std::string>& environment, const Version& version);

}  // namespace quorate::etcdsim
