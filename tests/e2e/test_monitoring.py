"""Debian's Prometheus scrapes a run: what alerts and dashboards name is there, nothing fires in quiet, and what should fire does."""
import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request

import pytest
import yaml

from e2elib.etcd import Etcd
from e2elib.faults import root
from e2elib.waiting import Stopwatch, eventually

pytestmark = [pytest.mark.kube_only, pytest.mark.node_fault]
address = "127.0.0.1:9090"  # of the rig's own network
# Of a single member that is well: it has no peers, and nothing is waited for.
not_in_quiet = {"quorate_waits", "quorate_waits_overdue", "quorate_watches_failing", "etcd_network_active_peers", "etcd_network_known_peers"}


class Prometheus:
    """Scrapes both operators and all members of a cluster, with the labels that our monitors give them, every second."""

    def __init__(self, folder, cluster):
        operators = cluster.kube.core.list_namespaced_pod("quorate-system").items
        targets = [{"targets": [f"{p.status.pod_ip}:8080"], "labels": {"pod": p.metadata.name}} for p in operators]
        targets += [{"targets": [f"{p.status.pod_ip}:2381"], "labels": {"pod": name, "namespace": cluster.namespace, "quorate_io_cluster": cluster.name}}
                    for name, p in cluster.pods.items()]
        rules = yaml.safe_load((root / "deploy/prometheus/alerts.yaml").read_text())["spec"]
        (folder / "rules.yaml").write_text(yaml.safe_dump(rules))
        (folder / "prometheus.yaml").write_text(yaml.safe_dump({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": ["rules.yaml"],
            "scrape_configs": [{"job_name": "quorate", "honor_labels": True, "static_configs": targets}]}))
        self.log = (folder / "log").open("w")
        self.process = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data",
                                         f"--web.listen-address={address}"], stdout=self.log, stderr=self.log)

    def query(self, expression):
        with urllib.request.urlopen(f"http://{address}/api/v1/query?{urllib.parse.urlencode({'query': expression})}", timeout=10) as answer:
            return json.load(answer)["data"]["result"]

    def find(self, expression):
        """As query(); nothing while it does not answer yet."""
        try:
            return self.query(expression)
        except OSError:
            return []

    def firing(self):
        return sorted(alert["metric"]["alertname"] for alert in self.query('ALERTS{alertstate="firing"}'))

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        self.log.close()


@pytest.fixture
def prometheus(tmp_path):
    running = []

    def start(cluster):
        running.append(Prometheus(tmp_path, cluster))
        return running[-1]
    yield start
    for one in running:
        one.stop()


def named_metrics():
    text = (root / "deploy/prometheus/alerts.yaml").read_text() + "".join(path.read_text() for path in (root / "deploy/grafana").glob("*.json"))
    return set(re.findall(r"\b(?:quorate|etcd|process)_[a-z0-9_]+[a-z0-9]\b", text)) - {"quorate_io_cluster"}


@pytest.mark.skipif(not shutil.which("prometheus"), reason="Prometheus is not installed (Debian: prometheus)")
def test_alerts_are_quiet_in_quiet_and_fire_when_a_leader_is_missing(cluster, prometheus, rig):
    kube = cluster.kube
    busy = {pod.spec.node_name for pod in kube.core.list_namespaced_pod("quorate-system").items}
    node = next(name for name in sorted(kube.nodes_ready()) if name not in busy)
    cluster.create(replicas=1, nodeSelector={"kubernetes.io/hostname": node}).wait_until_settled(1)
    Etcd.through_service(cluster).put("/k", "v")
    server = prometheus(cluster)
    eventually("everything is scraped", lambda: (len(server.find("up == 1")) == 3, server.find("up")), 60)
    absent = eventually("every metric that is named is there",
                        lambda: ((missing := {m for m in named_metrics() if not server.find(m)} - not_in_quiet) == set(), missing), 60)
    assert not absent
    assert server.firing() == []
    with Stopwatch("the only member's node lost to the alert (after a minute)"):
        rig("power-cut", node)
        eventually("the alert fires", lambda: ("QuorateClusterWithoutLeader" in server.firing(), server.query("ALERTS")), 240)
