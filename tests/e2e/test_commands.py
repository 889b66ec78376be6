"""The commands for people, as people run them: `quorate etcdctl` through the API server and a kubelet, `kubectl quorate` as a plugin."""
import json
import os
import subprocess

import pytest

from e2elib.acts import member_ids
from e2elib.etcd import Etcd
from e2elib.waiting import eventually


@pytest.fixture
def run(pytestconfig, tmp_path):
    """Runs a command with `quorate`, and the plugin of kubectl that it is under another name, in its PATH."""
    program = os.path.abspath(pytestconfig.getoption("--quorate"))
    for name in ("quorate", "kubectl-quorate"):
        (tmp_path / name).symlink_to(program)
    path = f"{tmp_path}:{os.environ['PATH']}"

    def call(*words, code=0, **kwargs):
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, env={**os.environ, "PATH": path}, **kwargs)
        assert done.returncode == code, f"{' '.join(words)}: {done.returncode}: {done.stderr}{done.stdout}"
        return done
    return call


@pytest.mark.quick
def test_etcdctl_runs_beside_a_member(cluster, run):
    """Arguments, input, both outputs and the exit code pass through exec, also more of them than one message holds."""
    cluster.create(replicas=3).wait_until_settled(3)

    def etcdctl(*words, flags=(), **kwargs):
        return run("quorate", "etcdctl", cluster.name, "-n", cluster.namespace, *flags, "--", *words, **kwargs)

    assert etcdctl("put", "/greeting", "hello world").stdout == "OK\n"
    assert Etcd.through_service(cluster).read_prefix("/greeting") == {"/greeting": "hello world"}
    long = "".join(f"line {number} of what is given on standard input\n" for number in range(20_000))
    assert etcdctl("put", "/long", input=long).stdout == "OK\n"
    assert etcdctl("get", "/long", "--print-value-only").stdout == long + "\n"
    for member, member_id in member_ids(cluster).items():
        told = json.loads(etcdctl("endpoint", "status", "-w", "json", flags=["--member", member]).stdout)
        assert f"{told[0]['Status']['header']['member_id']:x}" == member_id, f"not asked: {member}"
    refused = etcdctl("get", code=128)  # etcdctl's own word for arguments that it cannot use
    assert "needs one argument" in refused.stderr and refused.stdout == ""


@pytest.mark.quick
def test_plugin_of_kubectl_shows_a_cluster(cluster, run):
    cluster.create(replicas=1).wait_until_settled(1)
    where = ["-n", cluster.namespace]

    def told():
        page = run("kubectl", "quorate", "status", cluster.name, *where).stdout
        return all(word in page for word in ("c-0", "leader", cluster.node_of("c-0"), "   1Gi   ")), page
    eventually("its page names member, role, node and size of volume", told, 30)
    listed = run("kubectl", "quorate", "status", *where).stdout.splitlines()
    assert len(listed) == 2 and listed[1].split()[:2] == [cluster.namespace, cluster.name], listed
    assert json.loads(run("kubectl", "quorate", "status", cluster.name, "-o", "json", *where).stdout)["metadata"]["uid"] == cluster.object["metadata"]["uid"]
    assert "nobody" in run("kubectl", "quorate", "status", "nobody", *where, code=4).stderr
