"""Where data is kept: claims that grow, volumes that move, storage that goes with the Pod."""
import pytest

from e2elib.acts import assert_members_agree, follower, is_replaced, member_ids, pod_uids
from e2elib.etcd import Etcd
from e2elib.waiting import Stopwatch, eventually
from e2elib.writer import Writer


@pytest.mark.kube_only
def test_declared_growth_reaches_the_file_systems_without_a_restart(cluster, rig):
    cluster.create(replicas=3, storage={"claim": {"size": "384Mi"}}).wait_until_settled(3)
    uids, claims = pod_uids(cluster), sorted(cluster.claims)
    before = {claim: int(rig("volume", "size", f"{cluster.namespace}/{claim}")) for claim in claims}
    with Writer(cluster) as writer:
        cluster.patch(storage={"claim": {"size": "640Mi"}})

        def grown():
            sizes = {claim: int(rig("volume", "size", f"{cluster.namespace}/{claim}")) for claim in claims}
            return all(sizes[claim] > before[claim] + 200 * 2**20 for claim in claims) and cluster.is_settled(3)[0], f"{sizes}; {cluster.describe()}"
        with Stopwatch("three mounted volumes grown"):
            eventually("all three file systems have grown", grown, 240)
    writer.check(at_least=50)
    assert pod_uids(cluster) == uids


def test_size_cannot_shrink(cluster):
    cluster.create(replicas=1, storage={"claim": {"size": "512Mi"}}).wait_until_settled(1)
    done = cluster.kube.kubectl("-n", cluster.namespace, "patch", "etcd", "c", "--type=merge", "-p", '{"spec":{"storage":{"claim":{"size":"384Mi"}}}}',
                                check=False)
    assert done.returncode != 0 and "shrink" in done.stderr


@pytest.mark.parametrize("medium", ["Node", "Memory"])
def test_member_without_a_volume_that_loses_its_pod_is_replaced(cluster, medium):
    cluster.create(replicas=3, storage={"emptyDir": {"medium": medium}}).wait_until_settled(3)
    assert not cluster.claims
    victim, before = follower(cluster), member_ids(cluster)
    with Writer(cluster) as writer:
        with Stopwatch(f"Pod with its data lost ({medium}) to another member in its place"):
            cluster.kube.core.delete_namespaced_pod(victim, cluster.namespace)
            eventually(f"{victim} is replaced", lambda: is_replaced(cluster, victim, before[victim]), 180)
    writer.check(at_least=50)
    assert_members_agree(cluster)


def test_hibernation_is_refused_where_data_goes_with_the_pod(cluster):
    cluster.create(replicas=1, storage={"emptyDir": {}}).wait_until_settled(1)
    done = cluster.kube.kubectl("-n", cluster.namespace, "scale", "etcd", "c", "--replicas=0", check=False)
    if done.returncode == 0:  # the scale subresource knows nothing of storage; then the operator refuses
        eventually("status says why", lambda: ("emptyDir" in str(cluster.status.get("conditions")), cluster.describe), 30)
    assert list(cluster.pods) == ["c-0"]
    assert Etcd.through_service(cluster).read_prefix("/") == {}


@pytest.mark.kube_only
@pytest.mark.node_fault
def test_volume_that_can_move_follows_its_member_from_a_lost_node(cluster, rig):
    """The node is off and marked out of service, as its people do it: the same member goes on elsewhere, on the same data."""
    cluster.create(replicas=3, storage={"claim": {"storageClassName": "movable"}}, recovery={"replaceAfter": "1h"}).wait_until_settled(3)
    victim, before = follower(cluster), member_ids(cluster)
    node = cluster.node_of(victim)

    def runs_elsewhere():
        pod = cluster.pods.get(victim)
        return pod is not None and pod.spec.node_name not in (None, node) and cluster.is_settled(3)[0], cluster.describe
    with Writer(cluster) as writer:
        with Stopwatch("node lost to its member ready on another node"):
            rig("power-cut", node)
            eventually("Kubernetes has seen it", lambda: (cluster.kube.nodes_ready()[node] != "True", cluster.kube.nodes_ready()), 60)
            cluster.kube.kubectl("taint", "node", node, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")
            try:
                eventually(f"{victim} runs elsewhere", runs_elsewhere, 240)
            finally:
                cluster.kube.kubectl("taint", "node", node, "node.kubernetes.io/out-of-service-")
    writer.check(at_least=100)
    assert member_ids(cluster) == before
    assert_members_agree(cluster)


def test_all_pods_that_hold_the_data_lost_at_once_is_told_and_nothing_formed_anew(cluster):
    cluster.create(replicas=3, storage={"emptyDir": {}}).wait_until_settled(3)
    Etcd.through_service(cluster).put("/k", "v")
    cluster_id = cluster.status["clusterID"]
    for name in cluster.pods:
        cluster.kube.core.delete_namespaced_pod(name, cluster.namespace, grace_period_seconds=0)

    def told():
        frozen = cluster.condition("Frozen") or {}
        return frozen.get("status") == "True" and frozen["reason"] == "DataLost" and cluster_id in frozen["message"], cluster.describe
    eventually("it is frozen, and says that the data is lost", told, 120)
    assert cluster.status["clusterID"] == cluster_id, "nobody made an empty cluster of it"


def test_five_shrink_to_one_and_volumes_stay_where_that_is_declared(cluster):
    cluster.create(replicas=5, storage={"claim": {}, "retention": {"whenScaled": "Retain"}}).wait_until_settled(5)
    claims = {name: claim.metadata.uid for name, claim in cluster.claims.items()}
    with Writer(cluster) as writer:
        cluster.patch(replicas=1)
        cluster.wait_until_settled(1, 240)
    writer.check(at_least=50)
    assert len(claims) == 5 and {name: claim.metadata.uid for name, claim in cluster.claims.items()} == claims
    known, learners = Etcd.through_service(cluster).members()
    assert sorted(known) == sorted(cluster.pods) and not learners
