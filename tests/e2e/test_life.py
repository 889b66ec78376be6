"""A cluster's ordinary life: formed, used, resized, asleep and awake, deleted."""
import pytest

from e2elib.acts import assert_members_agree, member_ids
from e2elib.etcd import Etcd
from e2elib.waiting import Stopwatch, eventually
from e2elib.writer import Writer


@pytest.mark.parametrize("size", [1, pytest.param(3, marks=pytest.mark.quick), 5, 7])
def test_forms_and_serves_over_tls(cluster, size):
    with Stopwatch(f"apply to {size} ready, and a write"):
        cluster.create(replicas=size).wait_until_settled(size)
        etcd = Etcd.through_service(cluster)
        etcd.put("/k", "v")
    assert etcd.read_prefix("/k") == {"/k": "v"}
    known, learners = etcd.members()
    assert sorted(known) == [f"c-{n}" for n in range(size)] and not learners
    assert len(set(etcd.hashes(known).values())) == 1
    nodes = [pod.spec.node_name for pod in cluster.pods.values()]
    assert len(set(nodes)) == min(size, len(cluster.kube.nodes_ready())), f"members share nodes without need: {nodes}"


def test_refuses_clients_without_a_certificate(cluster):
    cluster.create(replicas=1).wait_until_settled(1)
    etcd = Etcd.through_service(cluster)
    done = cluster.kube.kubectl("-n", cluster.namespace, "exec", "c-0", "--", "etcdctl", "--endpoints=https://127.0.0.1:2379",
                                "--insecure-skip-tls-verify", "--command-timeout=3s", "--dial-timeout=3s", "get", "/k", check=False)
    assert done.returncode != 0
    etcd.put("/k", "v")


@pytest.mark.quick
def test_pod_comes_back_on_its_volume(cluster):
    cluster.create(replicas=3).wait_until_settled(3)
    before, uid, claims = member_ids(cluster), cluster.pods["c-1"].metadata.uid, {n: c.metadata.uid for n, c in cluster.claims.items()}

    def is_another():
        pod = cluster.pods.get("c-1")
        return pod is not None and pod.metadata.uid != uid, cluster.describe
    with Writer(cluster) as writer:
        with Stopwatch("Pod deleted to member ready, same ID"):
            cluster.kube.core.delete_namespaced_pod("c-1", cluster.namespace)
            eventually("another Pod has its name", is_another, 60)
            cluster.wait_until_settled(3)
    writer.check(at_least=20)
    assert member_ids(cluster) == before
    assert {n: c.metadata.uid for n, c in cluster.claims.items()} == claims


@pytest.mark.quick
def test_scales_out_and_in_while_written_to(cluster):
    cluster.create(replicas=3).wait_until_settled(3)
    with Writer(cluster) as writer:
        for step, size in enumerate((5, 3)):
            with Stopwatch(f"scale to {size}"):
                cluster.patch(replicas=size)
                cluster.wait_until_settled(size, 180)
            known, learners = Etcd.through_service(cluster).members()
            assert sorted(known) == sorted(cluster.pods) and not learners, step
    writer.check(at_least=50)
    eventually("claims of removed members are gone", lambda: (len(cluster.claims) == 3, sorted(cluster.claims)), 30)
    assert_members_agree(cluster)


def test_sleeps_and_wakes_as_the_same_cluster(cluster):
    cluster.create(replicas=3).wait_until_settled(3)
    etcd = Etcd.through_service(cluster)
    etcd.put("/k", "before")
    before, cluster_id = member_ids(cluster), cluster.status["clusterID"]
    cluster.patch(replicas=0)
    eventually("all Pods are gone", lambda: (not cluster.pods, cluster.describe), 90)
    assert len(cluster.claims) == 3 and len(cluster.records) == 3
    with Stopwatch("awake again"):
        cluster.patch(replicas=3)
        cluster.wait_until_settled(3)
    assert member_ids(cluster) == before and cluster.status["clusterID"] == cluster_id
    assert Etcd.through_service(cluster).read_prefix("/k") == {"/k": "before"}


@pytest.mark.quick
def test_deleted_and_created_again_is_another_cluster(cluster):
    cluster.create(replicas=3, storage={"claim": {}, "retention": {"whenDeleted": "Delete"}}).wait_until_settled(3)
    Etcd.through_service(cluster).put("/k", "old")
    old = cluster.status["clusterID"]
    cluster.delete()
    cluster.wait_until_gone()
    eventually("its claims are gone", lambda: (not cluster.claims, sorted(cluster.claims)), 60)
    cluster.create(replicas=3).wait_until_settled(3)
    assert cluster.status["clusterID"] != old
    assert Etcd.through_service(cluster).read_prefix("/k") == {}


def test_keeps_its_volumes_when_deleted(cluster):
    cluster.create(replicas=1).wait_until_settled(1)
    cluster.delete()
    cluster.wait_until_gone()
    assert sorted(cluster.claims) == ["data-c-0"]


def test_paused_cluster_is_left_alone(cluster):
    cluster.create(replicas=1).wait_until_settled(1)
    cluster.patch(paused=True, replicas=3)
    eventually("status says so", lambda: ("aused" in str(cluster.status), cluster.describe), 30)
    assert len(cluster.records) == 1
    cluster.patch(paused=False)
    cluster.wait_until_settled(3)
