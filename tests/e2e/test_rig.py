"""The rig itself: faults and disks do what they say, or tests on it would prove nothing."""
import pytest

from e2elib.waiting import eventually

pytestmark = [pytest.mark.kube_only, pytest.mark.node_fault]


@pytest.fixture
def volume(cluster, rig):
    """The rig's commands for the volume of a cluster of one that sleeps: nobody else writes to it."""
    cluster.create(replicas=1).wait_until_settled(1)
    cluster.patch(replicas=0)
    eventually("its Pod is gone", lambda: (not cluster.pods, cluster.describe), 90)

    def run(command, *words):
        return rig("volume", command, f"{cluster.namespace}/data-c-0", *words)
    return run


def test_volume_is_wiped_and_put_back(volume):
    before = volume("files")
    assert "member/snap/db" in before
    volume("save", "copy")
    volume("wipe")
    assert volume("files") == ""
    volume("rollback", "copy")
    assert volume("files") == before


def test_volume_is_filled_to_the_last_byte_and_emptied(volume):
    before = int(volume("free"))
    assert before > 100 * 2**20
    volume("fill")
    assert int(volume("free")) < 65536, "a file system keeps a few blocks for itself"
    volume("unfill")
    assert int(volume("free")) == before
    volume("fill", "--leave", 50 * 2**20)
    assert 40 * 2**20 < int(volume("free")) < 60 * 2**20


def test_volume_is_corrupted_in_one_file(volume):
    before = set(volume("files").splitlines())
    volume("corrupt", "*/member/snap/db")
    changed = before ^ set(volume("files").splitlines())
    assert len(changed) == 2 and {line.split("/", 1)[1] for line in changed} == {line.split("/", 1)[1] for line in changed if line.endswith("/member/snap/db")}


def test_disk_goes_with_its_claim(cluster, rig):
    cluster.create(replicas=1, storage={"claim": {}, "retention": {"whenDeleted": "Delete"}}).wait_until_settled(1)
    name = cluster.claims["data-c-0"].spec.volume_name
    assert disks(rig, name)
    cluster.delete()
    eventually("it is gone", lambda: (not disks(rig, name), disks(rig, name)), 90)


def disks(rig, volume):
    return [path for path in rig.folder.rglob(f"*{volume}*") if path.is_file()]


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
