#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/cluster.h"
#include "api/identity.h"
#include "api/member.h"
#include "base/ids.h"
#include "base/time.h"

// Facts about one cluster, gathered before anything is decided. Nothing here is a conclusion: what
// is not known is absent, and absent never means "no".
namespace quorate::plan {

struct Now {
  Monotonic monotonic;  // for the age of answers
  WallTime wall;        // for what status and certificates say
};

// Who looks, and what it was told on its command line.
struct OperatorFacts {
  std::string identity;    // clusters are claimed under it
  std::int64_t epoch = 0;  // of the lease that it holds
  api::EtcdVersion default_version;
  std::string default_repository;
  std::string launch_image;         // that holds quorate-launch
  std::string cluster_domain = {};  // of Services' full names; empty: certificates do without
  // How old an answer may be to count as what is: longer than from one question to the next.
  Duration answers_good_for = std::chrono::seconds(60);
  // How often members are asked for hashes of their data; each costs a walk through its database.
  Duration hash_every = std::chrono::hours(1);
};

// The EtcdCluster.
struct ClusterFacts {
  ClusterKey key;
  Uid uid;
  ResourceVersion resource_version;
  std::int64_t generation = 0;
  bool deleting = false;
  std::optional<api::ClusterSpec> declared;  // absent if it could not be decoded
  std::string undecodable;                   // why not
  std::optional<api::ClusterStatus> status;  // as read; absent if it has none
};

// An EtcdMember that bears this cluster's name.
struct RecordFacts {
  std::string name;
  Uid uid;
  ResourceVersion resource_version;
  std::optional<Uid> controller;  // the UID of the controlling owner
  bool deleting = false;
  WallTime created;
  api::MemberSpec spec;
  api::MemberStatus status;
  std::string added;  // annotation: labels and annotations at people's wish (api/metadata.h)
};

enum class ClaimPhase { kPending, kBound, kLost };

// A claim that bears this cluster's name.
struct ClaimFacts {
  std::string name;
  Ordinal ordinal;  // by its name
  Uid uid;
  ResourceVersion resource_version;
  std::vector<Uid> owners;
  bool deleting = false;
  std::optional<api::Identity> identity;  // absent if it carries none that is whole
  ClaimPhase phase = ClaimPhase::kPending;
  std::optional<api::Quantity> requested;
  std::optional<api::Quantity> capacity;
  std::string added;  // annotation
};

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

struct Terminated {
  int exit_code = 0;
  std::string reason;   // OOMKilled, Error, ...
  std::string message;  // the termination message
};

struct ContainerFacts {
  // Exactly one of these three, or none if the kubelet has said nothing yet.
  std::optional<std::string> waiting;  // reason: ImagePullBackOff, CrashLoopBackOff, ...
  bool running = false;
  std::optional<Terminated> terminated;

  std::string waiting_message;
  std::optional<Terminated> last;  // how the run before this one ended
  int restarts = 0;

  // Whether the kubelet says that a run of it ever began.
  bool ever_ran() const { return running || terminated || last || restarts > 0; }
};

// A Pod that bears this cluster's name and the component label of a member.
struct PodFacts {
  std::string name;
  Ordinal ordinal;  // by its name
  Uid uid;
  ResourceVersion resource_version;
  std::optional<Uid> controller;
  bool deleting = false;
  // deletionTimestamp: by when it was to have ended.
  std::optional<WallTime> deleting_since;
  std::optional<api::Identity> identity;
  bool first_pod = false;  // annotation: made for a volume that had never been in a Pod
  bool formation_open = false;
  bool held = false;            // annotation: etcd is not started yet
  std::string initial_cluster;  // annotation: its fingerprint (pods.h)
  std::string rendered;         // annotation: fingerprint of its description
  std::string added;            // annotation
  // Annotation: how often its container had restarted when its image was changed in place.
  std::optional<std::int64_t> reimaged_at;
  bool voter = false;  // labels
  bool serving = false;

  PodPhase phase = PodPhase::kPending;
  bool ready = false;
  std::optional<WallTime> ready_since;  // of one that is ready
  // When Kubernetes gave up hearing from its node, if the Pod ran well until then.
  std::optional<WallTime> node_silent_since;
  std::string unschedulable;  // the scheduler's message, if it found no node
  std::optional<WallTime> unschedulable_since;
  std::string node;
  std::string ip;
  ContainerFacts install;  // the init container
  ContainerFacts etcd;

