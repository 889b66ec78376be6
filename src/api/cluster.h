#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/names.h"
#include "api/placement.h"
#include "api/pod_template.h"
#include "api/services.h"
#include "api/span.h"
#include "api/text_table.h"
#include "api/version.h"
#include "base/ids.h"
#include "base/time.h"
#include "json/quantity.h"

// EtcdCluster: what a person declares, and what the operator says of it. The fields are described
// once, in cluster_fields.h: decoding, the CRD and docs/reference.md come from there.
namespace quorate::api {

using json::Quantity;

enum class PullPolicy { kAlways, kIfNotPresent, kNever };

struct ImageSpec {
  std::optional<std::string> repository;  // absent: the operator's default
  std::optional<std::string> tag;         // absent: v<version>
  std::optional<std::string> digest;      // sha256:..., wins over the tag
  std::optional<PullPolicy> pull_policy;
  std::vector<std::string> pull_secrets;
  friend bool operator==(const ImageSpec&, const ImageSpec&) = default;
};

struct ClaimStorage {
  Quantity size = Quantity::of(kDefaultStorageSize);
  std::optional<std::string> storage_class_name;  // absent: the cluster's default class
  MetadataSpec metadata = {};
  std::optional<LabelSelector> selector = {};  // of volumes that exist already
  friend bool operator==(const ClaimStorage&, const ClaimStorage&) = default;
};

enum class Medium { kNode, kMemory };

struct EmptyDirStorage {
  Medium medium = Medium::kNode;
  std::optional<Quantity> size_limit;
  friend bool operator==(const EmptyDirStorage&, const EmptyDirStorage&) = default;
};

enum class Retention { kRetain, kDelete };

struct RetentionSpec {
  Retention when_deleted = Retention::kRetain;
  Retention when_scaled = Retention::kDelete;
  friend bool operator==(const RetentionSpec&, const RetentionSpec&) = default;
};

// Exactly one of claim and emptyDir.
struct StorageSpec {
  std::optional<ClaimStorage> claim;
  std::optional<EmptyDirStorage> empty_dir;
  RetentionSpec retention;
  friend bool operator==(const StorageSpec&, const StorageSpec&) = default;
};

// Every member has requests: by each of its defaults, whatever else is said. So a limit means the
// same whether it is declared at once or added later.
struct ResourceRequests {
  Quantity cpu = Quantity::of_millis(kDefaultCpuMillis);
  Quantity memory = Quantity::of(kDefaultMemory);
  friend bool operator==(const ResourceRequests&, const ResourceRequests&) = default;
};

struct ResourceLimits {
  std::optional<Quantity> cpu;  // absent: none
  std::optional<Quantity> memory;
  friend bool operator==(const ResourceLimits&, const ResourceLimits&) = default;
};

struct ResourcesSpec {
  ResourceRequests requests;
  ResourceLimits limits;
  friend bool operator==(const ResourcesSpec&, const ResourcesSpec&) = default;
};

// How many members may be down at once when people or nodes ask for it.
struct DisruptionBudgetSpec {
  bool enabled = true;
  friend bool operator==(const DisruptionBudgetSpec&, const DisruptionBudgetSpec&) = default;
};

// What is done when members do not come back.
struct RecoverySpec {
  Span replace_after = kDefaultReplaceAfter;
  friend bool operator==(const RecoverySpec&, const RecoverySpec&) = default;
};

// When members that are not as declared are restarted (or, where their data goes with their Pods,
// replaced): one after the other by themselves, or each when its Pod is deleted.
enum class UpdateStrategy { kRolling, kOnDelete };

enum class Weekday { kMonday, kTuesday, kWednesday, kThursday, kFriday, kSaturday, kSunday };

enum class TimeZone { kUtc };

// When rolls may begin with another member (window.h).
struct UpdateWindow {
  std::vector<Weekday> days;  // on which it opens; empty: every day
  std::string start;          // 22:00
  Span duration{};
  TimeZone time_zone = TimeZone::kUtc;
  friend bool operator==(const UpdateWindow&, const UpdateWindow&) = default;
};

struct UpdateSpec {
  UpdateStrategy strategy = UpdateStrategy::kRolling;
  Span pause_between{0};
  std::optional<UpdateWindow> window;  // absent: always
  friend bool operator==(const UpdateSpec&, const UpdateSpec&) = default;
};

enum class TlsMode { kManaged, kDisabled };

struct TlsSide {
  TlsMode mode = TlsMode::kManaged;
  bool on() const { return mode != TlsMode::kDisabled; }
  friend bool operator==(const TlsSide&, const TlsSide&) = default;
};

enum class ClientAuthentication { kMutual, kServerOnly };

struct ClientTls {
  TlsMode mode = TlsMode::kManaged;
  ClientAuthentication authentication = ClientAuthentication::kMutual;
  bool on() const { return mode != TlsMode::kDisabled; }
  bool mutual() const { return on() && authentication == ClientAuthentication::kMutual; }
  friend bool operator==(const ClientTls&, const ClientTls&) = default;
};

struct TlsSpec {
  TlsSide peer;
  ClientTls client;
  friend bool operator==(const TlsSpec&, const TlsSpec&) = default;
};

// A value-initialized spec is what is meant when nothing is said.
struct ClusterSpec {
  int replicas = kDefaultReplicas;
  std::optional<EtcdVersion> version;  // absent: the operator's default, pinned at creation
  ImageSpec image;
  StorageSpec storage = {ClaimStorage{}, std::nullopt, {}};
  TextTable options;  // flags of etcd
  ResourcesSpec resources;
  PlacementSpec placement;
  PodTemplate pod_template;
  ServicesSpec services;
  DisruptionBudgetSpec disruption_budget;
  MetadataSpec additional_metadata;
  TlsSpec tls;
  UpdateSpec update;
  RecoverySpec recovery;
  Span progress_deadline = kDefaultProgressDeadline;
  bool paused = false;
  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;
};

enum class ConditionStatus { kTrue, kFalse, kUnknown };

struct Condition {
  std::string type;
  ConditionStatus status = ConditionStatus::kUnknown;
  std::string reason;  // CamelCase
  std::string message;
  std::int64_t observed_generation = 0;
  WallTime last_transition_time;
  friend bool operator==(const Condition&, const Condition&) = default;
};

// A verdict that is not `not needed`: all that `quorate why` needs.
struct WaitingEntry {
  std::string rule;
  std::string verdict;  // waiting, blocked, acts
  std::string reason;   // CamelCase
  std::string message;
  WallTime since;
  std::optional<WallTime> deadline;
  friend bool operator==(const WaitingEntry&, const WaitingEntry&) = default;
};

enum class MemberRole { kVoter, kLearner };

struct ClusterMemberStatus {
  std::string name;
  std::optional<MemberId> id;
  MemberRole role = MemberRole::kVoter;
  bool ready = false;
  std::optional<std::string> version;  // that it runs
  friend bool operator==(const ClusterMemberStatus&, const ClusterMemberStatus&) = default;
};

// The disruptive step under way: written before the step, under the status' resourceVersion.
struct IntentStatus {
  std::int64_t epoch = 0;  // of the operator's lease
  std::string step;
  std::vector<std::string> targets;
  WallTime since;
  friend bool operator==(const IntentStatus&, const IntentStatus&) = default;
};

struct VersionStatus {
  std::optional<EtcdVersion> current;  // the lowest that a member runs
  std::optional<EtcdVersion> target;
  friend bool operator==(const VersionStatus&, const VersionStatus&) = default;
};

// What the members store.
struct StorageStatus {
  std::optional<std::string> db_size;  // the largest database, as a quantity in few digits
  friend bool operator==(const StorageStatus&, const StorageStatus&) = default;
};

struct ClusterStatus {
  std::int64_t observed_generation = 0;  // the newest generation that is wholly in place
  std::string phase;                     // a plain sentence
  std::string ready;                     // 2/3
  std::vector<Condition> conditions;
  int replicas = 0;
  int ready_replicas = 0;
  std::string selector;
  std::vector<ClusterMemberStatus> members;
  std::optional<std::string> leader;
  VersionStatus version;
  StorageStatus storage;
  std::optional<ClusterId> cluster_id;
  std::optional<int> formation;  // the number of the formation under way, or of the one that stands
  std::vector<WaitingEntry> waiting;
  std::optional<IntentStatus> intent;
  std::optional<ClusterSpec> target;  // the last valid spec that was taken up, defaults filled in
  std::string operator_identity;      // whose cluster it is
  friend bool operator==(const ClusterStatus&, const ClusterStatus&) = default;

  const Condition* find_condition(std::string_view type) const;
};

// Types of conditions.
inline constexpr std::string_view kConditionReady = "Ready";
inline constexpr std::string_view kConditionAvailable = "Available";
inline constexpr std::string_view kConditionProgressing = "Progressing";
inline constexpr std::string_view kConditionDegraded = "Degraded";
inline constexpr std::string_view kConditionFrozen = "Frozen";
inline constexpr std::string_view kConditionCertificates = "CertificatesValid";

}  // namespace quorate::api
