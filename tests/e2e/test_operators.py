"""The operator itself: its node lost, killed in every phase, replaced by a newer build, with many clusters at once."""
import concurrent.futures
import os
import subprocess

import pytest

from e2elib.acts import member_ids, pod_uids, restarts
from e2elib.etcd import Etcd
from e2elib.faults import root
from e2elib.kube import Cluster
from e2elib.waiting import Stopwatch, eventually
from e2elib.writer import Writer

system = "quorate-system"


def operators(kube):
    return {pod.metadata.name: pod for pod in kube.core.list_namespaced_pod(system).items if not pod.metadata.deletion_timestamp}


def leading(kube):
    """The Pod that holds the Lease."""
    holder = kube.kubectl("-n", system, "get", "lease", "quorate-operator", "-o", "jsonpath={.spec.holderIdentity}").stdout
    return next((name for name in operators(kube) if holder.startswith(name)), None)


def kill_operators(kube):
    for name in operators(kube):
        kube.core.delete_namespaced_pod(name, system, grace_period_seconds=0)


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
        eventually("it is forming", lambda: (cluster.records, cluster.describe()), 60)
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
        eventually("it is under way", lambda: (begun(), cluster.describe()), 60)
        kill_operators(cluster.kube)
        cluster.wait_until_settled(size, 300)
    writer.check(at_least=50)
    known, learners = Etcd.through_service(cluster).members()
    assert len(known) == size and not learners
    cluster.kube.wait_for_operator()


@pytest.mark.kube_only
def test_newer_build_takes_clusters_over_without_touching_them(cluster, rig, quorate, tmp_path):
    """Another image under another name, as an upgrade is. Members have the launcher of the image that they were made with."""
    kube, newer = cluster.kube, "localhost/quorate:next"
    build = os.path.dirname(os.environ.get("QUORATE_PROGRAM", str(root / "build/release/quorate")))
    subprocess.run([root / "scripts/image", "--build", build, "--name", newer, "--output", tmp_path / "next.tar"], check=True, capture_output=True,
                   env={**os.environ, "SOURCE_DATE_EPOCH": "1"})
    rig("load", tmp_path / "next.tar")
    cluster.create(replicas=3).wait_until_settled(3)
    uids, counts, before, old = pod_uids(cluster), restarts(cluster), member_ids(cluster), set(operators(kube))
    with Writer(cluster) as writer:
        kube.kubectl("apply", "-f", "-", input=quorate("manifests", f"--image={newer}"))
        try:
            def taken_over():
                pods = operators(kube)
                return len(pods) == 2 and not old & set(pods) and leading(kube) in pods, sorted(pods)
            eventually("only newer operators run, and one leads", taken_over, 180)
            kube.wait_for_operator()
            cluster.patch(paused=True)  # the newer one sees it and says so
            eventually("the newer one speaks", lambda: ("aused" in str(cluster.status), cluster.describe()), 60)
            cluster.patch(paused=False)
            cluster.wait_until_settled(3)
            page = kube.kubectl("get", "--raw", f"/api/v1/namespaces/{system}/pods/{leading(kube)}:8080/proxy/metrics").stdout
            assert "quorate_disruptive_steps_total 0\n" in page
        finally:
            kube.kubectl("apply", "-k", root / "deploy/kustomize")
    writer.check(at_least=50)
    kube.wait_for_operator(180)
    assert pod_uids(cluster) == uids and restarts(cluster) == counts and member_ids(cluster) == before


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
