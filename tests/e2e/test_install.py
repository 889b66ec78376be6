"""Installed by manifests, by kustomize and by Helm: the same objects. Under its own rights, and no others."""
import json
import os
import re
import subprocess

import pytest
import yaml

from e2elib import audit
from e2elib.etcd import Etcd
from e2elib.faults import root
from e2elib.waiting import eventually

keep = "helm.sh/resource-policy"


def objects(text):
    """{kind/namespace/name: object} of a stream of documents."""
    found = {}
    for document in yaml.safe_load_all(text):
        if document:
            metadata = document["metadata"]
            if metadata.get("annotations", {}).pop(keep, None) and not metadata["annotations"]:
                del metadata["annotations"]
            found[f"{document['kind']}/{metadata.get('namespace', '')}/{metadata['name']}"] = document
    return found


def part(name):
    done = subprocess.run([root / "tests/parts/build", "--path", name], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(done.stderr.strip())
    return done.stdout.strip()


def helm(*words):
    return subprocess.run([f"{part('helm')}/helm", "template", "quorate", root / "deploy/helm/quorate", "--namespace", "quorate-system",
                           "--kube-version", "1.34.4", *words], capture_output=True, text=True)


def assert_same(got, wanted):
    assert sorted(got) == sorted(wanted)
    for key in wanted:
        assert got[key] == wanted[key], key


@pytest.mark.parametrize("components, flags", [
    pytest.param([], [], marks=pytest.mark.quick),
    (["one-namespace"], ["--watch-namespace=team"]),
    (["monitoring", "admission-policy"], ["--monitoring", "--admission-policy"]),
], ids=["default", "one-namespace", "everything"])
def test_kustomize_gives_what_manifests_print(quorate, tmp_path, components, flags):
    base = os.path.relpath(root / "deploy/kustomize", tmp_path.resolve())
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump({"resources": [base], "components": [f"{base}/components/{name}" for name in components]}))
    built = subprocess.run([f"{part('kubectl')}/kubectl", "kustomize", tmp_path.resolve()], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert_same(objects(built.stdout), objects(quorate("manifests", *flags)))


@pytest.mark.parametrize("flags, values", [
    ([], []),
    (["--watch-namespace=team"], ["--set", "watchNamespaces={team}"]),
    (["--watch-namespace=team,other", "--monitoring"], ["--set", "watchNamespaces={team,other},monitoring.enabled=true"]),
    (["--monitoring", "--admission-policy", "--replicas=3", "--image=a/b:c"],
     ["--set", "monitoring.enabled=true,admissionPolicy.enabled=true,replicas=3,image.repository=a/b,image.tag=c"]),
], ids=["default", "one-namespace", "two-namespaces", "everything"])
def test_helm_gives_what_manifests_print(quorate, flags, values):
    done = helm(*values)
    assert done.returncode == 0, done.stderr
    wanted = {key: o for key, o in objects(quorate("manifests", *flags)).items() if o["kind"] != "Namespace"}  # helm --create-namespace
    assert_same(objects(done.stdout), wanted)


def test_helm_refuses_values_that_it_does_not_know():
    assert helm("--set", "replica=3").returncode != 0
    assert helm("--set", "replicas=0").returncode != 0
    assert helm("--set", "watchNamespaces={Team}").returncode != 0


def test_helm_keeps_kinds_on_uninstall():
    kinds = [d for d in yaml.safe_load_all(helm().stdout) if d and d["kind"] == "CustomResourceDefinition"]
    assert kinds and all(d["metadata"]["annotations"][keep] == "keep" for d in kinds)


@pytest.mark.kube_only
@pytest.mark.quick
@pytest.mark.last
def test_operator_runs_under_its_own_rights(cluster, rig, quorate):
    """Everything that it did since the start of the suite was allowed, and named by its rules; and a quiet cluster costs no write."""
    cluster.create(replicas=3).wait_until_settled(3)
    events, offset = audit.requests(rig.audit_log)
    assert events
    assert audit.refused(events) == []
    rules = [rule for o in objects(quorate("manifests", "--only", "rbac")).values() for rule in o.get("rules", [])]
    assert audit.outside_of(rules, events) == []
    Etcd.through_service(cluster).put("/k", "v")

    def others():
        return [n.metadata.name for n in cluster.kube.core.list_namespace().items if n.metadata.name.startswith("test-") and n.metadata.name != cluster.namespace]
    eventually("namespaces of earlier tests are gone", lambda: (not others(), others()), 240)
    cluster.wait_until_settled(3)
    _, quiet_since = audit.requests(rig.audit_log, offset)

    def quiet():
        seen, _ = audit.requests(rig.audit_log, quiet_since)
        renewals = [e for e in seen if e.get("objectRef", {}).get("resource") == "leases" and e["verb"] == "patch"]
        return len(renewals) >= 20, f"{len(renewals)} renewals of the lease"  # as many retry periods (2 s) have passed
    eventually("40 s have passed by the operator's own clock", quiet, 120)
    seen, _ = audit.requests(rig.audit_log, quiet_since)
    assert audit.writes(seen, cluster.namespace) == []


@pytest.mark.kube_only
def test_uninstalled_operator_leaves_clusters_running_and_comes_back(cluster, quorate):
    cluster.create(replicas=3).wait_until_settled(3)
    pods = {name: pod.metadata.uid for name, pod in cluster.pods.items()}
    Etcd.through_service(cluster).put("/k", "v")
    manifests = quorate("manifests", "--only", "operator")
    cluster.kube.kubectl("delete", "--wait=true", "-f", "-", input=manifests)
    eventually("no operator runs", lambda: (not cluster.kube.core.list_namespaced_pod("quorate-system").items, None), 60)
    assert Etcd.through_service(cluster).read_prefix("/k") == {"/k": "v"}
    cluster.kube.kubectl("apply", "-f", "-", input=manifests)
    cluster.kube.wait_for_operator()
    cluster.patch(replicas=5)
    cluster.wait_until_settled(5, 180)
    assert {name: pod.metadata.uid for name, pod in cluster.pods.items() if name in pods} == pods


@pytest.mark.kube_only
def test_commands_of_the_install_page(installed, kube, pytestconfig):
    """As they are written, from top to bottom: installed, upgraded with itself, uninstalled; the kinds stay."""
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```", (root / "docs/install.md").read_text(), re.M | re.S))
    program = os.path.dirname(pytestconfig.getoption("--quorate"))
    try:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, timeout=300, cwd=root,
                              env={**os.environ, "PATH": f"{program}:{os.environ['PATH']}"})
        assert done.returncode == 0, done.stderr
        assert kube.kubectl("-n", "quorate-system", "get", "deployments", "-o", "name").stdout == ""
        assert "etcdclusters.quorate.io" in kube.kubectl("get", "crds", "-o", "name").stdout
    finally:
        kube.kubectl("apply", "-k", root / "deploy/kustomize")
        kube.wait_for_operator(180)


@pytest.mark.kube_only
def test_admission_policy_keeps_hands_off_records_and_claims(cluster, quorate):
    """Not even an administrator deletes them by mistake; the operator, the garbage collector and the namespace controller still do."""
    kube = cluster.kube
    policy = [o for o in objects(quorate("manifests", "--admission-policy")).values() if "AdmissionPolicy" in o["kind"]]
    assert len(policy) == 2
    kube.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(policy))
    try:
        cluster.create(replicas=3, storage={"claim": {}, "retention": {"whenDeleted": "Delete"}}).wait_until_settled(3)

        def denied(kind, name):
            done = kube.kubectl("-n", cluster.namespace, "delete", kind, name, "--dry-run=server", check=False)
            return done.returncode != 0 and "by the operator alone" in done.stderr, done.stderr
        for kind, name in (("pvc", "data-c-0"), ("etcdmember", "c-0")):
            eventually(f"{kind} cannot be deleted", lambda: denied(kind, name), 60)  # the API server takes a policy up after a moment
        cluster.patch(replicas=1)
        cluster.wait_until_settled(1, 180)
        eventually("the operator has deleted claims", lambda: (len(cluster.claims) == 1, sorted(cluster.claims)), 60)
        cluster.delete()
        cluster.wait_until_gone()
        eventually("the garbage collector has deleted the last", lambda: (not cluster.claims, sorted(cluster.claims)), 60)
    finally:
        kube.kubectl("delete", "-f", "-", input=yaml.safe_dump_all(policy))


@pytest.mark.kube_only
def test_helm_installs_upgrades_and_uninstalls(installed, kube, namespace):
    """A second operator, for one namespace alone, beside the first; the kinds are the first one's."""
    def run(*words):
        done = subprocess.run([f"{part('helm')}/helm", *words, "--namespace", namespace], capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
    values = ["--set", f"crds.install=false,watchNamespaces={{{namespace}}}", "--wait", "--timeout", "180s"]
    run("install", "quorate", str(root / "deploy/helm/quorate"), *values)
    assert len(kube.core.list_namespaced_pod(namespace).items) == 2
    run("upgrade", "quorate", str(root / "deploy/helm/quorate"), *values, "--set", "replicas=1")
    eventually("one is left", lambda: (len(kube.core.list_namespaced_pod(namespace).items) == 1, None), 90)
    run("uninstall", "quorate", "--wait")
    left = kube.kubectl("-n", namespace, "get", "deployments,roles,rolebindings,serviceaccounts,poddisruptionbudgets", "-o", "name").stdout.split()
    assert left == ["serviceaccount/default"]


def test_image_is_the_same_from_the_same_programs(tmp_path):
    build = os.path.dirname(os.environ.get("QUORATE_PROGRAM", str(root / "build/release/quorate")))
    digests = []
    for number in range(2):
        done = subprocess.run([root / "scripts/image", "--build", build, "--output", tmp_path / f"{number}.tar"], check=True, capture_output=True, text=True)
        digests.append(done.stdout.split("@")[1].split(",")[0])
    assert digests[0] == digests[1]
    assert (tmp_path / "0.tar").read_bytes() == (tmp_path / "1.tar").read_bytes()
    sbom = json.loads((tmp_path / "0.spdx.json").read_text())
    assert {"quorate"} < {package["name"] for package in sbom["packages"]} and len(sbom["files"]) > 2
