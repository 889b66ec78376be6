"""The hands on Kubernetes: the official Python client, and kubectl."""
import json
import subprocess

from kubernetes import client, config
from kubernetes.client.rest import ApiException

from .waiting import eventually

group, version = "quorate.io", "v1alpha1"


class Kube:
    def __init__(self):
        config.load_kube_config()
        self.core, self.custom = client.CoreV1Api(), client.CustomObjectsApi()
        self.apps, self.policy = client.AppsV1Api(), client.PolicyV1Api()

    @staticmethod
    def kubectl(*words, check=True, **kwargs):
        done = subprocess.run(["kubectl", *map(str, words)], capture_output=True, text=True, timeout=180, **kwargs)
        assert not check or done.returncode == 0, f"kubectl {' '.join(map(str, words))}: {done.stderr.strip()}"
        return done

    def make_namespace(self, name):
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        self.core.create_namespace({"metadata": {"name": name, "labels": labels}})
        # Controllers look again up to a minute after the API server was away for one.
        eventually("the namespace has its service account", lambda: (self.find(self.core.read_namespaced_service_account, "default", name), None), 150)

    @staticmethod
    def find(read, *words):
        """The object, or None."""
        try:
            return read(*words)
        except ApiException as refusal:
            if refusal.status == 404:
                return None
            raise

    def wait_for_operator(self, seconds=90):
        def look():
            found = self.apps.read_namespaced_deployment("quorate-operator", "quorate-system").status
            return found.ready_replicas == found.replicas == 2 and not found.unavailable_replicas, found.to_dict()
        eventually("both operators are ready", look, seconds)

    @property
    def answers(self):
        return self.kubectl("get", "--raw", "/readyz", "--request-timeout=2s", check=False).returncode == 0

    def nodes_ready(self):
        out = {}
        for node in self.core.list_node().items:
            out[node.metadata.name] = next((c.status for c in node.status.conditions or [] if c.type == "Ready"), "Unknown")
        return out


class Cluster:
    """One EtcdCluster and all that belongs to it."""

    def __init__(self, kube, namespace, name="c"):
        self.kube, self.namespace, self.name = kube, namespace, name

    # ---- what is asked for ----

    def create(self, **spec):
        body = {"apiVersion": f"{group}/{version}", "kind": "EtcdCluster", "metadata": {"name": self.name}, "spec": spec}
        self.kube.custom.create_namespaced_custom_object(group, version, self.namespace, "etcdclusters", body)
        return self

    def patch(self, **spec):
        self.kube.custom.patch_namespaced_custom_object(group, version, self.namespace, "etcdclusters", self.name, {"spec": spec})

    def delete(self):
        self.kube.custom.delete_namespaced_custom_object(group, version, self.namespace, "etcdclusters", self.name)

    # ---- what is there ----

    @property
    def object(self):
        return self.kube.find(self.kube.custom.get_namespaced_custom_object, group, version, self.namespace, "etcdclusters", self.name)

    @property
    def status(self):
        return (self.object or {}).get("status", {})

    def condition(self, kind):
        return next((c for c in self.status.get("conditions", []) if c["type"] == kind), None)

    @property
    def selector(self):
        return f"quorate.io/cluster={self.name}"

    @property
    def pods(self):
        return {p.metadata.name: p for p in self.kube.core.list_namespaced_pod(self.namespace, label_selector=self.selector).items}

    @property
    def claims(self):
        found = self.kube.core.list_namespaced_persistent_volume_claim(self.namespace, label_selector=self.selector)
        return {c.metadata.name: c for c in found.items}

    @property
    def records(self):
        found = self.kube.custom.list_namespaced_custom_object(group, version, self.namespace, "etcdmembers", label_selector=self.selector)
        return {r["metadata"]["name"]: r for r in found["items"]}

    def node_of(self, pod):
        return self.pods[pod].spec.node_name

    @property
    def leader(self):
        return self.status.get("leader")

    def describe(self):
        """What a failure should tell."""
        status = self.status
        keep = {key: status.get(key) for key in ("phase", "ready", "leader", "waiting", "intent", "clusterID")}
        pods = {name: pod_line(pod) for name, pod in self.pods.items()}
        return json.dumps({"status": keep, "pods": pods, "records": sorted(self.records), "claims": sorted(self.claims)}, indent=1)

    # ---- what is waited for ----

    def is_settled(self, replicas):
        """Ready as declared, at the newest generation, with so many members, none of which is on its way out."""
        found = self.object or {}
        status = found.get("status", {})
        ready = next((c for c in status.get("conditions", []) if c["type"] == "Ready"), {})
        if (ready.get("status") != "True" or status.get("observedGeneration") != found["metadata"]["generation"]
                or status.get("readyReplicas") != replicas):
            return False, self.describe
        staying = [pod for pod in self.pods.values() if not pod.metadata.deletion_timestamp]  # a dead node's Pods are never quite gone
        return len(staying) == len(self.records) == replicas, self.describe

    def wait_until_settled(self, replicas, seconds=120):
        eventually(f"{self.namespace}/{self.name} has {replicas} ready members", lambda: self.is_settled(replicas), seconds)
        return self

    def wait_until_gone(self, seconds=90):
        eventually(f"{self.name}: Pods and records are gone", lambda: (not self.pods and not self.records, self.describe), seconds)


def pod_line(pod):
    containers = pod.status.container_statuses or []
    state = "; ".join(str({k: v for k, v in (c.state.to_dict() if c.state else {}).items() if v}) + f" restarts={c.restart_count}" for c in containers)
    return f"{pod.status.phase} on {pod.spec.node_name}, deleting={bool(pod.metadata.deletion_timestamp)}, {state}"
