"""The rig itself: faults and disks do what they say, or tests on it would prove nothing."""
import os
import pathlib
import signal
import subprocess

import pytest

from e2elib.etcd import Etcd
from e2elib.faults import root
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


def test_stalled_volume_keeps_nothing_until_it_goes_on(cluster, rig):
    """etcd answers what needs no disk; a write waits, and is kept in the end."""
    cluster.create(replicas=1).wait_until_settled(1)
    etcd = Etcd.through_service(cluster)
    claim = f"{cluster.namespace}/data-c-0"
    rig("volume", "stall", claim)
    try:
        assert etcd.etcdctl("--command-timeout=2s", "put", "/k", "v", check=False).returncode != 0
        assert etcd.etcdctl("endpoint", "status").returncode == 0
    finally:
        rig("volume", "resume", claim)
    eventually("it is kept after all", lambda: (etcd.read_prefix("/k") == {"/k": "v"}, None), 60)


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


@pytest.fixture
def other_rig(rig):
    """Commands to a second rig, beside the one that the tests run on. It is gone after the test."""
    name = f"{os.environ['QUORATE_RIG'][:17]}-2"

    def run(*words, check=True):
        done = subprocess.run([root / "tests/rig/rig", "--rig", name, *words], capture_output=True, text=True, timeout=240)
        assert not check or done.returncode == 0, f"rig --rig {name} {' '.join(words)}: {done.stderr}"
        return done
    run.folder = rig.folder.parent / name
    yield run
    run("down", check=False)


def left_of(folder):
    """Processes, control groups, mounts and disks of the rig that had this folder, and the folder."""
    group = f"quorate-rig-{folder.name}"
    found = [f"control group {path}" for pattern in (group, f"*/{group}") for path in pathlib.Path("/sys/fs/cgroup").glob(pattern)]
    found += [line for line in pathlib.Path("/proc/mounts").read_text().splitlines() if f"{folder}/" in line]
    found += [line for line in subprocess.run(["losetup", "--list"], check=True, capture_output=True, text=True).stdout.splitlines() if f"{folder}/" in line]
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{group}/" in (process / "cgroup").read_text():
                found.append(f"process {process.name}")
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found + ([str(folder)] if folder.exists() else [])


def assert_nothing_is_left_of(folder):
    """What was killed is still listed until whoever has to take note of its end has done so."""
    eventually("nothing is left", lambda: (not left_of(folder), left_of(folder)), 20)


def kill_what_runs(folder):
    """kill -9 of the first process of each place of a rig, as if whoever runs it were killed in mid-work."""
    for note in (folder / "places").glob("*/pid"):
        try:
            os.kill(int(note.read_text()), signal.SIGKILL)
        except ProcessLookupError:
            pass


def test_rig_that_was_killed_while_it_started_is_cleared_by_the_next(other_rig):
    """kill -9 of `rig up` in the middle: the next `up` clears what is left, and comes up."""
    starting = subprocess.Popen([root / "tests/rig/rig", "--rig", other_rig.folder.name, "up", "--nodes", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eventually("a node has begun", lambda: ((other_rig.folder / "places/node-1/pid").exists(), None), 60, nap=0.02)
    starting.kill()
    starting.wait()
    kill_what_runs(other_rig.folder)
    assert "clearing" in other_rig("up", "--nodes", "1").stderr
    assert "node/node-1" in other_rig("shell", "kubectl", "get", "nodes", "-o", "name").stdout
    other_rig("down")
    assert_nothing_is_left_of(other_rig.folder)
