#include "tests/sim/etcd/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/strings.h"

namespace quorate::etcdsim {
namespace {

using Flags = std::map<std::string, std::string, std::less<>>;

// Flags that are known and change nothing here.
const std::set<std::string, std::less<>>& inert_flags() {
  static const std::set<std::string, std::less<>> all = {
      "logger",
      "log-level",
      "log-outputs",
      "log-format",
      "metrics",
      "wal-dir",
      "auto-compaction-mode",
      "auto-compaction-retention",
      "max-snapshots",
      "max-wals",
      "cors",
      "host-whitelist",
      "cipher-suites",
      "tls-min-version",
      "tls-max-version",
      "auth-token",
      "auth-token-ttl",
      "bcrypt-cost",
      "initial-election-tick-advance",
      "enable-pprof",
      "socket-reuse-port",
      "socket-reuse-address",
      "unsafe-no-fsync",
      "grpc-keepalive-min-time",
      "grpc-keepalive-interval",
      "grpc-keepalive-timeout",
      "max-concurrent-streams",
      "client-crl-file",
      "peer-crl-file",
      "auto-tls",
      "peer-auto-tls",
      "self-signed-cert-validity",
      "backend-batch-limit",
      "backend-bbolt-freelist-type",
      "discovery",
      "discovery-srv",
      "discovery-fallback",
      "enable-v2",
      "listen-client-http-urls",
      "client-cert-file",
      "client-key-file",
      "peer-client-cert-file",
      "peer-client-key-file",
      "feature-gates",
  };
  return all;
}

// Flags of features that graduated: `experimental-` until 3.6, without it from 3.6 on.
const std::set<std::string, std::less<>>& graduating_flags() {
  static const std::set<std::string, std::less<>> all = {
      "peer-skip-client-san-verification",
      "initial-corrupt-check",
      "corrupt-check-time",
      "compact-hash-check-enabled",
      "compact-hash-check-time",
      "compaction-batch-limit",
      "watch-progress-notify-interval",
      "warning-apply-duration",
      "warning-unary-request-duration",
      "bootstrap-defrag-threshold-megabytes",
      "max-learners",
      "snapshot-catchup-entries",
      "downgrade-check-time",
      "memory-mlock",
      "enable-distributed-tracing",
      "distributed-tracing-address",
      "enable-lease-checkpoint",
      "enable-lease-checkpoint-persist",
      "stop-grpc-service-on-defrag",
      "compaction-sleep-interval",
  };
  return all;
}

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> out;
  for (auto part : split(text, ','))
    if (!part.empty()) out.emplace_back(part);
  return out;
}

bool boolean(const std::string& text) { return text.empty() || text == "true" || text == "1"; }

using Setter = std::function<bool(Config&, const std::string&)>;

template <class Member>
Setter text(Member member) {
  return [member](Config& config, const std::string& value) {
    config.*member = value;
    return true;
  };
}
Setter urls(std::vector<std::string> Config::*member) {
  return [member](Config& config, const std::string& value) {
    config.*member = list_of(value);
    return !(config.*member).empty();
  };
}
Setter flag(bool Config::*member) {
  return [member](Config& config, const std::string& value) {
    config.*member = boolean(value);
    return true;
  };
}
Setter milliseconds(Duration Config::*member) {
  return [member](Config& config, const std::string& value) {
    auto number = parse_integer(value);
    if (!number || *number <= 0) return false;
    config.*member = std::chrono::milliseconds(*number);
    return true;
  };
}
Setter number(std::int64_t Config::*member) {
  return [member](Config& config, const std::string& value) {
    auto parsed = parse_integer(value);
    if (!parsed) return false;
    config.*member = *parsed;
    return true;
  };
}
Setter file(TlsFiles Config::*tls, std::string TlsFiles::*member) {
  return [tls, member](Config& config, const std::string& value) {
    config.*tls.*member = value;
    return true;
  };
}
Setter tls_flag(TlsFiles Config::*tls, bool TlsFiles::*member) {
  return [tls, member](Config& config, const std::string& value) {
    config.*tls.*member = boolean(value);
    return true;
  };
}

// Seconds with a unit: 10s, 100ms.
bool set_batch_interval(Config& config, const std::string& value) {
  auto digits = value.find_first_not_of("0123456789");
  if (digits == std::string::npos) return false;
  auto amount = parse_integer(std::string_view(value).substr(0, digits));
  if (!amount) return false;
  const bool ms = value.substr(digits) == "ms";
  config.batch_interval =
      ms ? Duration(std::chrono::milliseconds(*amount)) : Duration(std::chrono::seconds(*amount));
  return true;
}

bool set_initial_cluster(Config& config, const std::string& value) {
  config.initial_cluster.clear();
  for (const auto& entry : list_of(value)) {
    auto pair = cut(entry, "=");
    if (!pair || pair->before.empty()) return false;
    config.initial_cluster[std::string(pair->before)].emplace_back(pair->after);
  }
  return true;
}

const std::map<std::string, Setter, std::less<>>& setters() {
  using C = Config;
  static const std::map<std::string, Setter, std::less<>> all = {
      {"name", text(&C::name)},
      {"data-dir", text(&C::data_dir)},
      {"initial-cluster", set_initial_cluster},
      {"initial-cluster-token", text(&C::token)},
      {"initial-cluster-state",
       [](C& config, const std::string& value) {
         config.new_cluster = value == "new";
         return value == "new" || value == "existing";
       }},
      {"initial-advertise-peer-urls", urls(&C::advertise_peer)},
      {"advertise-client-urls", urls(&C::advertise_client)},
      {"listen-peer-urls", urls(&C::listen_peer)},
      {"listen-client-urls", urls(&C::listen_client)},
      {"listen-metrics-urls", urls(&C::listen_metrics)},
      {"cert-file", file(&C::client_tls, &TlsFiles::certificate)},
      {"key-file", file(&C::client_tls, &TlsFiles::key)},
      {"trusted-ca-file", file(&C::client_tls, &TlsFiles::trusted_ca)},
      {"client-cert-auth", tls_flag(&C::client_tls, &TlsFiles::client_auth)},
      {"client-cert-allowed-hostname", [](C&, const std::string&) { return true; }},
      {"peer-cert-file", file(&C::peer_tls, &TlsFiles::certificate)},
      {"peer-key-file", file(&C::peer_tls, &TlsFiles::key)},
      {"peer-trusted-ca-file", file(&C::peer_tls, &TlsFiles::trusted_ca)},
      {"peer-client-cert-auth", tls_flag(&C::peer_tls, &TlsFiles::client_auth)},
      {"peer-cert-allowed-cn", file(&C::peer_tls, &TlsFiles::allowed_cn)},
      {"peer-skip-client-san-verification", tls_flag(&C::peer_tls, &TlsFiles::skip_client_san)},
      {"strict-reconfig-check", flag(&C::strict_reconfig)},
      {"force-new-cluster", flag(&C::force_new_cluster)},
      {"pre-vote",
       [](C& config, const std::string& value) {
         config.pre_vote = boolean(value);
         return true;
       }},
      {"heartbeat-interval", milliseconds(&C::heartbeat)},
      {"election-timeout", milliseconds(&C::election)},
      {"backend-batch-interval", set_batch_interval},
      {"quota-backend-bytes", number(&C::quota)},
      {"max-request-bytes", number(&C::max_request)},
      {"max-txn-ops",
       [](C& config, const std::string& value) {
         config.max_txn_ops = static_cast<std::size_t>(parse_integer(value).value_or(128));
         return true;
       }},
      {"snapshot-count",
       [](C& config, const std::string& value) {
         auto count = parse_integer(value);
         if (count) config.snapshot_count = static_cast<std::uint64_t>(*count);
         return count.has_value();
       }},
  };
  return all;
}

// The name under which a flag is handled here; absent if this version does not know it.
std::optional<std::string> known_flag(const std::string& name, const Version& version) {
  constexpr std::string_view kPrefix = "experimental-";
  const Traits& traits = traits_of(version);
  if (name.starts_with(kPrefix)) {
    auto rest = name.substr(kPrefix.size());
    if (traits.knows_experimental_flags && graduating_flags().contains(rest)) return rest;
    return std::nullopt;
  }
  if (graduating_flags().contains(name))
    return traits.knows_graduated_flags ? std::optional(name) : std::nullopt;
  if (setters().contains(name) || inert_flags().contains(name)) return name;
  return std::nullopt;
}

Result<Flags> read_flags(const std::vector<std::string>& argv, const Version& version) {
  Flags flags;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    std::string argument = argv[i];
    const std::size_t dashes = argument.starts_with("--") ? 2 : argument.starts_with('-') ? 1 : 0;
    if (dashes == 0) return fail(Code::kInvalid, fmt::format("'{}' is not a valid flag", argument));
    auto pair = cut(std::string_view(argument).substr(dashes), "=");
    std::string name(pair ? pair->before : std::string_view(argument).substr(dashes));
    auto known = known_flag(name, version);
    if (!known)
      return fail(Code::kInvalid, fmt::format("flag provided but not defined: -{}", name));
    flags[*known] = pair ? std::string(pair->after) : "";
    if (!pair && i + 1 < argv.size() && !argv[i + 1].starts_with('-')) flags[*known] = argv[++i];
  }
  return flags;
}

void read_environment(const std::vector<std::string>& environment, Flags& flags) {
  for (const auto& variable : environment) {
    auto pair = cut(variable, "=");
    if (!pair || !pair->before.starts_with("ETCD_")) continue;
    std::string name(pair->before.substr(5));
    std::ranges::transform(name, name.begin(), [](unsigned char c) {
      return c == '_' ? '-' : static_cast<char>(std::tolower(c));
    });
    if (setters().contains(name)) flags.try_emplace(name, pair->after);
  }
}

}  // namespace

Result<Config> parse_config(const std::vector<std::string>& argv,
                            const std::vector<std::string>& environment, const Version& version) {
  TRY(auto flags, read_flags(argv, version));
  read_environment(environment, flags);
  Config config;
  for (const auto& [name, value] : flags) {
    auto setter = setters().find(name);
    if (setter != setters().end() && !setter->second(config, value))
      return fail(Code::kCorrupt, fmt::format("invalid value \"{}\" for flag -{}", value, name));
  }
  if (config.data_dir.empty()) config.data_dir = config.name + ".etcd";
  if (config.initial_cluster.empty()) config.initial_cluster[config.name] = config.advertise_peer;
  return config;
}

}  // namespace quorate::etcdsim
