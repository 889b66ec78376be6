"""Another build of the operator takes over: clusters are not touched, neither by the newer one nor by the way back."""
import os
import subprocess

import pytest

from e2elib.acts import member_ids, pod_uids, restarts
from e2elib.faults import root
from e2elib.operators import leading, operators, system
from e2elib.waiting import eventually
from e2elib.writer import Writer

pytestmark = pytest.mark.kube_only


@pytest.fixture
def load(rig, tmp_path):
    """Gives every node an image of the programs in a folder."""
    def make(folder, name):
        file = tmp_path / "image.tar"
        subprocess.run([root / "scripts/image", "--build", folder, "--name", name, "--output", file], check=True, capture_output=True,
                       env={**os.environ, "SOURCE_DATE_EPOCH": "1"})
        rig("load", file)
    return make


@pytest.fixture
def as_shipped(installed, kube):
    """Installs what is under test, and does so in any case at the end."""
    def install():
        kube.kubectl("apply", "-k", root / "deploy/kustomize")
    yield install
    install()
    kube.wait_for_operator(180)


def take_over(kube, install):
    """Installs another build over the one that runs; waits until only its Pods are there, and one of them leads."""
    old = set(operators(kube))
    install()

    def done():
        pods = operators(kube)
        return len(pods) == 2 and not old & set(pods) and leading(kube) in pods, sorted(pods)
    eventually("only operators of the other build run, and one leads", done, 180)
    kube.wait_for_operator()


def assert_it_speaks(cluster, replicas):
    """Whoever leads sees what is declared, and says so."""
    cluster.patch(paused=True)
    eventually("it says that it is told to pause", lambda: ("aused" in str(cluster.status), cluster.describe), 60)
    cluster.patch(paused=False)
    cluster.wait_until_settled(replicas)


def assert_nothing_was_disrupted(kube):
    page = kube.kubectl("get", "--raw", f"/api/v1/namespaces/{system}/pods/{leading(kube)}:8080/proxy/metrics").stdout
    assert "quorate_disruptive_steps_total 0\n" in page


def footprint(cluster):
    return pod_uids(cluster), restarts(cluster), member_ids(cluster), {name: claim.metadata.uid for name, claim in cluster.claims.items()}


def test_another_image_takes_clusters_over_without_touching_them(cluster, load, as_shipped, quorate):
    """Another image under another name, as an upgrade is. Members have the launcher of the image that they were made with."""
    kube, newer = cluster.kube, "localhost/quorate:next"
    load(os.path.dirname(os.environ.get("QUORATE_PROGRAM", str(root / "build/release/quorate"))), newer)
    cluster.create(replicas=3).wait_until_settled(3)
    before = footprint(cluster)
    with Writer(cluster) as writer:
        take_over(kube, lambda: kube.kubectl("apply", "-f", "-", input=quorate("manifests", f"--image={newer}")))
        assert_it_speaks(cluster, 3)
        assert_nothing_was_disrupted(kube)
        take_over(kube, as_shipped)
    writer.check(at_least=50)
    assert footprint(cluster) == before
