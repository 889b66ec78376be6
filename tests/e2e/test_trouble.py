"""Trouble around a cluster: parts of Kubernetes that are down, images that are not there, disks that are full or cannot be had."""
import pytest

from e2elib.etcd import Etcd
from e2elib.waiting import Stopwatch, eventually
from e2elib.writer import Writer


@pytest.mark.kube_only(reason="a sandbox's DNS cannot be stopped alone")
@pytest.mark.node_fault
def test_forms_though_dns_was_down(cluster, fabric):
    fabric.stop("coredns")
    cluster.create(replicas=3)
    eventually("all members run, and do not find each other",
               lambda: (len(cluster.pods) == 3 and all(p.status.phase == "Running" for p in cluster.pods.values()), cluster.describe), 60)
    assert not cluster.is_settled(3)[0]
    fabric.start("coredns")
    with Stopwatch("DNS back to three ready"):
        cluster.wait_until_settled(3)


@pytest.mark.kube_only(reason="members of a sandbox end with what runs them")
@pytest.mark.node_fault
def test_kubelet_down_is_no_reason_to_touch_a_member_that_answers(cluster, rig):
    cluster.create(replicas=3, recovery={"replaceAfter": "10s"}).wait_until_settled(3)
    before, victim = Etcd.through_service(cluster).members()[0], "c-1"
    node = cluster.node_of(victim)
    rig("stop", node, "kubelet")
    eventually("Kubernetes has seen it", lambda: (cluster.kube.nodes_ready()[node] != "True", cluster.kube.nodes_ready()), 60)
    with Writer(cluster) as writer:
        eventually("writes go on for as long as a replacement would take", lambda: (len(writer.acknowledged) > 1000, len(writer.acknowledged)), 120)
    writer.check(at_least=1000)
    rig("start", node, "kubelet")
    cluster.wait_until_settled(3, 120)
    after = Etcd.through_service(cluster).members()[0]
    assert len(after) == 3
    assert after == before, "a member that answered was replaced"


def test_missing_image_is_told_and_a_better_one_taken(cluster):
    cluster.create(replicas=3, image={"repository": "quorate.invalid/nowhere"})
    eventually("status tells of the image", lambda: ("quorate.invalid/nowhere" in str(cluster.status.get("waiting")) + str(cluster.status.get("conditions")),
                                                     cluster.describe()), 90)
    cluster.patch(image=None)
    cluster.wait_until_settled(3, 180)


def test_claim_that_cannot_be_bound_is_told(cluster):
    cluster.create(replicas=1, storage={"claim": {"storageClassName": "no-such-class"}})

    def told():
        status = cluster.status
        return "no-such-class" in str(status.get("waiting")) + str(status.get("conditions")) or "claim" in str(status.get("waiting")), cluster.describe
    eventually("status tells of the claim", told, 90)


@pytest.mark.kube_only(reason="volumes of a sandbox are folders on the machine's own disk")
@pytest.mark.node_fault
def test_full_disk_of_one_member(cluster, rig):
    cluster.create(replicas=3, storage={"claim": {"size": "384Mi"}}).wait_until_settled(3)
    before, claim = Etcd.through_service(cluster).members()[0], f"{cluster.namespace}/data-c-1"
    with Writer(cluster) as writer:
        rig("volume", "fill", claim)
        written = len(writer.acknowledged)
        eventually("two of three go on", lambda: (len(writer.acknowledged) > written + 200, cluster.describe), 120)
        rig("volume", "unfill", claim)
        cluster.wait_until_settled(3, 240)
    writer.check(at_least=200)
    assert Etcd.through_service(cluster).members()[0] == before
