"""Every command of the pages for people, run as it is written: blocks marked `sh`, for a cluster `orders` in the namespace `team`."""
import os
import pathlib
import re
import subprocess

import pytest

from e2elib.etcd import Etcd
from e2elib.faults import root
from e2elib.kube import Cluster

pages = ["docs/troubleshooting.md", "docs/rbac.md", *sorted(f"docs/runbooks/{p.name}" for p in (root / "docs/runbooks").glob("Quorate*.md")),
         "docs/production.md"]  # the last deletes a Pod


def commands(page):
    return "\n".join(re.findall(r"^```sh\n(.*?)^```", (root / page).read_text(), re.M | re.S))


@pytest.fixture(scope="module")
def orders(installed, kube):
    kube.make_namespace("team")
    cluster = Cluster(kube, "team", "orders").create(replicas=3)
    cluster.wait_until_settled(3)
    Etcd.through_service(cluster).put("/k", "v")
    yield cluster
    kube.core.delete_namespace("team")


@pytest.mark.kube_only
@pytest.mark.parametrize("page", pages)
def test_commands_of(page, orders, pytestconfig):
    script = commands(page)
    assert script, f"{page} has no commands"
    orders.wait_until_settled(3)
    program = pathlib.Path(pytestconfig.getoption("--quorate")).parent
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, timeout=240, cwd=root,
                          env={**os.environ, "PATH": f"{program}:{os.environ['PATH']}"})
    assert done.returncode == 0, f"{page}: {done.stderr}\n{done.stdout[-1000:]}"
