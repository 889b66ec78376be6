"""What is lost, and how it comes back: data, claims, nodes, the operator."""
import concurrent.futures

import pytest

from e2elib.etcd import Etcd, Unavailable
from e2elib.waiting import Stopwatch, eventually
from e2elib.writer import Writer

pytestmark = pytest.mark.node_fault


def ids(cluster):
    return Etcd.through_service(cluster).members()[0]


def follower(cluster):
    return next(name for name in sorted(cluster.pods) if name != cluster.leader)


def restart_etcd(rig, cluster, pod):
    """Kills etcd in place: kubelet starts the container again, in the same Pod."""
    node, container = cluster.node_of(pod), cluster.pods[pod].status.container_statuses[0].container_id.removeprefix("containerd://")
    rig("kill-container", node, container)


def is_replaced(cluster, old_name, old_id):
    try:
        known, learners = Etcd(cluster).members()
    except (Unavailable, AssertionError) as problem:
        return False, str(problem)
    held = old_name not in known and old_id not in known.values() and not learners and len(known) == 3
    return held and cluster.is_settled(3)[0], f"{known}, {cluster.describe()}"


def test_wiped_volume_is_noticed_and_the_member_replaced(cluster, rig):
    cluster.create(replicas=3).wait_until_settled(3)
    victim, before = follower(cluster), ids(cluster)
    with Writer(cluster) as writer:
        with Stopwatch("volume wiped to another member in its place"):
            rig("volume", "wipe", f"{cluster.namespace}/data-{victim}")
            restart_etcd(rig, cluster, victim)
            eventually(f"{victim} is replaced", lambda: is_replaced(cluster, victim, before[victim]), 120)
    writer.check(at_least=50)
    assert cluster.status["clusterID"] and len(set(Etcd.through_service(cluster).hashes(cluster.pods).values())) == 1


def test_deleted_claim_and_pod_are_replaced(cluster):
    cluster.create(replicas=3).wait_until_settled(3)
    victim, before = follower(cluster), ids(cluster)
    with Writer(cluster) as writer:
        with Stopwatch("Pod and claim deleted to another member in its place"):
            cluster.kube.core.delete_namespaced_persistent_volume_claim(f"data-{victim}", cluster.namespace)
            cluster.kube.core.delete_namespaced_pod(victim, cluster.namespace)
            eventually(f"{victim} is replaced", lambda: is_replaced(cluster, victim, before[victim]), 120)
    writer.check(at_least=50)


def test_power_cut_of_a_node_that_returns(cluster, rig):
    cluster.create(replicas=3).wait_until_settled(3)
    victim, before = follower(cluster), ids(cluster)
    node = cluster.node_of(victim)
    with Writer(cluster) as writer:
        rig("power-cut", node)
        eventually("Kubernetes has seen it", lambda: (cluster.kube.nodes_ready()[node] != "True", cluster.kube.nodes_ready()), 60)
        eventually("the cluster says so", lambda: (cluster.condition("Ready")["status"] != "True", cluster.describe()), 60)
        with Stopwatch("node back to member ready on its volume"):
            rig("reboot", node)
            cluster.wait_until_settled(3, 180)
    writer.check(at_least=100)
    assert ids(cluster) == before


def test_node_that_stays_away_is_replaced_after_its_time(cluster, rig):
    cluster.create(replicas=3, recovery={"replaceAfter": "20s"}).wait_until_settled(3)
    victim, before = follower(cluster), ids(cluster)
    with Writer(cluster) as writer:
        with Stopwatch("node lost to another member in its place (replaceAfter 20s)"):
            rig("power-cut", cluster.node_of(victim))
            eventually(f"{victim} is replaced", lambda: is_replaced(cluster, victim, before[victim]), 240)
    writer.check(at_least=100)


def test_power_cut_of_all_nodes(cluster, rig):
    cluster.create(replicas=3).wait_until_settled(3)
    Etcd.through_service(cluster).put("/k", "before")
    before = ids(cluster)
    nodes = sorted(cluster.kube.nodes_ready())
    rig("power-cut", *nodes)
    with Stopwatch("all nodes back to three ready"):
        rig("reboot", *nodes)
        cluster.wait_until_settled(3, 240)
    assert ids(cluster) == before
    assert Etcd.through_service(cluster).read_prefix("/k") == {"/k": "before"}


def test_partition_makes_no_second_cluster(cluster, rig):
    cluster.create(replicas=3).wait_until_settled(3)
    victim, before = cluster.leader, ids(cluster)
    node = cluster.node_of(victim)
    with Writer(cluster) as writer:
        rig("partition", node)
        eventually("another leads", lambda: (cluster.leader not in (None, victim), cluster.describe()), 60)
        rig("heal", node)
        cluster.wait_until_settled(3, 120)
    writer.check(at_least=50)
    assert ids(cluster) == before
    assert len(set(Etcd.through_service(cluster).hashes(before).values())) == 1


def test_drains_one_by_one_while_the_budget_holds(cluster, rig):
    cluster.create(replicas=3, storage={"claim": {"storageClassName": "movable"}}).wait_until_settled(3)
    before = ids(cluster)
    with Writer(cluster) as writer:
        for node in sorted(cluster.kube.nodes_ready()):
            rig("drain", node, "--timeout", "120")
            rig("uncordon", node)
            cluster.wait_until_settled(3, 180)
    writer.check(at_least=100)
    assert ids(cluster) == before


def test_killed_operator_is_followed_by_the_other(cluster):
    cluster.create(replicas=3).wait_until_settled(3)
    cluster.patch(replicas=5)
    eventually("it is under way", lambda: (len(cluster.records) > 3, cluster.describe()), 60)
    for pod in cluster.kube.core.list_namespaced_pod("quorate-system").items:
        cluster.kube.core.delete_namespaced_pod(pod.metadata.name, "quorate-system", grace_period_seconds=0)
    cluster.wait_until_settled(5, 240)
    cluster.kube.wait_for_operator()
    known, learners = Etcd.through_service(cluster).members()
    assert len(known) == 5 and not learners


def test_quiet_cluster_with_a_long_log_grows(cluster):
    cluster.create(replicas=1).wait_until_settled(1)

    def fill(prefix):
        etcd = Etcd.through_service(cluster)
        for number in range(900):
            etcd.put(f"/fill/{prefix}/{number}", "x")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(fill, range(8)))
    cluster.patch(replicas=3)
    cluster.wait_until_settled(3, 90)


def test_rolled_back_volume_is_noticed(cluster, rig):
    """A volume that was put back to an older copy of itself may hold votes that were never cast: such a member must not run on."""
    cluster.create(replicas=3).wait_until_settled(3)
    victim = follower(cluster)
    claim = f"{cluster.namespace}/data-{victim}"
    rig("volume", "save", claim, "old")
    with Writer(cluster) as writer:
        eventually("much is written since", lambda: (len(writer.acknowledged) > 200, len(writer.acknowledged)), 60)
        rig("volume", "rollback", claim, "old")
        restart_etcd(rig, cluster, victim)
        eventually("it is settled again", lambda: cluster.is_settled(3), 180)
    writer.check(at_least=200)
    assert len(set(Etcd.through_service(cluster).hashes(cluster.pods).values())) == 1
