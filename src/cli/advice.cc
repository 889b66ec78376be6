#include "cli/advice.h"

#include <array>

namespace quorate::cli {
namespace {

constexpr auto kAdvice = std::to_array<Advice>({
    {"AuthorityChanged",
     "somebody exchanged the Secret with the authority; put the old one back. Members do not know "
     "another one: certificates by it would lock them out"},
    {"AuthorityLost",
     "put the Secret with the authority back from a backup of the namespace; members go on with "
     "the certificates they have until those expire"},
    {"AuthorityUnusable",
     "look at the Secret that the message names: its certificate and key must match and be valid"},
    {"CorruptAlarm",
     "stop writers that must not see wrong data, save a snapshot of each member, and find out "
     "which one differs before anything is removed"},
    {"DataLost",
     "no member has its data any more, and there is nothing to heal from: keep what is left of the "
     "volumes, delete the cluster and create it again from a backup of yours; quorate delete -n "
     "{n} "
     "{c} says what becomes of the volumes"},
    {"ErrImagePull",
     "correct spec.version or spec.image; kubectl describe pod -n {n} -l quorate.io/cluster={c} "
     "shows what the registry says"},
    {"EtcdCannotStart",
     "kubectl logs -n {n} POD -c etcd shows what etcd says; check spec.options and spec.version"},
    {"EtcdExits",
     "kubectl logs -n {n} POD -c etcd --previous shows its last words; mostly an option is wrong "
     "(spec.options). If its log lacks entries that it had acknowledged (tocommit is out of "
     "range), "
     "the volume is an older copy, and the member is replaced after two restarts"},
    {"FormationHoldsKeys",
     "somebody has written to it before it had formed; save what is needed with quorate etcdctl -n "
     "{n} {c} -- snapshot save, then delete the cluster and create it again"},
    {"FormationInDoubt",
     "look at the members' records: kubectl get etcdmembers -n {n} -l quorate.io/cluster={c} -o "
     "yaml"},
    {"HashesDiffer",
     "etcdctl endpoint hashkv --cluster shows who differs. Find out whose data is right, save a "
     "snapshot of it, and remove the others with etcdctl member remove: they are replaced. "
     "Emptying a volume alone does not end this"},
    {"IdentityInDoubt",
     "look at the members' records: kubectl get etcdmembers -n {n} -l quorate.io/cluster={c} -o "
     "yaml"},
    {"ImagePullBackOff",
     "correct spec.version or spec.image; kubectl describe pod -n {n} -l quorate.io/cluster={c} "
     "shows what the registry says"},
    {"InstallFails",
     "kubectl describe pod -n {n} POD shows why the init container does not run; often the "
     "operator's image cannot be pulled"},
    {"InvalidSpec",
     "mend the field that the message names: kubectl edit etcdcluster -n {n} {c}; until then the "
     "last valid spec stays in force"},
    {"LaunchMisconfigured", "the Pod was edited by hand; delete it and it is made as it should be"},
    {"LaunchRefused",
     "kubectl logs -n {n} POD -c etcd says what the launch guard found; it is of another version "
     "than the operator, so bring both to the same one"},
    {"LogDamaged",
     "nothing, if the others have a quorum: the member is replaced; look at the node's disk"},
    {"MemberDataLost",
     "nothing, if the others have a quorum: the member is replaced. Otherwise bring those back "
     "that still have their data: quorate status -n {n} {c}"},
    {"MemberHeld",
     "the launch guard waits to be told who the member is: see that the operator runs and may "
     "patch Pods"},
    {"MemberLost",
     "nothing, if the others have a quorum: the member is replaced; kubectl logs -n {n} POD -c "
     "etcd "
     "says what the launch guard found on its volume"},
    {"MemberStarting", "if it takes long: kubectl logs -n {n} POD -c etcd"},
    {"MemberUnsure",
     "kubectl logs -n {n} POD -c etcd says what the launch guard found on the volume"},
    {"NameTaken",
     "an object that is not ours bears a name that we need; delete or rename it, or name the "
     "cluster otherwise"},
    {"NoMembersWanted", "quorate wake -n {n} {c} --replicas 3"},
    {"NoQuorum",
     "bring the nodes or Pods of the missing members back first; nothing is removed or started "
     "anew meanwhile"},
    {"NoSuccessor",
     "bring the other voters back: quorate status -n {n} {c} shows which are not ready or lag "
     "behind; the leader stays until one of them can lead"},
    {"NodeAway",
     "bring the node back; or, if it is gone for good, kubectl delete node NODE: what is left of "
     "the member goes then"},
    {"NodeGone",
     "bring the node back before the time is up, and the member goes on with its data; or wait, "
     "and it is replaced, if the others are a quorum without it"},
    {"NotFormed",
     "if it takes long: members do not find each other. Look at DNS and at network policies for "
     "port 2380; kubectl logs -n {n} POD -c etcd"},
    {"OldObjects",
     "objects of an earlier cluster of this name are still there; delete them, or wait until they "
     "are gone"},
    {"OrdinalsUsedUp",
     "members' numbers are never used twice, and all are used: create a cluster under another "
     "name, and move the data there"},
    {"OlderData",
     "the volume of the member that the message names was exchanged for an older copy: stop its "
     "node or its Pod's container, and bring the other members back; they are a quorum without it, "
     "and replace it once its claim is deleted"},
    {"OtherOperator",
     "another operator has claimed this cluster; if that one is gone for good, clear "
     "status.operator: kubectl edit etcdcluster -n {n} {c} --subresource=status"},
    {"Paused", "quorate resume -n {n} {c}"},
    {"PausesBetween",
     "nothing: the next member follows at the deadline. If that never comes, a member keeps losing "
     "its readiness: quorate status -n {n} {c}"},
    {"PodBoundData", "the data goes with the Pod, so this waits until another member has it"},
    {"PodLeaving", "if its node is gone for good, kubectl delete node NODE: the Pod goes then"},
    {"Refused",
     "the API server's own words are in the message: often a quota, a policy or a missing right "
     "(kubectl auth can-i --as)"},
    {"StepRefused",
     "the message says who refused it, and why: often a quota, a policy, or too few healthy "
     "members. It is tried again by itself"},
    {"UnknownMember",
     "etcd lists a member that we did not add; remove it with etcdctl member remove, or tell us "
     "whose it is"},
    {"Unschedulable",
     "the scheduler's words are in the message: make room, or correct nodeSelector, tolerations, "
     "affinity or storage.claim.storageClassName"},
    {"VersionDiffers",
     "if it stays: the image is not of the version that is declared; correct spec.version or "
     "spec.image"},
    {"VolumeGrowing",
     "if it stays: does the storage class allow it (allowVolumeExpansion)? kubectl describe pvc -n "
     "{n} -l quorate.io/cluster={c}"},
    {"VolumeLeaving",
     "if it stays: something holds the claim; kubectl describe pvc -n {n} -l "
     "quorate.io/cluster={c}"},
    {"VolumeUnreadable", "kubectl describe pvc -n {n} -l quorate.io/cluster={c}"},
    {"WaitsForDeletion",
     "kubectl delete pod -n {n} POD, one after the other, each when quorate status -n {n} {c} says "
     "that all members are ready"},
    {"WindowClosed",
     "nothing: it begins when the window opens. To begin at once, change spec.update.window: "
     "kubectl edit etcdcluster -n {n} {c}"},
    {"VotersUnhealthy",
     "quorate status -n {n} {c} shows which members are not ready, and their Pods' state"},
});

}  // namespace

std::span<const Advice> all_advice() { return kAdvice; }

std::string_view advice_for(std::string_view reason) {
  for (const auto& one : kAdvice)
    if (one.reason == reason) return one.text;
  return {};
}

}  // namespace quorate::cli
