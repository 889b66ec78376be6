"""Another build of the operator takes over: clusters are not touched, neither by the newer one nor by the way back."""
import os

import pytest

from e2elib.faults import root
from e2elib.operators import assert_nothing_was_disrupted, footprint, take_over
from e2elib.waiting import eventually
from e2elib.writer import Writer

pytestmark = pytest.mark.kube_only


def assert_it_speaks(cluster, replicas):
    """Whoever leads sees what is declared, and says so."""
    cluster.patch(paused=True)
    eventually("it says that it is told to pause", lambda: ("aused" in str(cluster.status), cluster.describe), 60)
    cluster.patch(paused=False)
    cluster.wait_until_settled(replicas)


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
