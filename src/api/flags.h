#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/version.h"

// The command-line flags of etcd 3.4 to 3.7: what tests/integration/options_flags_test.cc finds in
// the real programs.
namespace quorate::api {

enum class FlagKind {
  kText,
  kBool,
  kWhole,      // a whole number, within `least` and `most`
  kDuration,   // as Go writes them: 100ms, 1h30m
  kChoice,     // one of `choices`
  kRetention,  // of auto-compaction: a duration, hours, or revisions
  kGates,      // Name=true,Name=false
  kOrigins,    // * or URLs
};

// Who sets it.
enum class FlagOwner {
  kDeclared,   // whoever declares the cluster
  kIdentity,   // Quorate: whose data a member runs on, and which member it is
  kAddresses,  // Quorate: where members are found
  kSecurity,   // Quorate, by spec.tls
  kSafety,     // Quorate: another value could lose data or quorum
  kLogs,       // Quorate: so that logs read alike in all versions
};
// Completes "is set by Quorate: ...".
[[nodiscard]] std::string_view reason_of(FlagOwner owner);

struct EtcdFlag {
  static constexpr int kNever = -1;
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  std::string_view name;  // without dashes
  FlagKind kind{};
  std::array<int, 4> when{};  // the first patch of 3.4, 3.5, 3.6 and 3.7 that has it
  FlagOwner owner = FlagOwner::kDeclared;
  std::string_view becomes{};  // its name in later releases
  std::string_view gate{};     // the feature gate that it is in later releases
  std::string_view choices{};  // joined by |
  std::int64_t least = 0;
  std::int64_t most = kNoLimit;

  [[nodiscard]] bool known_to(const EtcdVersion& version) const;
  // The releases that have it, for people: "3.4.20, 3.5.5 and later".
  [[nodiscard]] std::string known_where() const;
};

[[nodiscard]] std::span<const EtcdFlag> etcd_flags();  // by name
[[nodiscard]] const EtcdFlag* find_flag(std::string_view name);
// The names of those that may be declared, as a list in CEL.
[[nodiscard]] std::string declared_flags_in_cel();

// The feature gates of a release.
[[nodiscard]] std::span<const std::string_view> feature_gates(const EtcdVersion& version);

}  // namespace quorate::api
