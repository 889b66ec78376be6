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
from e2elib.operators import assert_nothing_was_disrupted, footprint, operators, system, take_over
from e2elib.waiting import eventually
from e2elib.writer import Writer

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


def run_helm(*words):
    done = subprocess.run([f"{part('helm')}/helm", *words], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr


def run_page(kind, program):
    """Runs the blocks of the install page that are marked `sh` and so, as a person would; `program` is the folder of quorate."""
    script = "\n".join(re.findall(rf"^```sh{kind}\n(.*?)^```", (root / "docs/install.md").read_text(), re.M | re.S))
    assert script, f"no block is marked sh{kind}"
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, timeout=300, cwd=root,
                          env={**os.environ, "PATH": f"{program}:{part('helm')}:{os.environ['PATH']}"})
    assert done.returncode == 0, f"{done.stderr}\n{done.stdout[-1000:]}"


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
    assert_quiet(cluster, rig, offset)


def assert_quiet(cluster, rig, offset):
    """A cluster that is well and left alone costs no write, for as long as a leader renews its lease twenty times: a shortened hour."""
    _, quiet_since = audit.requests(rig.audit_log, offset)

    def passed():
        seen, _ = audit.requests(rig.audit_log, quiet_since)
        renewals = [e for e in seen if e.get("objectRef", {}).get("resource") == "leases" and e["verb"] == "patch"]
        return len(renewals) >= 20, f"{len(renewals)} renewals of the lease"  # as many retry periods (2 s) have passed
    eventually("40 s have passed by the operator's own clock", passed, 120)
    seen, _ = audit.requests(rig.audit_log, quiet_since)
    assert audit.writes(seen, cluster.namespace) == []


@pytest.mark.kube_only
def test_operator_of_one_namespace_runs_under_rights_in_it_alone(cluster, rig, quorate, as_shipped):
    """Formed, grown, healed, shrunk and deleted: nothing is refused, nothing is asked beyond the rules, nor of another namespace."""
    kube = cluster.kube
    kube.kubectl("delete", "-f", "-", input=quorate("manifests", "--only", "operator"))
    kube.kubectl("delete", "clusterrole,clusterrolebinding", "quorate-operator")
    eventually("no operator runs", lambda: (not kube.core.list_namespaced_pod(system).items, sorted(operators(kube))), 90)
    _, offset = audit.requests(rig.audit_log)
    flags = [f"--watch-namespace={cluster.namespace}"]
    kube.kubectl("apply", "-f", "-", input=quorate("manifests", *flags))
    kube.wait_for_operator(180)
    cluster.create(replicas=1).wait_until_settled(1)
    cluster.patch(replicas=3)
    cluster.wait_until_settled(3)
    kube.core.delete_namespaced_persistent_volume_claim("data-c-0", cluster.namespace)
    kube.core.delete_namespaced_pod("c-0", cluster.namespace)
    eventually("it is healed", lambda: ("c-0" not in cluster.records and cluster.is_settled(3)[0], cluster.describe), 180)
    assert_quiet(cluster, rig, offset)
    cluster.delete()
    cluster.wait_until_gone()
    events, _ = audit.requests(rig.audit_log, offset)
    assert audit.refused(events) == []
    rules = [rule for o in objects(quorate("manifests", "--only", "rbac", *flags)).values() for rule in o.get("rules", [])]
    assert audit.outside_of(rules, events) == []
    assert {e["objectRef"].get("namespace") for e in events} == {cluster.namespace, system}


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
    try:
        run_page("", os.path.dirname(pytestconfig.getoption("--quorate")))
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
def test_helm_beside_another_operator_manages_its_namespace_alone(installed, kube, namespace):
    """A second operator, for one namespace alone, beside the first; the kinds are the first one's."""
    values = ["--set", f"crds.install=false,watchNamespaces={{{namespace}}}", "--wait", "--timeout", "180s", "--namespace", namespace]
    run_helm("install", "quorate", root / "deploy/helm/quorate", *values)
    assert len(kube.core.list_namespaced_pod(namespace).items) == 2
    run_helm("upgrade", "quorate", root / "deploy/helm/quorate", *values, "--set", "replicas=1")
    eventually("one is left", lambda: (len(kube.core.list_namespaced_pod(namespace).items) == 1, None), 90)
    run_helm("uninstall", "quorate", "--wait", "--namespace", namespace)
    left = kube.kubectl("-n", namespace, "get", "deployments,roles,rolebindings,serviceaccounts,poddisruptionbudgets", "-o", "name").stdout.split()
    assert left == ["serviceaccount/default"]


@pytest.mark.kube_only
def test_helm_takes_over_upgrades_and_goes_while_clusters_run(cluster, load, as_shipped, quorate, pytestconfig, request):
    """The commands of the install page. No member is touched; kinds, and with them clusters, stay when the release is gone."""
    kube, program = cluster.kube, os.path.dirname(pytestconfig.getoption("--quorate"))
    load(program, "localhost/quorate:next")
    cluster.create(replicas=3).wait_until_settled(3)
    before = footprint(cluster)
    kube.kubectl("delete", "-f", "-", input=quorate("manifests", "--only", "operator"))
    request.addfinalizer(lambda: run_helm("uninstall", "quorate", "--ignore-not-found", "--wait", "--namespace", system))
    with Writer(cluster) as writer:
        take_over(kube, lambda: run_page(" helm install", program))
        assert_nothing_was_disrupted(kube)
        take_over(kube, lambda: run_page(" helm upgrade", program))
        assert {p.spec.containers[0].image for p in operators(kube).values()} == {"localhost/quorate:next"}
        assert_nothing_was_disrupted(kube)
        cluster.patch(podTemplate={"metadata": {"annotations": {"after": "upgrade"}}})
        eventually("it manages the cluster", lambda: (all((p.metadata.annotations or {}).get("after") for p in cluster.pods.values()), None), 60)
        run_page(" helm uninstall", program)
        eventually("no operator runs", lambda: (not operators(kube), sorted(operators(kube))), 90)
        assert "etcdclusters.quorate.io" in kube.kubectl("get", "crds", "-o", "name").stdout
        assert cluster.object
        writer.go_on_for(5)
    writer.check(at_least=50)
    assert footprint(cluster) == before
    take_over(kube, as_shipped)
    cluster.wait_until_settled(3)
    assert footprint(cluster) == before


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
