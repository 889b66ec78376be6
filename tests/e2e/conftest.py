"""What every test has: a place to run on, Quorate installed there, a namespace of its own, and a cluster's handle in it."""
import os
import pathlib
import re
import subprocess
import types

import pytest
from kubernetes.client.rest import ApiException
from urllib3.exceptions import HTTPError

from e2elib.faults import Rig, SandboxRig, root
from e2elib.kube import Cluster, Kube
from e2elib.waiting import Stopwatch, eventually


def pytest_addoption(parser):
    parser.addoption("--target", choices=["kube", "sandbox"], default="kube", help="where to run: a real Kubernetes (tests/rig), or the sandbox")
    parser.addoption("--quorate", default=os.environ.get("QUORATE_PROGRAM", str(root / "build/release/quorate")), help="the program that prints the manifests")
    parser.addoption("--shard", default="1/1", help="I/N: every Nth test from the Ith on; others run the rest beside it, in places of their own")


@pytest.hookimpl(trylast=True)  # of what -m and -k have left
def pytest_collection_modifyitems(config, items):
    if config.getoption("--target") == "sandbox":
        for item in items:
            if mark := item.get_closest_marker("kube_only"):
                item.add_marker(pytest.mark.skip(reason=mark.kwargs.get("reason", "only a real Kubernetes can show it")))
    items.sort(key=lambda item: bool(item.get_closest_marker("last")))  # otherwise as they stand
    which, of = map(int, config.getoption("--shard").split("/"))
    if of > 1:
        config.hook.pytest_deselected(items=[item for number, item in enumerate(items) if number % of != which - 1])
        items[:] = items[which - 1::of]


def pytest_terminal_summary(terminalreporter):
    write_totals(terminalreporter.stats)
    if Stopwatch.notes:
        terminalreporter.section("how long it took")
        for what, seconds in Stopwatch.notes:
            terminalreporter.write_line(f"{seconds:8.1f} s  {what}")


def write_totals(stats):
    """For scripts/test-kube: passed, failed, skipped. What is known to fail counts as skipped, never as passed."""
    def count(*kinds):
        return sum(len(stats.get(kind, [])) for kind in kinds)
    if path := os.environ.get("QUORATE_TOTALS"):
        pathlib.Path(path).write_text(f"{count('passed')} {count('failed', 'error', 'xpassed')} {count('skipped', 'xfailed')}\n")


@pytest.fixture(scope="session")
def kube():
    return Kube()


@pytest.fixture(scope="session")
def rig(pytestconfig):
    if pytestconfig.getoption("--target") == "sandbox":
        return SandboxRig(pytestconfig.getoption("--quorate"), pathlib.Path(os.environ["KUBECONFIG"]).parent)
    return Rig()


@pytest.fixture(scope="session")
def quorate(pytestconfig):
    def run(*words):
        return subprocess.run([pytestconfig.getoption("--quorate"), *words], check=True, capture_output=True, text=True).stdout
    return run


@pytest.fixture(scope="session")
def installed(kube, pytestconfig):
    """Installed as people do it; nodes have the image under the name that it is shipped with. A sandbox has the operator in it."""
    if pytestconfig.getoption("--target") == "sandbox":
        return
    kube.kubectl("apply", "-k", root / "deploy/kustomize")
    kube.wait_for_operator()


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


@pytest.fixture
def namespace(kube, request):
    """Named after the test, and removed after it. KEEP=1 keeps those of tests that failed, for a look; they may be in the way of others."""
    name = re.sub("[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:56].strip("-") + f"-{os.urandom(3).hex()}"
    kube.make_namespace(name)
    yield name
    if not (getattr(request.node, "failed", False) and os.environ.get("KEEP")):
        kube.core.delete_namespace(name)


@pytest.fixture
def cluster(installed, kube, namespace):
    return Cluster(kube, namespace)


@pytest.fixture
def fabric(rig):
    """Programs of the control plane that are stopped during the test run again after it."""
    stopped = set()

    def stop(program):
        stopped.add(program)
        rig("stop", "fabric", program)

    def start(program):
        rig("start", "fabric", program)
        stopped.discard(program)

    yield types.SimpleNamespace(stop=stop, start=start)
    for program in list(stopped):
        start(program)


@pytest.fixture(autouse=True)
def all_nodes_are_there(request):
    """Faults of nodes end with the test that made them, also when it fails."""
    yield
    if "rig" not in request.fixturenames or not (rig := request.getfixturevalue("rig")).has_hurt_nodes:
        return
    kube = request.getfixturevalue("kube")
    rig("mend")
    rig.has_hurt_nodes = False
    eventually("all nodes are ready", lambda: (set(kube.nodes_ready().values()) == {"True"}, kube.nodes_ready()), 120)


def pytest_runtest_logreport(report):
    """A run is long: a failure is told when it happens, and again at the end."""
    if report.failed:
        print(f"\n{report.longreprtext}\n", flush=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        item.failed = True
        try:
            for title, text in last_words(getattr(item, "funcargs", {})):
                report.sections.append((title, text))
        except (ApiException, HTTPError) as problem:  # it may be what the test took away
            report.sections.append(("more cannot be told", str(problem)))
    return report


def last_words(fixtures):
    """What a failure should tell, before everything is gone."""
    kube, cluster = fixtures.get("kube"), fixtures.get("cluster")
    if not kube:
        return
    if cluster and not getattr(cluster, "told", False):
        cluster.told = True  # once, though the teardown may fail as well
        yield "the cluster", cluster.describe()
        for pod in cluster.pods:
            yield f"etcd of {pod}", kube.kubectl("-n", cluster.namespace, "logs", pod, "-c", "etcd", "--tail=15", check=False).stdout
        for pod in kube.kubectl("-n", "quorate-system", "get", "pods", "-o", "name", check=False).stdout.split():
            yield f"operator {pod}", kube.kubectl("-n", "quorate-system", "logs", pod, "--tail=40", check=False).stdout