  // The kubelet has not said yet that etcd ran in it, and it may: the kubelet tells with a delay.
  bool may_just_have_started() const { return !held && !deleting && !etcd.ever_ran(); }
};

// What all members of a cluster share, each under one name.
enum class Shared {
  kPeerService,
  kClientService,
  kDisruptionBudget,
  kPeerCa,
  kClientCa,
  kPeerTls,
  kServerTls,
  kClientTls,
  kOperatorTls,
};
inline constexpr std::array kAllShared{
    Shared::kPeerService, Shared::kClientService, Shared::kDisruptionBudget,
    Shared::kPeerCa,      Shared::kClientCa,      Shared::kPeerTls,
    Shared::kServerTls,   Shared::kClientTls,     Shared::kOperatorTls,
};
[[nodiscard]] std::string_view kind_of(Shared shared);  // Service, PodDisruptionBudget, Secret
[[nodiscard]] std::string name_of(Shared shared, std::string_view cluster);

struct CertificateFacts {
  WallTime not_before;
  WallTime not_after;
  std::string authority;  // key identifier: its own for an authority, its issuer's for a leaf
};

// An object that stands under the name of a Shared, whoever made it.
struct SharedFacts {
  Shared which{};
  Uid uid;
  ResourceVersion resource_version;
  std::optional<Uid> controller;
  std::optional<Uid> cluster_uid;  // label
  bool deleting = false;
  std::string rendered;                         // annotation: fingerprint of its description
  std::string added;                            // annotation
  bool drifted = false;                         // an owned field is no longer as we rendered it
  std::optional<CertificateFacts> certificate;  // of TLS Secrets that hold a usable one
  // Key identifiers of the authorities in its bundle, sorted: whom those trust who mount it.
  std::vector<std::string> trusts;
  std::optional<CertificateFacts> next;  // of an authority: the one that is to take its place
};

// One entry of etcd's member list.
struct ListedMember {
  MemberId id;
  std::string name;
  std::vector<std::string> peer_urls;
  bool learner = false;
  bool started = false;  // it published client URLs (E22)
  friend bool operator==(const ListedMember&, const ListedMember&) = default;
};

// What the Pod of one member answered on its client port. No entry = not asked, or no answer ever.
struct MemberAnswer {
  Ordinal ordinal;
  Uid pod;             // that was asked: the answer speaks for this Pod alone
  Monotonic asked_at;  // when the question was sent

  bool answered = false;
  std::string error;  // why not
  // Since when every question to this Pod was answered, or none; absent: not known.
  std::optional<Monotonic> alike_since;

  // From Status: its own word.
  ClusterId cluster_id;
  MemberId member_id;
  std::optional<MemberId> leader;  // whom it follows
  std::string version;
  bool learner = false;
  RaftIndex applied;
  RaftTerm term;
  Revision revision;              // of its data
  Bytes db_size;                  // the file
  Bytes db_in_use;                // what defragmentation would leave
  std::optional<Bytes> db_quota;  // from 3.6 on
  bool corrupt = false;           // it knows of an alarm that data is corrupt, its own or another's

  // From linearizable reads through this member; absent if not asked or not answered. They prove a
  // quorum. `applied` was asked for after them.
  std::optional<std::vector<ListedMember>> members;
  std::optional<std::int64_t> keys;
};

// The highest entry that a member ever said it had applied, in whichever Pod it was.
struct AppliedFacts {
  Ordinal ordinal;
  ClusterId cluster_id;  // as whom it said so
  MemberId member_id;
  RaftIndex applied;
};

// What one member said of all its data up to a revision.
struct MemberHash {
  Ordinal ordinal;
  MemberId member;
  api::EtcdVersion version;
  Revision compacted;  // how much of its history it had thrown away
  std::uint32_t hash = 0;
};

// What members said when they were asked together, at one revision that all of them had.
struct HashRound {
  Monotonic asked_at;
  Revision revision;
  std::vector<MemberHash> hashes;  // of those that answered
};

// A write of ours that was refused or failed, the last time it was tried.
struct Refusal {
  std::string object;  // Pod c-0
  std::string operation;
  std::string message;
  bool transient = false;  // worth trying again by itself: not a refusal on the merits
  WallTime since;
  // When etcd last refused it, if it is a disruptive step: it is not tried again at once.
  std::optional<Monotonic> refused_at = std::nullopt;
  Duration refused_for{};  // by then, since it was first refused
};

struct Observation {
  Now now;
  Monotonic began;  // of this attempt: answers asked later than this are live
  OperatorFacts op;
  ClusterFacts cluster;
  std::vector<RecordFacts> records;
  std::vector<ClaimFacts> claims;
  std::vector<PodFacts> pods;
  std::vector<SharedFacts> shared;
  std::vector<MemberAnswer> answers;   // at most one a member: the newest
  std::vector<AppliedFacts> applied;   // at most one a member
  std::vector<HashRound> hash_rounds;  // the last two, the newest last
  Monotonic known_since{};             // when this operator first looked at the cluster
  // Since when the intent that stands in status is known to us, or, if it is our own, when its call
  // last began or ended; absent: not known.
  std::optional<Monotonic> intent_since;
  std::optional<Monotonic> nudged_at;  // when something was last proposed to etcd (nudge.cc)
  // Addresses that the EndpointSlices of the client Service hold; absent = not looked at.
  std::optional<std::vector<std::string>> endpoints;
  std::vector<Refusal> refusals;
  // When the server last said that nothing is made in this namespace any more: it is going away.
  std::optional<Monotonic> namespace_going_at;
  // Objects of this cluster that are there and could not be read, each with the reason: what they
  // would have said is not known.
  std::vector<std::string> unreadable;
  // Names that we wanted to create and that something without our labels holds: "Pod c-0".
  std::vector<std::string> taken_names;
};

}  // namespace quorate::plan
