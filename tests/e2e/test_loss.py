"""What is lost, and how it comes back: data, claims, nodes, the operator."""
import concurrent.futures

import pytest

from e2elib.acts import assert_members_agree, follower, is_replaced, member_ids, restart_etcd, restarts
from e2elib.etcd import Etcd
from e2elib.operators import kill_operators
from e2elib.waiting import Stopwatch, eventually
from e2elib.writer import Writer


@pytest.mark.quick
@pytest.mark.node_fault
def test_wiped_volume_is_noticed_and_the_member_replaced(cluster, rig):
    cluster.create(replicas=3).wait_until_settled(3)
    victim, before = follower(cluster), member_ids(cluster)
    with Writer(cluster) as writer:
        with Stopwatch("volume wiped to another member in its place"):
            rig("volume", "wipe", f"{cluster.namespace}/data-{victim}")
            restart_etcd(rig, cluster, victim)
            eventually(f"{victim} is replaced", lambda: is_replaced(cluster, victim, before[victim]), 120)
    writer.check(at_least=50)
    assert_members_agree(cluster)


def test_deleted_claim_and_pod_are_replaced(cluster):
    cluster.create(replicas=3).wait_until_settled(3)
    victim, before = follower(cluster), member_ids(cluster)
    with Writer(cluster) as writer:
        with Stopwatch("Pod and claim deleted to another member in its place"):
            cluster.kube.core.delete_namespaced_persistent_volume_claim(f"data-{victim}", cluster.namespace)
            cluster.kube.core.delete_namespaced_pod(victim, cluster.namespace)
            eventually(f"{victim} is replaced", lambda: is_replaced(cluster, victim, before[victim]), 120)
    writer.check(at_least=50)


@pytest.mark.quick
@pytest.mark.node_fault
def test_power_cut_of_a_node_that_returns(cluster, rig):
    cluster.create(replicas=3).wait_until_settled(3)
    victim, before = follower(cluster), member_ids(cluster)
    node = cluster.node_of(victim)
    with Writer(cluster) as writer:
        rig("power-cut", node)
        eventually("Kubernetes has seen it", lambda: (cluster.kube.nodes_ready()[node] != "True", cluster.kube.nodes_ready()), 60)
        eventually("the cluster says so", lambda: (cluster.condition("Ready")["status"] != "True", cluster.describe), 60)
        with Stopwatch("node back to member ready on its volume"):
            rig("reboot", node)
            cluster.wait_until_settled(3, 180)
    writer.check(at_least=100)
    assert member_ids(cluster) == before


@pytest.mark.node_fault
def test_node_that_stays_away_is_replaced_after_its_time(cluster, rig):
    cluster.create(replicas=3, recovery={"replaceAfter": "20s"}).wait_until_settled(3)
    victim, before = follower(cluster), member_ids(cluster)
    node = cluster.node_of(victim)
    with Writer(cluster) as writer:
        with Stopwatch("node lost to another member in its place (replaceAfter 20s)"):
            rig("power-cut", node)
            eventually(f"{victim} is replaced", lambda: is_replaced(cluster, victim, before[victim], away=True), 300)
        after = member_ids(cluster)
        rig("reboot", node)
        cluster.wait_until_settled(3, 180)  # what was left of it is gone
    writer.check(at_least=100)
    assert member_ids(cluster) == after and victim not in cluster.pods, "the node that returned brought nobody back"
    assert_members_agree(cluster)


@pytest.mark.node_fault
def test_power_cut_of_all_nodes(cluster, rig):
    cluster.create(replicas=3).wait_until_settled(3)
    Etcd.through_service(cluster).put("/k", "before")
    before, counts = member_ids(cluster), restarts(cluster)
    nodes = sorted(cluster.kube.nodes_ready())
    rig("power-cut", *nodes)
    with Stopwatch("all nodes back to three ready"):
        rig("reboot", *nodes)
        eventually("every container was started again", lambda: (all(now > counts[name] for name, now in restarts(cluster).items()), cluster.describe), 240)
        cluster.wait_until_settled(3, 240)
    assert member_ids(cluster) == before
    assert Etcd.through_service(cluster).read_prefix("/k") == {"/k": "before"}


@pytest.mark.node_fault
def test_partition_makes_no_second_cluster(cluster, rig):
    cluster.create(replicas=3).wait_until_settled(3)
    victim, before = cluster.leader, member_ids(cluster)
    node = cluster.node_of(victim)
    with Writer(cluster) as writer:
        rig("partition", node)
        eventually("another leads", lambda: (cluster.leader not in (None, victim), cluster.describe), 60)
        rig("heal", node)
        cluster.wait_until_settled(3, 120)
    writer.check(at_least=50)
    assert member_ids(cluster) == before
    assert_members_agree(cluster)


@pytest.mark.node_fault
def test_partition_that_lasts_costs_one_replacement_and_no_more(cluster, rig):
    """The member behind it runs on, alone; another takes its place, and when the node is heard again nothing of the old one comes back."""
    cluster.create(replicas=3, recovery={"replaceAfter": "20s"}).wait_until_settled(3)
    victim, before = follower(cluster), member_ids(cluster)
    node = cluster.node_of(victim)
    with Writer(cluster) as writer:
        rig("partition", node)
        with Stopwatch("node cut off to another member in its place (replaceAfter 20s)"):
            eventually(f"{victim} is replaced", lambda: is_replaced(cluster, victim, before[victim], away=True), 300)
        after = member_ids(cluster)
        rig("heal", node)
        cluster.wait_until_settled(3, 180)
    writer.check(at_least=100)
    assert member_ids(cluster) == after and len(after.keys() - before.keys()) == 1, f"{before}, then {after}"
    assert victim not in cluster.pods
    assert_members_agree(cluster)


