"""The operator itself: its node lost, killed in every phase, with many clusters at once."""
import concurrent.futures

import pytest

from e2elib.acts import pod_uids
from e2elib.etcd import Etcd
from e2elib.kube import Cluster
from e2elib.operators import kill_operators, leading, operators
from e2elib.waiting import Stopwatch, eventually
from e2elib.writer import Writer


@pytest.mark.kube_only
@pytest.mark.node_fault
def test_node_of_the_leading_operator_is_lost(cluster, rig):
    kube = cluster.kube
    leader = eventually("one leads", lambda: (leading(kube), leading(kube)), 60)
    lost = operators(kube)[leader].spec.node_name
    away = next(node for node in sorted(kube.nodes_ready()) if node != lost)
    cluster.create(replicas=1, nodeSelector={"kubernetes.io/hostname": away}).wait_until_settled(1)
    with Stopwatch("the leading operator's node lost to another that has scaled 1 to 3"):
        rig("power-cut", lost)
        cluster.patch(replicas=3)
        cluster.wait_until_settled(3, 240)
    assert leading(kube) != leader


@pytest.mark.kube_only
@pytest.mark.parametrize("phase", ["forming", "learning", "shrinking", "rolling"])
def test_killed_in_every_phase(cluster, phase):
    """Both replicas are killed when the phase is seen to have begun; the next ones find the way from what is there."""
    if phase == "forming":
        cluster.create(replicas=3)
        eventually("it is forming", lambda: (cluster.records, cluster.describe), 60)
        kill_operators(cluster.kube)
        cluster.wait_until_settled(3, 240)
        return
    cluster.create(replicas=5 if phase == "shrinking" else 3).wait_until_settled(5 if phase == "shrinking" else 3)
    uids = pod_uids(cluster)
    change, size = {"learning": ({"replicas": 5}, 5), "shrinking": ({"replicas": 3}, 3), "rolling": ({"options": {"snapshot-count": "5000"}}, 3)}[phase]
    begun = {"learning": lambda: len(cluster.pods) > 3, "shrinking": lambda: len(cluster.pods) < 5 or cluster.status.get("intent"),
             "rolling": lambda: any(uids.get(name) != uid for name, uid in pod_uids(cluster).items()) or len(cluster.pods) < 3}[phase]
    with Writer(cluster) as writer:
        cluster.patch(**change)
        eventually("it is under way", lambda: (begun(), cluster.describe), 60)
        kill_operators(cluster.kube)
        cluster.wait_until_settled(size, 300)
    writer.check(at_least=50)
    known, learners = Etcd.through_service(cluster).members()
    assert len(known) == size and not learners
    cluster.kube.wait_for_operator()


def test_fifteen_clusters_at_once(installed, kube, namespace):
    clusters = [Cluster(kube, namespace, f"c{number}") for number in range(15)]
    with Stopwatch("fifteen three-member clusters at once, all ready and written to"):
        for one in clusters:
            one.create(replicas=3)
        for one in clusters:
            one.wait_until_settled(3, 600)

        def use(one):
            etcd = Etcd.through_service(one)
            etcd.put("/whose", one.name)
            return etcd.read_prefix("/whose")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            seen = list(pool.map(use, clusters))
    assert seen == [{"/whose": one.name} for one in clusters]
    assert len({one.status["clusterID"] for one in clusters}) == 15


def test_broken_clusters_cost_others_nothing(installed, kube, namespace):
    broken = [Cluster(kube, namespace, f"b{number}").create(replicas=3, image={"tag": "v3.6.16-nowhere"}) for number in range(4)]
    eventually("they are known to be broken", lambda: (all(one.pods for one in broken), [sorted(one.pods) for one in broken]), 60)
    with Stopwatch("apply to three ready beside four broken clusters"):
        Cluster(kube, namespace, "good").create(replicas=3).wait_until_settled(3)
