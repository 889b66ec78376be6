#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/cluster.h"
#include "api/identity.h"
#include "api/member.h"
#include "base/ids.h"
#include "plan/observation.h"
#include "plan/permit.h"

// What the executor may be told to do: data, no behaviour. Objects are described, not rendered;
// src/operator builds the JSON.
namespace quorate::plan {

// ---- Harmless steps: they create what is missing or write down what is known ----

// A Service or the disruption budget as it is described, `quorate.io/rendered` included: made by
// POST, or patched by UID.
struct ApplyShared {
  Shared which{};
  int min_available = 0;  // of the budget
  std::string rendered;
  api::ServicesSpec services = {};
  bool open = true;  // the client Service leads to members; else it is there, and leads nowhere
  friend bool operator==(const ApplyShared&, const ApplyShared&) = default;
};

// Deletes the disruption budget that nobody wants any more.
struct RemoveBudget {
  Uid uid;
  friend bool operator==(const RemoveBudget&, const RemoveBudget&) = default;
};

// The labels and annotations at people's wish, on an object that is there.
enum class Marked { kRecord, kClaim, kPod, kSecret };
struct SetMetadata {
  Marked kind{};
  std::string name;
  Uid uid;
  std::string before;  // what was added earlier: api::added_text
  api::MetadataSpec metadata;
  friend bool operator==(const SetMetadata&, const SetMetadata&) = default;
};

// POST of a CA Secret with a new key. Never applied again: a lost CA is not made anew by itself.
struct CreateAuthority {
  Shared which{};
  std::string rendered;
  friend bool operator==(const CreateAuthority&, const CreateAuthority&) = default;
};

// A leaf certificate in a Secret: made by POST, or renewed in place (by UID) if it exists.
struct IssueLeaf {
  Shared which{};
  Shared authority{};
  std::vector<std::string> names;  // SANs; IP addresses among them
  std::optional<Uid> renews;
  std::string rendered;
  friend bool operator==(const IssueLeaf&, const IssueLeaf&) = default;
};

// A second authority beside the one in this Secret: trusted from now on, and issuing nothing yet.
struct IntroduceAuthority {
  Shared which{};
  Uid secret;
  friend bool operator==(const IntroduceAuthority&, const IntroduceAuthority&) = default;
};

// POST of an EtcdMember.
struct CreateRecord {
  std::string name;
  api::MemberSpec spec;
  friend bool operator==(const CreateRecord&, const CreateRecord&) = default;
};

// POST of a claim, with identity labels and annotations.
struct CreateClaim {
  std::string name;
  api::Identity identity;
  api::ClaimStorage storage;
  bool owned = false;  // by the EtcdCluster: whenDeleted is Delete
  friend bool operator==(const CreateClaim&, const CreateClaim&) = default;
};

// The volume of a member is there: its Pod may exist from now on. Patches the record's spec (run,
// volumeUID) by UID.
struct AllowRun {
  std::string record;
  Uid record_uid;
  std::optional<Uid> volume_uid;
  friend bool operator==(const AllowRun&, const AllowRun&) = default;
};

// Everything a Pod is rendered from. `state` reaches the guard as annotations and may be patched
// later; the rest is fixed for the life of the Pod and is what `rendered` is the fingerprint of.
struct PodState {
  bool formation_open = false;
  bool held = false;  // nothing may start with an empty log yet, wherever it would join
  std::optional<std::string> initial_cluster;  // absent: what the Pod was told stays
  api::Identity identity;
  friend bool operator==(const PodState&, const PodState&) = default;
};
struct PodShape {
  std::string name;  // also host name and etcd's --name
  std::string peer_url;
  std::string token;
  int incarnation = 1;
  std::string image;
  std::optional<api::PullPolicy> pull_policy;
  std::vector<std::string> pull_secrets;
  std::string launch_image;
  api::EtcdVersion version;
  std::vector<std::string> etcd_arguments;  // but those that the guard adds
  std::string readiness_path;
  api::ResourcesSpec resources;
  api::TextTable options;  // as declared; they are among the arguments
  api::PlacementSpec placement;
  api::PodTemplate pod_template;     // of its metadata only restartedAt shapes a Pod
  std::optional<std::string> claim;  // by name; absent: emptyDir
  std::optional<api::EmptyDirStorage> empty_dir;
  bool peer_tls = true;
  bool client_tls = true;
  std::string trust;  // fingerprint of the authorities that are mounted; empty: not known, or none
  friend bool operator==(const PodShape&, const PodShape&) = default;
};
struct CreatePod {
  PodShape shape;
  PodState state;
  bool voter = true;
  bool first_pod = false;
  std::string rendered;
  friend bool operator==(const CreatePod&, const CreatePod&) = default;
};

// The Pod that was made, held, in an earlier stage of this very pass may start: its annotations, by
// the UID under which it was made. A Pod that was there before is opened by UpdatePodState, when it
// was looked at.
struct OpenNewPod {
  std::string pod;
  PodState state;
  friend bool operator==(const OpenNewPod&, const OpenNewPod&) = default;
};

// What is known of the member's identity, on its record (spec) or on its claim (annotations).
struct NoteOnRecord {
  std::string record;
  Uid record_uid;
  api::Identity identity;
  friend bool operator==(const NoteOnRecord&, const NoteOnRecord&) = default;
};
// The version of the Pod that is made next for a member, on its record.
struct NoteVersion {
  std::string record;
  Uid record_uid;
  api::EtcdVersion version;
  friend bool operator==(const NoteVersion&, const NoteVersion&) = default;
};
// Whether it has a vote, as etcd says, on its record.
struct NoteRole {
  std::string record;
  Uid record_uid;
  api::MemberRole role{};
  friend bool operator==(const NoteRole&, const NoteRole&) = default;
};
// An ordinal of which nothing else will be left, on the record of another member.
struct NoteLastOrdinal {
  std::string record;
  Uid record_uid;
  Ordinal ordinal;
  friend bool operator==(const NoteLastOrdinal&, const NoteLastOrdinal&) = default;
};
struct NoteOnClaim {
  std::string claim;
  Uid claim_uid;
  api::Identity identity;
  friend bool operator==(const NoteOnClaim&, const NoteOnClaim&) = default;
};
// The annotations that the guard reads at the next start of the container.
struct UpdatePodState {
  std::string pod;
  Uid pod_uid;
  PodState state;
  bool serves = false;  // and, in the same write, the label that the client Service selects
  friend bool operator==(const UpdatePodState&, const UpdatePodState&) = default;
};

// The label that the client Service selects.
struct SetServing {
  std::string pod;
  Uid pod_uid;
  bool serving = false;
  friend bool operator==(const SetServing&, const SetServing&) = default;
};

// The label that the disruption budget selects.
struct SetVoter {
  std::string pod;
  Uid pod_uid;
  bool voter = false;
  friend bool operator==(const SetVoter&, const SetVoter&) = default;
};

// Whether a claim goes with the EtcdCluster: by its owner reference.
struct OwnClaim {
  std::string claim;
  Uid claim_uid;
  bool owned = false;
  friend bool operator==(const OwnClaim&, const OwnClaim&) = default;
};

// A larger request for a claim.
struct GrowClaim {
  std::string claim;
  Uid claim_uid;
  api::Quantity size;
  friend bool operator==(const GrowClaim&, const GrowClaim&) = default;
};

// The member through which etcd is told something: a voter that answered just now.
struct Contact {
  std::string pod;
  Uid pod_uid;
  ClusterId cluster;
  MemberId member;
  friend bool operator==(const Contact&, const Contact&) = default;
};

// Proposes something to etcd that changes nothing, so that its members get one more entry.
struct Nudge {
  Contact via;
  friend bool operator==(const Nudge&, const Nudge&) = default;
};

// Deletes a Pod in which nothing runs any more (Failed or Succeeded), so that its member can come
// back on its own volume.
struct RemoveFinishedPod {
  std::string pod;
  Uid pod_uid;
  friend bool operator==(const RemoveFinishedPod&, const RemoveFinishedPod&) = default;
};

// ---- Disruptive steps: at most one a pass, each with its permit ----
//
// What a decision was made from may be old. Before a disruptive step the executor observes the
// cluster once more, past all caches, decides again, and takes the step only if the same one comes
// out (steps are comparable); what it harms, it harms by UID and by the version that it then saw.

// An object by name and by the UID that must still be its.
struct Victim {
  std::string name;
  Uid uid;
  friend bool operator==(const Victim&, const Victim&) = default;
};

// Marks the records of a formation as abandoned. From then on it can only be discarded.
struct AbandonFormation {
  Permit permit;
  std::vector<Victim> records;
  friend bool operator==(const AbandonFormation&, const AbandonFormation&) = default;
};

// Deletes Pods, then claims, then records of an abandoned formation, in this order.
struct DiscardFormation {
  Permit permit;
  std::vector<Victim> pods;
  std::vector<Victim> claims;
  std::vector<Victim> records;
  friend bool operator==(const DiscardFormation&, const DiscardFormation&) = default;
};

// Deletes a Pod of an unformed cluster, so that `ensure` makes it as it is declared now.
struct ReplaceUnformedPod {
  Permit permit;
  Victim pod;
  friend bool operator==(const ReplaceUnformedPod&, const ReplaceUnformedPod&) = default;
};

// Clears `run` on the records: no Pod is made for them any more.
struct StopMembers {
  Permit permit;
  std::vector<Victim> records;
  friend bool operator==(const StopMembers&, const StopMembers&) = default;
};
// Deletes the Pods of members that may not run; their volumes stay.
struct StopPods {
  Permit permit;
  std::vector<Victim> pods;
  friend bool operator==(const StopPods&, const StopPods&) = default;
};

// Deletes the Pod of a member of a formed cluster; `ensure` makes it as it is declared now, on the
// same volume.
struct RestartMember {
  Permit permit;
  Victim pod;
  friend bool operator==(const RestartMember&, const RestartMember&) = default;
};
// Gives the Pod another image: the kubelet restarts etcd in it, and everything else stays.
struct ReimageMember {
  Permit permit;
  Victim pod;
  std::string image;
  std::string rendered;
  int restarts = 0;  // of its container until now
  friend bool operator==(const ReimageMember&, const ReimageMember&) = default;
};

// The second authority takes the place of the first, which stays trusted; what it issues is made
// anew by `ensure`. The executor shakes hands with every Pod before: each must let in who shows a
// certificate of the second.
struct SwitchAuthority {
  Permit permit;
  Shared which{};
  Uid secret;
  std::vector<Victim> pods;
  friend bool operator==(const SwitchAuthority&, const SwitchAuthority&) = default;
};
// The first authority is trusted no more. The executor shakes hands with every Pod before: each
// must show a certificate of the second.
struct RetireAuthority {
  Permit permit;
  Shared which{};
  Uid secret;
  std::vector<Victim> pods;
  friend bool operator==(const RetireAuthority&, const RetireAuthority&) = default;
};

// Changes of membership. An answer that is lost means nothing: the list is read again.
struct AddLearner {
  Permit permit;
  std::string name;
  std::string peer_url;
  Contact via;
  friend bool operator==(const AddLearner&, const AddLearner&) = default;
};
struct PromoteLearner {
  Permit permit;
  std::string name;
  MemberId id;
  Contact via;
  friend bool operator==(const PromoteLearner&, const PromoteLearner&) = default;
};
struct MoveLeader {
  Permit permit;
  std::string to;
  MemberId to_id;
  Contact via;  // the leader
  friend bool operator==(const MoveLeader&, const MoveLeader&) = default;
};
struct RemoveMember {
  Permit permit;
  std::string name;
  MemberId id;
  Contact via;
  friend bool operator==(const RemoveMember&, const RemoveMember&) = default;
};

// Deletes what is named of a member that was removed.
struct DiscardMember {
  Permit permit;
  std::string name;
  std::vector<Victim> pods;
  std::vector<Victim> claims;
  std::vector<Victim> records;
  friend bool operator==(const DiscardMember&, const DiscardMember&) = default;
};

using Step =
    std::variant<ApplyShared, RemoveBudget, SetMetadata, CreateAuthority, IssueLeaf,
                 IntroduceAuthority, CreateRecord, CreateClaim, AllowRun, CreatePod, OpenNewPod,
                 NoteOnRecord, NoteVersion, NoteRole, NoteLastOrdinal, NoteOnClaim, UpdatePodState,
                 SetServing, SetVoter, OwnClaim, GrowClaim, Nudge, RemoveFinishedPod,
                 AbandonFormation, DiscardFormation, ReplaceUnformedPod, StopMembers, StopPods,
                 RestartMember, ReimageMember, SwitchAuthority, RetireAuthority, AddLearner,
                 PromoteLearner, MoveLeader, RemoveMember, DiscardMember>;

// What a step disrupts; nothing for a harmless one. Its permit must be for that.
[[nodiscard]] std::optional<Disruption> disruption_of(const Step& step);
// The permit of a disruptive step, nullptr for a harmless one.
[[nodiscard]] const Permit* permit_of(const Step& step);
// For people: "create Pod c-0", "abandon formation 1".
[[nodiscard]] std::string describe(const Step& step, std::string_view cluster);
// The name of the member that a step is about; empty if it is about several, or about none.
[[nodiscard]] std::string member_of(const Step& step, std::string_view cluster);

}  // namespace quorate::plan