@pytest.mark.node_fault
@pytest.mark.kube_only(reason="a sandbox has no volumes that move")
def test_drains_one_by_one_while_the_budget_holds(cluster, rig):
    cluster.create(replicas=3, storage={"claim": {"storageClassName": "movable"}}).wait_until_settled(3)
    before = member_ids(cluster)
    with Writer(cluster) as writer:
        for node in sorted(cluster.kube.nodes_ready()):
            rig("drain", node, "--timeout", "120")
            rig("uncordon", node)
            cluster.wait_until_settled(3, 180)
    writer.check(at_least=100)
    assert member_ids(cluster) == before


@pytest.mark.quick
@pytest.mark.node_fault
@pytest.mark.kube_only(reason="a sandbox has no drain")
def test_second_drain_waits_until_the_first_member_is_back(cluster, rig):
    """Volumes stay on their nodes, so a drained member waits for its node; the budget keeps the next node from being drained meanwhile."""
    cluster.create(replicas=3).wait_until_settled(3)
    before, (first, second) = member_ids(cluster), [cluster.node_of(name) for name in ("c-0", "c-1")]
    with Writer(cluster) as writer:
        rig("drain", first, "--timeout", "90")
        eventually("its member waits for it", lambda: (pod_phase(cluster, "c-0") == "Pending", cluster.describe), 60)
        refused = cluster.kube.kubectl("drain", second, "--ignore-daemonsets", "--delete-emptydir-data", "--pod-selector", cluster.selector,
                                       "--timeout=6s", check=False)
        assert refused.returncode != 0 and "disruption budget" in refused.stderr, refused.stderr
        assert pod_phase(cluster, "c-1") == "Running"
        rig("uncordon", first)
        cluster.wait_until_settled(3, 120)
        cluster.kube.kubectl("drain", second, "--ignore-daemonsets", "--delete-emptydir-data", "--pod-selector", cluster.selector, "--timeout=90s")
        rig("uncordon", second)
        cluster.wait_until_settled(3, 120)
    writer.check(at_least=100)
    assert member_ids(cluster) == before


@pytest.mark.quick
@pytest.mark.kube_only(reason="a sandbox's operator is in its own process, not in Pods")
def test_killed_operator_is_followed_by_the_other(cluster):
    cluster.create(replicas=3).wait_until_settled(3)
    cluster.patch(replicas=5)
    eventually("it is under way", lambda: (len(cluster.records) > 3, cluster.describe), 60)
    kill_operators(cluster.kube)
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


def put_back_older_copy(rig, cluster, writer, victim):
    """Saves the volume, waits until much is written; returns what puts the old copy back under the running member and restarts it."""
    claim = f"{cluster.namespace}/data-{victim}"
    rig("volume", "save", claim, "old")
    written = len(writer.acknowledged)
    eventually("much is written since", lambda: (len(writer.acknowledged) > written + 200, len(writer.acknowledged)), 120)

    def put_back():
        rig("volume", "rollback", claim, "old")
        restart_etcd(rig, cluster, victim)
    return put_back


def pod_phase(cluster, name):
    """Running, Pending, ...; None without a Pod, or with one that is on its way out."""
    pod = cluster.pods.get(name)
    return pod.status.phase if pod and not pod.metadata.deletion_timestamp else None


def make_pod_anew(cluster, victim):
    uid = cluster.pods[victim].metadata.uid
    cluster.kube.core.delete_namespaced_pod(victim, cluster.namespace)

    def is_back():
        pod = cluster.pods.get(victim)
        return pod is not None and pod.metadata.uid != uid and cluster.is_settled(3)[0], cluster.describe
    eventually(f"{victim} is back", is_back, 120)


@pytest.mark.node_fault
def test_volume_put_back_below_its_floor_is_refused_and_the_member_replaced(cluster, rig):
    """An older copy may lack votes and entries that its member gave its word for. How far its log went is noted when its Pod is made anew."""
    cluster.create(replicas=3).wait_until_settled(3)
    victim, before = follower(cluster), member_ids(cluster)
    with Writer(cluster) as writer:
        put_back = put_back_older_copy(rig, cluster, writer, victim)
        make_pod_anew(cluster, victim)  # and the operator asks it how far it is
        make_pod_anew(cluster, victim)  # and notes that
        noted = int(cluster.pods[victim].metadata.annotations["quorate.io/raft-floor"])
        assert noted > 200, f"it went further than {noted}"
        put_back()
        eventually(f"{victim} is replaced", lambda: is_replaced(cluster, victim, before[victim]), 180)
    writer.check(at_least=200)
    assert_members_agree(cluster)


@pytest.mark.node_fault
def test_volume_put_back_above_its_floor_is_replaced_when_etcd_says_so(cluster, rig):
    """Only a moment older: the guard cannot know it, etcd itself refuses to go on, again and again. What it says is told, and enough."""
    cluster.create(replicas=3).wait_until_settled(3)
    victim, before = follower(cluster), member_ids(cluster)
    with Writer(cluster) as writer:
        put_back_older_copy(rig, cluster, writer, victim)()
        eventually("status tells how etcd ends", lambda: ("EtcdExits" in str(cluster.status.get("waiting")), cluster.describe), 120)
        eventually(f"{victim} is replaced", lambda: is_replaced(cluster, victim, before[victim]), 240)
    writer.check(at_least=200)
    assert_members_agree(cluster)
