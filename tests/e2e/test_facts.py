"""Facts of Kubernetes that Quorate relies on: if a newer one behaves otherwise, this says so before a cluster does."""
import json

import pytest

from e2elib.acts import follower, member_ids
from e2elib.waiting import eventually

pytestmark = [pytest.mark.kube_only, pytest.mark.node_fault]


def apply_claim(kube, namespace, **metadata):
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": namespace, **metadata},
             "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    return kube.kubectl("apply", "--server-side", "--field-manager=e2e", "-f", "-", input=json.dumps(claim), check=False)


def test_apply_brings_a_deleted_claim_back_empty_unless_it_names_the_uid(kube, namespace):
    assert apply_claim(kube, namespace).returncode == 0
    first = kube.core.read_namespaced_persistent_volume_claim("data", namespace).metadata.uid
    kube.kubectl("-n", namespace, "delete", "pvc", "data", "--wait=true")
    named = apply_claim(kube, namespace, uid=first)
    assert named.returncode != 0 and "uid" in named.stderr.lower()
    assert apply_claim(kube, namespace).returncode == 0
    assert kube.core.read_namespaced_persistent_volume_claim("data", namespace).metadata.uid != first


def test_a_pods_spec_cannot_be_applied_anew_but_for_its_image(cluster):
    cluster.create(replicas=1).wait_until_settled(1)
    done = cluster.kube.kubectl("-n", cluster.namespace, "patch", "pod", "c-0", "--type=merge", "-p", '{"spec":{"restartPolicy":"Never"}}', check=False)
    assert done.returncode != 0 and "may not change fields other than" in done.stderr


def test_budget_of_an_integer_allows_one_disruption_and_drain_knows_our_pods(cluster):
    cluster.create(replicas=3).wait_until_settled(3)

    def allowed():
        status = cluster.kube.policy.read_namespaced_pod_disruption_budget("c", cluster.namespace).status
        return status.disruptions_allowed == 1 and status.expected_pods == 3, status.to_dict()
    eventually("the budget allows one", allowed, 60)
    node = cluster.node_of(follower(cluster))
    refused = cluster.kube.kubectl("drain", node, "--ignore-daemonsets", "--pod-selector", cluster.selector, "--dry-run=server", check=False)
    assert refused.returncode != 0 and "delete-emptydir-data" in refused.stderr and "declare no controller" not in refused.stderr
    cluster.kube.kubectl("drain", node, "--ignore-daemonsets", "--pod-selector", cluster.selector, "--dry-run=server", "--delete-emptydir-data")
    cluster.kube.kubectl("uncordon", node)


def talker(level):
    """A Pod whose program ends at once, and says in its last words what it was told by an annotation."""
    return {
        "metadata": {"name": "talker", "annotations": {"level": level}},
        "spec": {
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "talker", "image": "quorate.io/quorate:v0.1.0", "imagePullPolicy": "Never", "args": ["operator", "--launch-image=x"],
                "env": [{"name": "QUORATE_LOG_LEVEL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['level']"}}}],
                "terminationMessagePolicy": "FallbackToLogsOnError",
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}]}}


def test_annotations_reach_a_container_anew_at_every_start_and_its_end_is_told(kube, namespace):
    kube.core.create_namespaced_pod(namespace, talker("first"))

    def says(word):
        statuses = kube.core.read_namespaced_pod("talker", namespace).status.container_statuses or []
        ends = [end for s in statuses for end in (s.state.terminated, s.last_state.terminated) if end]
        return any(end.exit_code == 2 and word in (end.message or "") for end in ends), [end.to_dict() for end in ends]
    eventually("it ended with what it was told", lambda: says("first"), 60)
    kube.kubectl("-n", namespace, "annotate", "pod", "talker", "level=second", "--overwrite")
    eventually("its next start was told anew", lambda: says("second"), 120)


def test_reboot_keeps_pod_and_empty_dir_and_runs_init_containers_again(cluster, rig):
    cluster.create(replicas=3).wait_until_settled(3)
    victim, before = follower(cluster), member_ids(cluster)
    pod, node = cluster.pods[victim], cluster.node_of(victim)
    notes = rig.folder / "nodes" / node / "kubelet/pods" / pod.metadata.uid / "volumes/kubernetes.io~empty-dir/quorate"
    kept = {path.name: path.stat().st_ino for path in notes.iterdir()}
    init = pod.status.init_container_statuses[0].container_id
    assert kept
    rig("reboot", node)

    def again():
        now = cluster.pods[victim]
        assert now.metadata.uid == pod.metadata.uid
        statuses = now.status.init_container_statuses or []
        return statuses and statuses[0].container_id not in (None, init), statuses and statuses[0].container_id
    eventually("its init container ran again", again, 120)
    cluster.wait_until_settled(3, 180)
    assert notes.is_dir() and kept.keys() <= {path.name for path in notes.iterdir()}
    assert member_ids(cluster) == before
