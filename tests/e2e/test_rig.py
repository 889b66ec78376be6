"""The rig itself: faults and disks do what they say, or tests on it would prove nothing."""
import pytest

from e2elib.waiting import eventually

pytestmark = [pytest.mark.kube_only, pytest.mark.node_fault]


def disk_size(cluster, rig, claim):
    return int(rig("volume", "size", f"{cluster.namespace}/{claim}"))


def test_disk_grows_while_mounted(cluster, rig):
    cluster.create(replicas=1, storage={"claim": {"size": "384Mi"}}).wait_until_settled(1)
    before = disk_size(cluster, rig, "data-c-0")
    assert 250 * 2**20 < before < 384 * 2**20
    cluster.kube.kubectl("-n", cluster.namespace, "patch", "pvc", "data-c-0", "--type=merge", "-p", '{"spec":{"resources":{"requests":{"storage":"640Mi"}}}}')

    def grown():
        claim = cluster.claims["data-c-0"]
        size = disk_size(cluster, rig, "data-c-0")
        return claim.status.capacity["storage"] == "640Mi" and size > before + 200 * 2**20, f"{claim.status}, {size} bytes"
    eventually("kubelet has grown the file system, and the claim says so", grown, 180)


def test_partitioned_node_is_not_reached_and_a_healed_one_is(cluster, rig):
    cluster.create(replicas=3).wait_until_settled(3)
    node = cluster.node_of("c-0")
    rig("partition", node)
    eventually("its kubelet is not heard", lambda: (cluster.kube.nodes_ready()[node] != "True", cluster.kube.nodes_ready()), 60)
    rig("heal", node)
    eventually("it is heard again", lambda: (cluster.kube.nodes_ready()[node] == "True", cluster.kube.nodes_ready()), 60)


def test_stalled_node_is_unheard_and_goes_on(cluster, rig):
    cluster.create(replicas=3).wait_until_settled(3)
    node, started = cluster.node_of("c-0"), cluster.pods["c-0"].status.container_statuses[0].state.running.started_at
    rig("stall", node)
    eventually("its kubelet is not heard", lambda: (cluster.kube.nodes_ready()[node] != "True", cluster.kube.nodes_ready()), 60)
    rig("resume", node)
    eventually("it is heard again", lambda: (cluster.kube.nodes_ready()[node] == "True", cluster.kube.nodes_ready()), 60)
    cluster.wait_until_settled(3)
    assert cluster.pods["c-0"].status.container_statuses[0].state.running.started_at == started
