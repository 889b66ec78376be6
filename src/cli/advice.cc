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
    {"EtcdCannotStart",
     "kubectl logs -n {n} POD -c etcd shows what etcd says; check spec.options and spec.version"},
    {"EtcdExits", "kubectl logs -n {n} POD -c etcd --previous shows its last words"},
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
    {"InstallFails",
     "kubectl describe pod -n {n} POD shows why the init container does not run; often the "
     "operator's image cannot be pulled"},
    {"InvalidSpec",
     "mend the field that the message names: kubectl edit etcdcluster -n {n} {c}; until then the "
     "last valid spec stays in force"},
    {"LaunchMisconfigured", "the Pod was edited by hand; delete it and it is made as it should be"},
    {"LogDamaged",
     "nothing, if the others have a quorum: the member is replaced; look at the node's disk"},
    {"MemberUnsure",
     "kubectl logs -n {n} POD -c etcd says what the launch guard found on the volume"},
    {"NameTaken",
     "an object that is not ours bears a name that we need; delete or rename it, or name the "
     "cluster otherwise"},
    {"NoQuorum",
     "bring the nodes or Pods of the missing members back first; nothing is removed or started "
     "anew meanwhile"},
    {"NodeAway",
     "bring the node back; or, if it is gone for good, kubectl delete node NODE: what is left of "
     "the member goes then"},
    {"NodeGone",
     "bring the node back before the time is up, and the member goes on with its data; or wait, "
     "and it is replaced"},
    {"OldObjects",
     "objects of an earlier cluster of this name are still there; delete them, or wait until they "
     "are gone"},
    {"OtherOperator",
     "another operator has claimed this cluster; if that one is gone for good, clear "
     "status.operator: kubectl edit etcdcluster -n {n} {c} --subresource=status"},
    {"Paused", "quorate resume -n {n} {c}"},
    {"PodBoundData", "the data goes with the Pod, so this waits until another member has it"},
    {"UnknownMember",
     "etcd lists a member that we did not add; remove it with etcdctl member remove, or tell us "
     "whose it is"},
    {"VolumeUnreadable", "kubectl describe pvc -n {n} -l quorate.io/cluster={c}"},
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
