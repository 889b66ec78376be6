#include "api/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/strings.h"

namespace quorate::api {
namespace {

constexpr int kNever = EtcdFlag::kNever;
using When = std::array<int, 4>;
constexpr When kAlways{0, 0, 0, 0};
constexpr When kSince35{kNever, 0, 0, 0};
constexpr When kSince36{kNever, kNever, 0, 0};
constexpr When kUntil36{0, 0, kNever, kNever};
constexpr When kUntil37{0, 0, 0, kNever};
constexpr When kOnly34{0, kNever, kNever, kNever};
constexpr When k35And36{kNever, 0, 0, kNever};
constexpr When kOnly36{kNever, kNever, 0, kNever};

constexpr int kFirstMinor = 4;

using enum FlagKind;
using enum FlagOwner;

// One line of the table.
struct Row : EtcdFlag {
  constexpr Row(std::string_view of_name, FlagKind of_kind, When of_when = kAlways) {
    name = of_name;
    kind = of_kind;
    when = of_when;
  }
  constexpr Row& set_by(FlagOwner who) {
    owner = who;
    return *this;
  }
  constexpr Row& now(std::string_view later) {
    becomes = later;
    return *this;
  }
  constexpr Row& now_gate(std::string_view later) {
    gate = later;
    return *this;
  }
  constexpr Row& one_of(std::string_view values) {
    choices = values;
    return *this;
  }
  constexpr Row& at_least(std::int64_t number) {
    least = number;
    return *this;
  }
  constexpr Row& at_most(std::int64_t number) {
    most = number;
    return *this;
  }
};

// The numbers of patches in it are those of etcd's change logs; what the newest patches know is
// tried.
constexpr EtcdFlag kFlags[] = {
    Row("advertise-client-urls", kText).set_by(kAddresses),
    Row("auth-token", kText),
    Row("auth-token-ttl", kWhole, {10, 0, 0, 0}).at_least(1),
    Row("auto-compaction-mode", kChoice).one_of("periodic|revision"),
    Row("auto-compaction-retention", kRetention),
    Row("auto-tls", kBool).set_by(kSecurity),
    Row("backend-batch-interval", kDuration),
    Row("backend-batch-limit", kWhole),
    Row("backend-bbolt-freelist-type", kChoice, kSince35).one_of("array|map"),
    Row("bcrypt-cost", kWhole).at_least(4).at_most(31),
    Row("bootstrap-defrag-threshold-megabytes", kWhole, kSince36),
    Row("cert-file", kText).set_by(kSecurity),
    Row("cipher-suites", kText),
    Row("client-cert-allowed-hostname", kText).set_by(kSecurity),
    Row("client-cert-auth", kBool).set_by(kSecurity),
    Row("client-cert-file", kText, kSince35).set_by(kSecurity),
    Row("client-crl-file", kText),
    Row("client-key-file", kText, kSince35).set_by(kSecurity),
    Row("compact-hash-check-time", kDuration, kSince36),
    Row("compaction-batch-limit", kWhole, kSince36).at_least(1),
    Row("compaction-sleep-interval", kDuration, kSince36),
    Row("config-file", kText).set_by(kIdentity),
    Row("corrupt-check-time", kDuration, kSince36),
    Row("cors", kOrigins),
    Row("data-dir", kText).set_by(kIdentity),
    Row("debug", kBool, kOnly34),
    Row("discovery", kText, kUntil37).set_by(kIdentity),
    Row("discovery-cacert", kText, kSince36).set_by(kIdentity),
    Row("discovery-cert", kText, kSince36).set_by(kIdentity),
    Row("discovery-dial-timeout", kDuration, kSince36).set_by(kIdentity),
    Row("discovery-endpoints", kText, kSince36).set_by(kIdentity),
    Row("discovery-fallback", kText).set_by(kIdentity),
    Row("discovery-insecure-skip-tls-verify", kBool, kSince36).set_by(kIdentity),
    Row("discovery-insecure-transport", kBool, kSince36).set_by(kIdentity),
    Row("discovery-keepalive-time", kDuration, kSince36).set_by(kIdentity),
    Row("discovery-keepalive-timeout", kDuration, kSince36).set_by(kIdentity),
    Row("discovery-key", kText, kSince36).set_by(kIdentity),
    Row("discovery-password", kText, kSince36).set_by(kIdentity),
    Row("discovery-proxy", kText, kUntil37).set_by(kIdentity),
    Row("discovery-request-timeout", kDuration, kSince36).set_by(kIdentity),
    Row("discovery-srv", kText).set_by(kIdentity),
    Row("discovery-srv-name", kText).set_by(kIdentity),
    Row("discovery-token", kText, kSince36).set_by(kIdentity),
    Row("discovery-user", kText, kSince36).set_by(kIdentity),
    Row("distributed-tracing-address", kText, kSince36),
    Row("distributed-tracing-instance-id", kText, kSince36).set_by(kIdentity),
    Row("distributed-tracing-sampling-rate", kWhole, kSince36).at_most(1000000),
    Row("distributed-tracing-service-name", kText, kSince36),
    Row("downgrade-check-time", kDuration, kSince36),
    Row("election-timeout", kWhole).at_least(5).at_most(50000),
    Row("enable-distributed-tracing", kBool, kSince36),
    Row("enable-grpc-gateway", kBool),
    Row("enable-log-rotation", kBool, kSince35),
    Row("enable-pprof", kBool),
    Row("enable-v2", kBool, kUntil36),
    Row("experimental-backend-bbolt-freelist-type", kChoice, kOnly34)
        .now("backend-bbolt-freelist-type")
        .one_of("array|map"),
    Row("experimental-bootstrap-defrag-threshold-megabytes", kWhole, k35And36)
        .now("bootstrap-defrag-threshold-megabytes"),
    Row("experimental-compact-hash-check-enabled", kBool, {kNever, 5, 0, kNever})
        .now_gate("CompactHashCheck"),
    Row("experimental-compact-hash-check-time", kDuration, {kNever, 5, 0, kNever})
        .now("compact-hash-check-time"),
    Row("experimental-compaction-batch-limit", kWhole, kUntil37)
        .now("compaction-batch-limit")
        .at_least(1),
    Row("experimental-compaction-sleep-interval", kDuration, {kNever, 18, 0, kNever})
        .now("compaction-sleep-interval"),
    Row("experimental-corrupt-check-time", kDuration, kUntil37).now("corrupt-check-time"),
    Row("experimental-distributed-tracing-address", kText, k35And36)
        .now("distributed-tracing-address"),
    Row("experimental-distributed-tracing-instance-id", kText, k35And36)
        .set_by(kIdentity)
        .now("distributed-tracing-instance-id"),
    Row("experimental-distributed-tracing-sampling-rate", kWhole, {kNever, 11, 0, kNever})
        .now("distributed-tracing-sampling-rate")
        .at_most(1000000),
    Row("experimental-distributed-tracing-service-name", kText, k35And36)
        .now("distributed-tracing-service-name"),
    Row("experimental-downgrade-check-time", kDuration, k35And36).now("downgrade-check-time"),
    Row("experimental-enable-distributed-tracing", kBool, k35And36)
        .now("enable-distributed-tracing"),
    Row("experimental-enable-lease-checkpoint", kBool, kUntil37).now_gate("LeaseCheckpoint"),
    Row("experimental-enable-lease-checkpoint-persist", kBool, {20, 2, 0, kNever})
        .now_gate("LeaseCheckpointPersist"),
    Row("experimental-enable-v2v3", kText, kUntil36).set_by(kSafety),
    Row("experimental-initial-corrupt-check", kBool, kUntil37).now_gate("InitialCorruptCheck"),
    Row("experimental-memory-mlock", kBool, k35And36).now("memory-mlock"),
    Row("experimental-peer-skip-client-san-verification", kBool, kUntil37)
        .set_by(kSecurity)
        .now("peer-skip-client-san-verification"),
    Row("experimental-snapshot-catchup-entries", kWhole, {kNever, 14, 0, kNever})
        .now("snapshot-catchup-entries")
        .at_least(1),
    Row("experimental-stop-grpc-service-on-defrag", kBool, {kNever, 14, 0, kNever})
        .now_gate("StopGRPCServiceOnDefrag"),
    Row("experimental-txn-mode-write-with-shared-buffer", kBool, k35And36)
        .now_gate("TxnModeWriteWithSharedBuffer"),
    Row("experimental-warning-apply-duration", kDuration, {16, 0, 0, kNever})
        .now("warning-apply-duration"),
    Row("experimental-warning-unary-request-duration", kDuration, kOnly36)
        .now("warning-unary-request-duration"),
    Row("experimental-watch-progress-notify-interval", kDuration, {11, 0, 0, kNever})
        .now("watch-progress-notify-interval"),
    Row("feature-gates", kGates, kSince36),
    Row("force-new-cluster", kBool).set_by(kIdentity),
    Row("grpc-keepalive-interval", kDuration),
    Row("grpc-keepalive-min-time", kDuration),
    Row("grpc-keepalive-timeout", kDuration),
    Row("heartbeat-interval", kWhole).at_least(1).at_most(10000),
    Row("host-whitelist", kText),
    Row("initial-advertise-peer-urls", kText).set_by(kIdentity),
    Row("initial-cluster", kText).set_by(kIdentity),
    Row("initial-cluster-state", kText).set_by(kIdentity),
    Row("initial-cluster-token", kText).set_by(kIdentity),
    Row("initial-election-tick-advance", kBool),
    Row("key-file", kText).set_by(kSecurity),
    Row("listen-client-http-urls", kText, {25, 8, 0, 0}).set_by(kAddresses),
    Row("listen-client-urls", kText).set_by(kAddresses),
    Row("listen-metrics-urls", kText).set_by(kAddresses),
    Row("listen-peer-urls", kText).set_by(kAddresses),
    Row("log-format", kChoice, kSince36).one_of("json|console"),
    Row("log-level", kChoice).one_of("debug|info|warn|error|panic|fatal"),
    Row("log-output", kText, kOnly34).set_by(kLogs),
    Row("log-outputs", kText),
    Row("log-package-levels", kText, kOnly34).set_by(kLogs),
    Row("log-rotation-config-json", kText, kSince35),
    Row("logger", kText).set_by(kLogs),
    Row("max-concurrent-streams", kWhole, {20, 5, 0, 0}).at_least(16).at_most(0xffffffff),
    Row("max-learners", kWhole, kSince36).set_by(kSafety),
    Row("max-request-bytes", kWhole).at_least(1 << 10).at_most(128 << 20),
    Row("max-snapshots", kWhole).at_least(2),
    Row("max-txn-ops", kWhole).at_least(1),
    Row("max-wals", kWhole).at_least(2),
    Row("memory-mlock", kBool, kSince36),
    Row("metrics", kChoice).one_of("basic|extensive"),
    Row("name", kText).set_by(kIdentity),
    Row("peer-auto-tls", kBool).set_by(kSecurity),
    Row("peer-cert-allowed-cn", kText).set_by(kSecurity),
    Row("peer-cert-allowed-hostname", kText).set_by(kSecurity),
    Row("peer-cert-file", kText).set_by(kSecurity),
    Row("peer-client-cert-auth", kBool).set_by(kSecurity),
    Row("peer-client-cert-file", kText, kSince35).set_by(kSecurity),
    Row("peer-client-key-file", kText, kSince35).set_by(kSecurity),
    Row("peer-crl-file", kText),
    Row("peer-key-file", kText).set_by(kSecurity),
    Row("peer-skip-client-san-verification", kBool, kSince36).set_by(kSecurity),
    Row("peer-trusted-ca-file", kText).set_by(kSecurity),
    Row("pre-vote", kBool),
    Row("proxy", kText, kUntil36).set_by(kSafety),
    Row("proxy-dial-timeout", kWhole, kUntil36).set_by(kSafety),
    Row("proxy-failure-wait", kWhole, kUntil36).set_by(kSafety),
    Row("proxy-read-timeout", kWhole, kUntil36).set_by(kSafety),
    Row("proxy-refresh-interval", kWhole, kUntil36).set_by(kSafety),
    Row("proxy-write-timeout", kWhole, kUntil36).set_by(kSafety),
    Row("quota-backend-bytes", kWhole).at_least(16 << 20),
    Row("raft-read-timeout", kDuration, kSince35),
    Row("raft-write-timeout", kDuration, kSince35),
    Row("self-signed-cert-validity", kWhole, kSince35).set_by(kSecurity),
    Row("snapshot-catchup-entries", kWhole, kSince36).at_least(1),
    Row("snapshot-count", kWhole).at_least(1),
    Row("socket-reuse-address", kBool, kSince35),
    Row("socket-reuse-port", kBool, kSince35),
    Row("strict-reconfig-check", kBool).set_by(kSafety),
    Row("tls-max-version", kChoice, {25, 8, 0, 0}).one_of("TLS1.2|TLS1.3"),
    Row("tls-min-version", kChoice, {25, 8, 0, 0}).one_of("TLS1.2|TLS1.3"),
    Row("trusted-ca-file", kText).set_by(kSecurity),
    Row("unsafe-no-fsync", kBool, {10, 0, 0, 0}).set_by(kSafety),
    Row("v2-deprecation", kText, kSince35).set_by(kSafety),
    Row("wal-dir", kText).set_by(kIdentity),
    Row("warning-apply-duration", kDuration, kSince36),
    Row("warning-unary-request-duration", kDuration, kSince36),
    Row("watch-progress-notify-interval", kDuration, kSince36),
};

constexpr std::array<std::string_view, 9> kGates36{
    "AllAlpha",
    "AllBeta",
    "CompactHashCheck",
    "InitialCorruptCheck",
    "LeaseCheckpoint",
    "LeaseCheckpointPersist",
    "SetMemberLocalAddr",
    "StopGRPCServiceOnDefrag",
    "TxnModeWriteWithSharedBuffer",
};
constexpr std::array<std::string_view, 11> kGates37{
    "AllAlpha",
    "AllBeta",
    "CompactHashCheck",
    "FastLeaseKeepAlive",
    "InitialCorruptCheck",
    "LeaseCheckpoint",
    "LeaseCheckpointPersist",
    "PriorityRequest",
    "SetMemberLocalAddr",
    "StopGRPCServiceOnDefrag",
    "TxnModeWriteWithSharedBuffer",
};

}  // namespace

std::string_view reason_of(FlagOwner owner) {
  switch (owner) {
    case FlagOwner::kDeclared:
      return "";
    case FlagOwner::kIdentity:
      return "it says which member this is, and on whose data";
    case FlagOwner::kAddresses:
      return "members, clients and probes rely on the addresses";
    case FlagOwner::kSecurity:
      return "spec.tls says how connections are secured";
    case FlagOwner::kSafety:
      return "another value could lose data or quorum";
    case FlagOwner::kLogs:
      return "logs read alike in all versions";
  }
  return "";
}

bool EtcdFlag::known_to(const EtcdVersion& version) const {
  if (version.major != 3 || version.minor < kFirstMinor) return false;
  const auto minor =
      std::min<std::size_t>(static_cast<std::size_t>(version.minor - kFirstMinor), when.size() - 1);
  return when[minor] != kNever && version.patch >= when[minor];
}

std::string EtcdFlag::known_where() const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < when.size(); ++i) {
    const auto minor = kFirstMinor + static_cast<int>(i);
    if (when[i] == 0) parts.push_back(fmt::format("3.{}", minor));
    if (when[i] > 0) parts.push_back(fmt::format("3.{} from 3.{}.{} on", minor, minor, when[i]));
  }
  return join(parts, ", ");
}

std::span<const EtcdFlag> etcd_flags() { return kFlags; }

const EtcdFlag* find_flag(std::string_view name) {
  const auto* at =
      std::lower_bound(std::begin(kFlags), std::end(kFlags), name,
                       [](const EtcdFlag& flag, std::string_view key) { return flag.name < key; });
  return at != std::end(kFlags) && at->name == name ? at : nullptr;
}

std::string declared_flags_in_cel() {
  std::string out;
  for (const auto& flag : kFlags)
    if (flag.owner == FlagOwner::kDeclared)
      out += fmt::format("{}'{}'", out.empty() ? "[" : ", ", flag.name);
  return out + "]";
}

std::span<const std::string_view> feature_gates(const EtcdVersion& version) {
  if (version < EtcdVersion{3, 6, 0}) return {};
  if (version < EtcdVersion{3, 7, 0}) return kGates36;
  return kGates37;
}

}  // namespace quorate::api
