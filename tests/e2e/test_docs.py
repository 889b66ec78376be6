"""Every command of the pages for people, run as it is written: the blocks marked `sh`.

Those that help with a cluster in trouble are for a cluster `orders` in the namespace `team`; those that try Quorate out make a cluster `db` of their own.
"""
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


@pytest.fixture
def run_page(pytestconfig):
    """Runs the commands of a page as a person would, one after the other."""
    def run(page, seconds=240, **environment):
        script = commands(page)
        assert script, f"{page} has no commands"
        program = pathlib.Path(pytestconfig.getoption("--quorate")).parent
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, timeout=seconds, cwd=root,
                              env={**os.environ, "PATH": f"{program}:{os.environ['PATH']}", **environment})
        assert done.returncode == 0, f"{page}: {done.stderr}\n{done.stdout[-1000:]}"
        return done.stdout
    return run


@pytest.mark.kube_only
@pytest.mark.parametrize("page", pages)
def test_commands_of(page, orders, run_page):
    orders.wait_until_settled(3)
    run_page(page)


def test_commands_for_people(installed, run_page):
    """docs/commands.md, and that it leaves out none of them."""
    page = "docs/commands.md"
    listed = set(re.findall(r"`(?:quorate )?([a-z]+)[^`]*`", "\n".join(re.findall(r"^\| (`.*?) \|", (root / page).read_text(), re.M))))
    run = set(re.findall(r"^quorate ([a-z]+)", commands(page), re.M))
    assert listed - run == {"dashboard"}, "that one stays until it is interrupted; tests/integration/program_dashboard_test.cc runs it"
    assert "hello" in run_page(page, seconds=900)


def test_commands_of_the_sandbox(pytestconfig, run_page, tmp_path):
    """docs/sandbox.md, in a sandbox of its own."""
    if pytestconfig.getoption("--target") != "sandbox":
        pytest.skip("a sandbox is begun where no Kubernetes is")
    other = subprocess.run([root / "tests/parts/build", "--path", "etcd-3.5.35"], check=True, capture_output=True, text=True).stdout.strip()
    (tmp_path / "etcd-3.5.35").symlink_to(other)
    said = run_page("docs/sandbox.md", HOME=str(tmp_path), XDG_STATE_HOME="")
    assert "world" in said and "3.5.35" in said


def test_the_declaration_of_the_readme(installed, kube, namespace):
    block = re.search(r"^    apiVersion: quorate.*?(?=^\S)", (root / "README.md").read_text(), re.M | re.S).group()
    kube.kubectl("-n", namespace, "apply", "--server-side", "-f", "-", input=re.sub("^    ", "", block, flags=re.M))
