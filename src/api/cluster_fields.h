#pragma once

#include "api/cluster.h"
#include "api/describe.h"
#include "api/options.h"
#include "api/placement_fields.h"
#include "api/services_fields.h"

// EtcdCluster, field by field: the one description of it.
namespace quorate::api {

template <>
struct EnumNames<PullPolicy> {
  static constexpr std::array kNames{
      std::pair{PullPolicy::kAlways, std::string_view("Always")},
      std::pair{PullPolicy::kIfNotPresent, std::string_view("IfNotPresent")},
      std::pair{PullPolicy::kNever, std::string_view("Never")}};
};
template <>
struct EnumNames<Medium> {
  static constexpr std::array kNames{std::pair{Medium::kNode, std::string_view("Node")},
                                     std::pair{Medium::kMemory, std::string_view("Memory")}};
};
template <>
struct EnumNames<Retention> {
  static constexpr std::array kNames{std::pair{Retention::kRetain, std::string_view("Retain")},
                                     std::pair{Retention::kDelete, std::string_view("Delete")}};
};
template <>
struct EnumNames<UpdateStrategy> {
  static constexpr std::array kNames{
      std::pair{UpdateStrategy::kRolling, std::string_view("Rolling")},
      std::pair{UpdateStrategy::kOnDelete, std::string_view("OnDelete")}};
};
template <>
struct EnumNames<Weekday> {
  static constexpr std::array kNames{std::pair{Weekday::kMonday, std::string_view("Monday")},
                                     std::pair{Weekday::kTuesday, std::string_view("Tuesday")},
                                     std::pair{Weekday::kWednesday, std::string_view("Wednesday")},
                                     std::pair{Weekday::kThursday, std::string_view("Thursday")},
                                     std::pair{Weekday::kFriday, std::string_view("Friday")},
                                     std::pair{Weekday::kSaturday, std::string_view("Saturday")},
                                     std::pair{Weekday::kSunday, std::string_view("Sunday")}};
};
template <>
struct EnumNames<TimeZone> {
  static constexpr std::array kNames{std::pair{TimeZone::kUtc, std::string_view("UTC")}};
};
template <>
struct EnumNames<TlsMode> {
  static constexpr std::array kNames{std::pair{TlsMode::kManaged, std::string_view("Managed")},
                                     std::pair{TlsMode::kDisabled, std::string_view("Disabled")}};
};
template <>
struct EnumNames<ClientAuthentication> {
  static constexpr std::array kNames{
      std::pair{ClientAuthentication::kMutual, std::string_view("Mutual")},
      std::pair{ClientAuthentication::kServerOnly, std::string_view("ServerOnly")}};
};
template <>
struct EnumNames<ConditionStatus> {
  static constexpr std::array kNames{
      std::pair{ConditionStatus::kTrue, std::string_view("True")},
      std::pair{ConditionStatus::kFalse, std::string_view("False")},
      std::pair{ConditionStatus::kUnknown, std::string_view("Unknown")}};
};
template <>
struct EnumNames<MemberRole> {
  static constexpr std::array kNames{std::pair{MemberRole::kVoter, std::string_view("Voter")},
                                     std::pair{MemberRole::kLearner, std::string_view("Learner")}};
};

template <class Visitor>
void describe(Visitor& visit, const ImageSpec*) {
  visit.type("The image of the members.");
  visit.field({.name = "repository",
               .text = "Name of the image, without tag. Absent: the operator's default.",
               .rule = &kRepositoryRule},
              &ImageSpec::repository);
  visit.field(
      {.name = "tag", .text = "Tag of the image. Absent: `v` and the version.", .rule = &kTagRule},
      &ImageSpec::tag);
  visit.field({.name = "digest",
               .text = "Digest of the image; it is pulled by this digest then.",
               .rule = &kDigestRule},
              &ImageSpec::digest);
  visit.field({.name = "pullPolicy",
               .text = "When the image is pulled. Absent: as Kubernetes decides by the tag."},
              &ImageSpec::pull_policy);
  visit.field({.name = "pullSecrets",
               .text = "Names of Secrets in the same namespace that let the image be pulled.",
               .rule = &kObjectNameRule,
               .max_items = 8},
              &ImageSpec::pull_secrets);
}

inline constexpr std::array kClaimRules{
    CelRule{"has(self.storageClassName) == has(oldSelf.storageClassName) && "
            "(!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",
            "storageClassName cannot be changed: volumes do not move between classes"},
    CelRule{"quantity(string(self.size)).compareTo(quantity(string(oldSelf.size))) >= 0",
            "size cannot shrink: a volume only grows"},
    CelRule{"has(self.selector) == has(oldSelf.selector) && "
            "(!has(self.selector) || self.selector == oldSelf.selector)",
            "selector cannot be changed: claims keep the one that they were made with"}};

template <class Visitor>
void describe(Visitor& visit, const ClaimStorage*) {
  visit.type("A PersistentVolumeClaim for each member.");
  visit.field({.name = "size",
               .text = "Size of each volume. It can grow, if the storage class lets it.",
               .defaulted = true,
               .at_least = kMinStorageSize},
              &ClaimStorage::size);
  visit.field({.name = "storageClassName",
               .text = "Storage class of the volumes. Absent: the cluster's default class.",
               .rule = &kStorageClassRule},
              &ClaimStorage::storage_class_name);
  visit.field({.name = "metadata", .text = "Labels and annotations of the claims."},
              &ClaimStorage::metadata);
  visit.field({.name = "selector",
               .text = "Which volumes that exist already the claims may take, by their labels."},
              &ClaimStorage::selector);
  for (const auto& rule : kClaimRules) visit.rule(rule);
}

template <class Visitor>
void describe(Visitor& visit, const EmptyDirStorage*) {
  visit.type("Storage that lives and dies with the Pod.");
  visit.field({.name = "medium",
               .text = "Where the data is: on the node's disk, or in memory.",
               .defaulted = true},
              &EmptyDirStorage::medium);
  visit.field({.name = "sizeLimit",
               .text = "The most that a member may store before it is evicted.",
               .at_least = kMinStorageSize},
              &EmptyDirStorage::size_limit);
  visit.rule({"self == oldSelf", "emptyDir cannot be changed: its data would be lost"});
}

template <class Visitor>
void describe(Visitor& visit, const RetentionSpec*) {
  visit.type("What happens to volumes that are no longer needed.");
  visit.field(
      {.name = "whenDeleted",
       .text = "What happens to the volumes when the EtcdCluster is deleted. A change holds "
               "from when `status.observedGeneration` has reached it.",
       .defaulted = true},
      &RetentionSpec::when_deleted);
  visit.field({.name = "whenScaled",
               .text = "What happens to the volume of a member that was removed because fewer are "
                       "wanted, or replaced because it could not come back.",
               .defaulted = true},
              &RetentionSpec::when_scaled);
}

inline constexpr std::array kStorageRules{
    CelRule{"has(self.claim) != has(self.emptyDir)",
            "exactly one of claim and emptyDir must be given"},
    CelRule{"has(self.claim) == has(oldSelf.claim)",
            "the kind of storage cannot be changed: data does not move by itself"}};

template <class Visitor>
void describe(Visitor& visit, const StorageSpec*) {
  visit.type("Where members keep their data: exactly one of `claim` and `emptyDir`.");
  visit.field({.name = "claim", .text = "A PersistentVolumeClaim for each member."},
              &StorageSpec::claim);
  visit.field({.name = "emptyDir",
               .text = "Storage that lives and dies with the Pod: a member that loses its Pod has "
                       "lost its data."},
              &StorageSpec::empty_dir);
  visit.field({.name = "retention",
               .text = "What happens to volumes that are no longer needed.",
               .defaulted = true},
              &StorageSpec::retention);
  for (const auto& rule : kStorageRules) visit.rule(rule);
}

template <class Visitor>
void describe(Visitor& visit, const ResourceRequests*) {
  visit.type("What each member is sure to get.");
  visit.field({.name = "cpu", .text = "In cores: 2, 500m.", .defaulted = true, .positive = true},
              &ResourceRequests::cpu);
  visit.field(
      {.name = "memory", .text = "In bytes: 512Mi, 2Gi.", .defaulted = true, .positive = true},
      &ResourceRequests::memory);
}

template <class Visitor>
void describe(Visitor& visit, const ResourceLimits*) {
  visit.type("What each member gets at most.");
  visit.field({.name = "cpu", .text = "In cores. Absent: no limit.", .positive = true},
              &ResourceLimits::cpu);
  visit.field({.name = "memory", .text = "In bytes. Absent: no limit.", .positive = true},
              &ResourceLimits::memory);
}

template <class Visitor>
void describe(Visitor& visit, const ResourcesSpec*) {
  visit.type("CPU and memory of each member.");
  visit.field({.name = "requests", .text = "What each member is sure to get.", .defaulted = true},
              &ResourcesSpec::requests);
  visit.field(
      {.name = "limits", .text = "What each member gets at most: not less than its request."},
      &ResourcesSpec::limits);
}

template <class Visitor>
void describe(Visitor& visit, const TlsSide*) {
  visit.type("How one kind of connection is secured.");
  visit.field({.name = "mode",
               .text = "`Managed`: mutual TLS with an authority of this cluster alone, made and "
                       "renewed by the operator. `Disabled`: plain text.",
               .defaulted = true},
              &TlsSide::mode);
  visit.rule({"self.mode == oldSelf.mode", "mode cannot be changed yet"});
}

inline constexpr std::array kClientTlsRules{
    CelRule{"self.mode == oldSelf.mode", "mode cannot be changed yet"},
    CelRule{"self.authentication == oldSelf.authentication",
            "authentication cannot be changed yet"},
    CelRule{"self.mode != 'Disabled' || self.authentication == 'Mutual'",
            "authentication must not be ServerOnly if mode is Disabled: nobody is authenticated"}};

template <class Visitor>
void describe(Visitor& visit, const ClientTls*) {
  visit.type("How connections of clients are secured.");
  visit.field(
      {.name = "mode",
       .text = "`Managed`: TLS with an authority of this cluster alone, made and renewed by "
               "the operator. `Disabled`: plain text.",
       .defaulted = true},
      &ClientTls::mode);
  visit.field({.name = "authentication",
               .text = "`Mutual`: clients show a certificate of the authority, as in the Secret "
                       "for clients. `ServerOnly`: members alone do, and whoever reaches them can "
                       "read, write and remove members.",
               .defaulted = true},
              &ClientTls::authentication);
  for (const auto& rule : kClientTlsRules) visit.rule(rule);
}

template <class Visitor>
void describe(Visitor& visit, const TlsSpec*) {
  visit.type("How connections are secured. Both kinds are, unless told otherwise.");
  visit.field({.name = "peer", .text = "Between members.", .defaulted = true}, &TlsSpec::peer);
  visit.field({.name = "client",
               .text = "Between clients and members. Whoever reaches a plain client port can read, "
                       "write and remove members.",
               .defaulted = true},
              &TlsSpec::client);
}

template <class Visitor>
void describe(Visitor& visit, const DisruptionBudgetSpec*) {
  visit.type("The PodDisruptionBudget of the voting members.");
  visit.field({.name = "enabled",
               .text = "Whether there is one. It keeps drains of nodes from stopping more members "
                       "than the quorum can do without.",
               .defaulted = true},
              &DisruptionBudgetSpec::enabled);
}

template <class Visitor>
void describe(Visitor& visit, const PodTemplate*) {
  visit.type("What is merged over the Pods of members.");
  visit.field({.name = "metadata", .text = "Labels and annotations of the Pods."},
              &PodTemplate::metadata);
  visit.field(
      {.name = "spec",
       .text = "Merged over the Pod as by kubectl patch (strategic merge): more containers, "
               "init containers, volumes; env and volumeMounts of the container `etcd`; "
               "dnsConfig, dnsPolicy, hostAliases, preemptionPolicy, runtimeClassName, "
               "schedulerName, securityContext, serviceAccountName, "
               "terminationGracePeriodSeconds. It cannot change what etcd is started with, "
               "where its data is and where it is reached, nor give the Pod more rights. "
               "What a field of EtcdCluster says is said there."},
      &PodTemplate::spec);
}

template <class Visitor>
void describe(Visitor& visit, const RecoverySpec*) {
  visit.type("What is done when members do not come back.");
  visit.field({.name = "replaceAfter",
               .text = "How long a member may be kept from running by a node that is gone before "
                       "another takes its place. One whose data is lost is replaced at once.",
               .defaulted = true},
              &RecoverySpec::replace_after);
}

template <class Visitor>
void describe(Visitor& visit, const UpdateWindow*) {
  visit.type("When a roll may begin with another member.");
  visit.field({.name = "days",
               .text = "On which days of the week it opens. Absent or empty: on every day.",
               .max_items = 7},
              &UpdateWindow::days);
  visit.field({.name = "start",
               .text = "The time of day at which it opens, as in 22:00.",
               .required = true,
               .rule = &kTimeOfDayRule},
              &UpdateWindow::start);
  visit.field({.name = "duration",
               .text = "How long it stays open, past midnight if need be.",
               .required = true,
               .shortest = kShortestWindow,
               .longest = kLongestWindow},
              &UpdateWindow::duration);
  visit.field({.name = "timeZone",
               .text = "Whose days and times these are. UTC alone, for now: it has no summer time, "
                       "so the window does not move, vanish or come twice.",
               .defaulted = true},
              &UpdateWindow::time_zone);
}

inline constexpr std::array kUpdateRules{
    CelRule{"self.strategy != 'OnDelete' || !has(self.window)",
            "window must not be given if strategy is OnDelete: nothing begins by itself"},
    CelRule{"self.strategy != 'OnDelete' || duration(self.pauseBetween) == duration('0s')",
            "pauseBetween must be 0s if strategy is OnDelete: nothing begins by itself"}};

template <class Visitor>
void describe(Visitor& visit, const UpdateSpec*) {
  visit.type(
      "When members that run are restarted because something else is declared for them. Who does "
      "not run is not held back by any of it, nor is what keeps certificates from running out.");
  visit.field({.name = "strategy",
               .text = "`Rolling`: one member after the other, by itself. `OnDelete`: each member "
                       "takes what is declared when its Pod is deleted by somebody, or does not "
                       "get to run as it is.",
               .defaulted = true},
              &UpdateSpec::strategy);
  visit.field({.name = "pauseBetween",
               .text = "How long every other member must have been ready before the next one is "
                       "restarted.",
               .defaulted = true,
               .longest = kLongestPause},
              &UpdateSpec::pause_between);
  visit.field({.name = "window",
               .text = "When a roll may begin with another member; the one at hand is finished "
                       "whenever that is. Absent: at any time."},
              &UpdateSpec::window);
  for (const auto& rule : kUpdateRules) visit.rule(rule);
}

template <class Visitor>
void describe(Visitor& visit, const ClusterSpec*) {
  visit.type("What is wanted.");
  visit.field({.name = "replicas",
               .text = "How many members. Odd numbers are best: an even one tolerates no more "
                       "failures than the odd one below it. Members are added as learners and "
                       "removed one at a time; before the cluster has formed, a change waits "
                       "until it has. 0 stops all members and keeps their volumes and identity: "
                       "any other number wakes the same members again.",
               .defaulted = true,
               .minimum = 0,
               .maximum = kMaxReplicas},
              &ClusterSpec::replicas);
  visit.field({.name = "version",
               .text = "Version of etcd, 3.4 to 3.7, as in 3.6.16. Absent: the operator's default "
                       "when the cluster is created; it stays at that. Once the cluster has "
                       "formed, members are rolled from one patch version of a minor release to "
                       "another; other changes are refused for now."},
              &ClusterSpec::version);
  visit.field({.name = "image", .text = "The image of the members. A change rolls them."},
              &ClusterSpec::image);
  visit.field({.name = "storage", .text = "Where members keep their data.", .defaulted = true},
              &ClusterSpec::storage);
  visit.field({.name = "options",
               .text = "Flags of etcd by name, without dashes. Those that Quorate sets itself are "
                       "refused; each is checked against the version that runs, and given to it "
                       "under the name that it knows (`experimental-corrupt-check-time` or "
                       "`corrupt-check-time`).",
               .rule = &kOptionValueRule,
               .max_items = kMaxOptions},
              &ClusterSpec::options);
  visit.field({.name = "resources",
               .text = "CPU and memory of each member. A change rolls them.",
               .defaulted = true},
              &ClusterSpec::resources);
  visit.flat(&ClusterSpec::placement);
  visit.field({.name = "podTemplate", .text = "What is merged over the Pods of members."},
              &ClusterSpec::pod_template);
  visit.field({.name = "services", .text = "How the Services differ from the usual."},
              &ClusterSpec::services);
  visit.field({.name = "disruptionBudget",
               .text = "The PodDisruptionBudget of the voting members.",
               .defaulted = true},
              &ClusterSpec::disruption_budget);
  visit.field({.name = "additionalMetadata",
               .text = "Labels and annotations on everything that is made for the cluster."},
              &ClusterSpec::additional_metadata);
  visit.field({.name = "tls", .text = "How connections are secured.", .defaulted = true},
              &ClusterSpec::tls);
  visit.field({.name = "update",
               .text = "When members that run are restarted because something else is declared.",
               .defaulted = true},
              &ClusterSpec::update);
  visit.field({.name = "recovery",
               .text = "What is done when members do not come back.",
               .defaulted = true},
              &ClusterSpec::recovery);
  visit.field({.name = "progressDeadline",
               .text = "How long something may be waited for before the cluster counts as "
                       "degraded.",
               .defaulted = true},
              &ClusterSpec::progress_deadline);
  visit.field({.name = "paused",
               .text = "The operator observes and reports, and does nothing.",
               .defaulted = true},
              &ClusterSpec::paused);
  for (const auto& rule : option_rules()) visit.rule(rule);
}

template <class Visitor>
void describe(Visitor& visit, const Condition*) {
  visit.type("One aspect of the cluster's state.");
  visit.field({.name = "type",
               .text = "Ready, Available, Progressing, Degraded, Frozen, CertificatesValid.",
               .required = true},
              &Condition::type);
  visit.field({.name = "status", .text = "Whether it holds.", .required = true},
              &Condition::status);
  visit.field({.name = "reason", .text = "Why, in one word.", .required = true},
              &Condition::reason);
  visit.field({.name = "message", .text = "Why, in a sentence.", .required = true},
              &Condition::message);
  visit.field({.name = "observedGeneration", .text = "The generation that was looked at."},
              &Condition::observed_generation);
  visit.field(
      {.name = "lastTransitionTime", .text = "When the status last changed.", .required = true},
      &Condition::last_transition_time);
}

template <class Visitor>
void describe(Visitor& visit, const WaitingEntry*) {
  visit.type("A rule that acts, waits, or may not act.");
  visit.field({.name = "rule", .text = "Which rule.", .required = true}, &WaitingEntry::rule);
  visit.field({.name = "verdict", .text = "waiting, blocked or acts.", .required = true},
              &WaitingEntry::verdict);
  visit.field({.name = "reason", .text = "Why, in one word.", .required = true},
              &WaitingEntry::reason);
  visit.field({.name = "message", .text = "Why, in a sentence.", .required = true},
              &WaitingEntry::message);
  visit.field({.name = "since", .text = "Since when.", .required = true}, &WaitingEntry::since);
  visit.field({.name = "deadline", .text = "When it counts as late."}, &WaitingEntry::deadline);
}

template <class Visitor>
void describe(Visitor& visit, const ClusterMemberStatus*) {
  visit.type("One member, as it was seen.");
  visit.field({.name = "name", .text = "Its name: that of its Pod and record.", .required = true},
              &ClusterMemberStatus::name);
  visit.field({.name = "id", .text = "Its ID in etcd, once it is known."},
              &ClusterMemberStatus::id);
  visit.field({.name = "role", .text = "Whether it votes.", .required = true},
              &ClusterMemberStatus::role);
  visit.field({.name = "ready", .text = "It is verified and serves.", .required = true},
              &ClusterMemberStatus::ready);
  visit.field({.name = "version", .text = "The version that it runs."},
              &ClusterMemberStatus::version);
}

template <class Visitor>
void describe(Visitor& visit, const IntentStatus*) {
  visit.type("A disruptive step, written down before it is taken.");
  visit.field({.name = "epoch", .text = "Lease epoch of the operator.", .required = true},
              &IntentStatus::epoch);
  visit.field({.name = "step", .text = "The step.", .required = true}, &IntentStatus::step);
  visit.field({.name = "targets", .text = "What it touches.", .max_items = 64},
              &IntentStatus::targets);
  visit.field({.name = "since", .text = "When it was written.", .required = true},
              &IntentStatus::since);
}

template <class Visitor>
void describe(Visitor& visit, const VersionStatus*) {
  visit.type("Versions of etcd.");
  visit.field({.name = "current", .text = "The lowest that a member runs."},
              &VersionStatus::current);
  visit.field({.name = "target", .text = "The one that all shall run."}, &VersionStatus::target);
}

template <class Visitor>
void describe(Visitor& visit, const StorageStatus*) {
  visit.type("What the members store.");
  visit.field({.name = "dbSize",
               .text = "The size of the largest member's database when status was last written, in "
                       "few digits. A change alone is not written, unless it doubled or halved "
                       "above 16Mi."},
              &StorageStatus::db_size);
}

template <class Visitor>
void describe(Visitor& visit, const ClusterStatus*) {
  visit.type("What was verified. All of it can be rebuilt.");
  visit.field(
      {.name = "observedGeneration", .text = "The newest generation that is wholly in place."},
      &ClusterStatus::observed_generation);
  visit.field({.name = "phase", .text = "What is going on, in a sentence."}, &ClusterStatus::phase);
  visit.field({.name = "ready", .text = "Ready members of all, as in 2/3."}, &ClusterStatus::ready);
  visit.field({.name = "conditions",
               .text = "Ready, Available, Progressing, Degraded, Frozen, CertificatesValid.",
               .max_items = 16,
               .list_key = "type"},
              &ClusterStatus::conditions);
  visit.field({.name = "replicas", .text = "Members that there are."}, &ClusterStatus::replicas);
  visit.field({.name = "readyReplicas", .text = "Members that are ready."},
              &ClusterStatus::ready_replicas);
  visit.field({.name = "selector", .text = "Selects the members' Pods."}, &ClusterStatus::selector);
  visit.field({.name = "members", .text = "Every member.", .max_items = 64, .list_key = "name"},
              &ClusterStatus::members);
  visit.field({.name = "leader", .text = "The member that leads."}, &ClusterStatus::leader);
  visit.field({.name = "version", .text = "Versions of etcd."}, &ClusterStatus::version);
  visit.field({.name = "storage", .text = "What the members store."}, &ClusterStatus::storage);
  visit.field({.name = "clusterID", .text = "etcd's ID of the cluster, once it has formed."},
              &ClusterStatus::cluster_id);
  visit.field({.name = "formation",
               .text = "The number of the attempt to form the cluster: 1, and one more for each "
                       "that was given up before it formed."},
              &ClusterStatus::formation);
  visit.field({.name = "waiting",
               .text = "Every rule that acts, waits, or may not act: why something is not done.",
               .max_items = 64},
              &ClusterStatus::waiting);
  visit.field({.name = "intent", .text = "The disruptive step under way."}, &ClusterStatus::intent);
  visit.field(
      {.name = "target", .text = "The last valid spec that was taken up, with its defaults."},
      &ClusterStatus::target);
  visit.field({.name = "operator", .text = "The identity of the operator that it belongs to."},
              &ClusterStatus::operator_identity);
}

}  // namespace quorate::api
