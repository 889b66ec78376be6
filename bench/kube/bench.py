"""Measures an operator on the rig and prints its figures beside those of others. Run by scripts/bench-kube, in the rig's network.

  bench.py RECIPE [--many 20] [--runs 3] [--only weight,create,...] [--json FILE]

A figure that did not come about within its time is printed as "never".
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
from recipe import Cluster, Never, get, kubectl, until  # noqa: E402

rig_folder = pathlib.Path(os.environ.get("QUORATE_RIG_DIR", "/srv/quorate-rig")) / os.environ["QUORATE_RIG"]
ticks = os.sysconf("SC_CLK_TCK")


def rig(*words):
    subprocess.run([here.parent.parent / "tests/rig/rig", *words], check=True)


class Operator:
    """The operator under test as the machine and the API server see it."""

    def __init__(self, recipe):
        self.recipe, words = recipe, recipe["operator"]
        self.namespace, self.selector = words["namespace"], words["selector"]
        self.user = f"system:serviceaccount:{self.namespace}:{words['account']}"

    def install(self):
        kubectl(*self.recipe["install"])
        kubectl("-n", self.namespace, "rollout", "status", "deployment", self.recipe["operator"]["deployment"], "--timeout=180s")

    def processes(self):
        """Of all its replicas: found by their containers' control groups."""
        containers = [s["containerID"].split("//")[1] for pod in get("-n", self.namespace, "pods", "-l", self.selector)["items"]
                      for s in pod["status"].get("containerStatuses", []) if "containerID" in s]
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if any(container in (path / "cgroup").read_text() for container in containers):
                    found.append(path)
            except OSError:  # ended meanwhile
                continue
        return found

    def largest_rss_mib(self):
        """Of the replica that holds most: the one that leads."""
        sizes = [int(line.split()[1]) for path in self.processes() for line in (path / "status").read_text().splitlines() if line.startswith("VmRSS")]
        return max(sizes) / 1024

    def cpu_seconds(self):
        return sum(sum(map(int, (path / "stat").read_text().rpartition(")")[2].split()[11:13])) for path in self.processes()) / ticks

    def requests(self, since):
        """(requests, writes) noted since an offset of the audit log, leases aside; and the offset of its end."""
        with (rig_folder / "logs/audit.log").open() as log:
            log.seek(since)
            seen = [e for e in map(json.loads, log) if e["user"]["username"] == self.user and e.get("objectRef", {}).get("resource") != "leases"]
            return len(seen), len([e for e in seen if e["verb"] not in ("get", "list", "watch")]), log.tell()


class Bench:
    def __init__(self, recipe, args):
        self.recipe, self.args, self.operator, self.figures, self.notes = recipe, args, Operator(recipe), {}, []

    def note(self, name, values):
        self.figures[name] = statistics.median(values) if values else None
        print(f"  {name}: {', '.join(f'{v:.2f}' for v in values) or 'never'}", flush=True)

    def timed(self, name, what, look, seconds):
        try:
            return [until(what, look, seconds)]
        except Never as never:
            self.notes.append(f"{name}: {never}")
            return []

    def namespace(self, name):
        kubectl("create", "namespace", name)
        return name

    def new_cluster(self, namespace, name="c", replicas=3):
        cluster = Cluster(self.recipe, namespace, name, replicas)
        cluster.apply()
        until("a cluster to measure", lambda: cluster.is_whole() and cluster.is_written_to(), 180)
        return cluster

    def create(self):
        times, requests, writes = [], [], []
        for run in range(self.args.runs):
            cluster = Cluster(self.recipe, self.namespace(f"create-{run}"), "c", 3)
            _, _, offset = self.operator.requests(0)
            begun = time.monotonic()
            cluster.apply()
            if self.timed("create", "three ready and a write", lambda: len(cluster.ready_pods()) == 3 and cluster.is_written_to(), 180):
                times.append(time.monotonic() - begun)
            self.settle()
            asked, written, _ = self.operator.requests(offset)
            requests.append(asked)
            writes.append(written)
            kubectl("delete", "namespace", cluster.namespace)
        self.note("create_seconds", times)
        self.note("create_requests", requests)
        self.note("create_writes", writes)

    def scale(self):
        cluster, out, into = self.new_cluster(self.namespace("scale")), [], []
        for _ in range(2):
            for size, times in ((5, out), (3, into)):
                cluster.scale(size)
                times += self.timed("scale", f"{size} voters", cluster.is_whole, 240)
        self.note("scale_out_seconds", out)
        self.note("scale_in_seconds", into)
        kubectl("delete", "namespace", cluster.namespace)

    def losses(self):
        cluster = self.new_cluster(self.namespace("loss"))
        pod = cluster.ready_pods()[0]
        uid, member = cluster.pods()[pod]["metadata"]["uid"], cluster.id_of(pod)
        kubectl("-n", cluster.namespace, "delete", "pod", pod, "--wait=false")
        self.note("pod_loss_seconds", self.timed("pod loss", "the same member is ready", lambda: (
            pod in cluster.ready_pods() and cluster.pods()[pod]["metadata"]["uid"] != uid and cluster.id_of(pod) == member), 120))
        self.settle()
        pod = cluster.ready_pods()[0]
        member = cluster.id_of(pod)
        kubectl("-n", cluster.namespace, "delete", "pvc", cluster.fill("claim", pod=pod), "--wait=false")
        kubectl("-n", cluster.namespace, "delete", "pod", pod, "--wait=false")
        self.note("data_loss_seconds", self.timed("data loss", "three voters, the lost one not among them",
                                                  lambda: member not in cluster.voters().values() and cluster.is_whole(), 240))
        self.settle()
        self.lose_node(cluster)
        kubectl("delete", "namespace", cluster.namespace, "--wait=false")

    def lose_node(self, cluster):
        operators = {p["spec"]["nodeName"] for p in get("-n", self.operator.namespace, "pods", "-l", self.operator.selector)["items"]}
        pods = cluster.pods()
        pod = min(cluster.ready_pods(), key=lambda name: pods[name]["spec"]["nodeName"] in operators)
        member, node = cluster.id_of(pod), pods[pod]["spec"]["nodeName"]
        rig("power-cut", node)
        self.note("node_loss_seconds", self.timed("node loss", "three voters that run, the lost one not among them",
                                                  lambda: member not in cluster.voters().values() and len(cluster.voters()) == 3
                                                  and sum(cluster.id_of(name) is not None for name in cluster.voters()) == 3, 400))
        rig("reboot", node)
        until("the node is back", lambda: all(any(c["type"] == "Ready" and c["status"] == "True" for c in n["status"]["conditions"])
                                              for n in get("nodes")["items"]), 120)

    def weight(self):
        self.settle()
        self.note("rss_0_mib", [self.operator.largest_rss_mib()])
        one = self.new_cluster(self.namespace("weight"))
        self.settle()
        self.note("rss_1_mib", [self.operator.largest_rss_mib()])
        one.delete()
        begun = time.monotonic()
        many = [Cluster(self.recipe, "weight", f"m{number}", 1) for number in range(self.args.many)]
        for cluster in many:
            cluster.apply()
        self.timed("many", "all written to", lambda: all(cluster.is_written_to() for cluster in many), 300)
        self.note("many_seconds", [time.monotonic() - begun])
        self.settle()
        self.note("rss_many_mib", [self.operator.largest_rss_mib()])
        _, _, offset = self.operator.requests(0)
        cpu, begun = self.operator.cpu_seconds(), time.monotonic()
        time.sleep(60)  # an idle minute is what is measured
        self.note("cpu_idle_seconds", [(self.operator.cpu_seconds() - cpu) * 60 / (time.monotonic() - begun)])
        asked, written, _ = self.operator.requests(offset)
        self.note("idle_writes", [written])
        print(f"  requests in the idle minute: {asked}", flush=True)
        kubectl("delete", "namespace", "weight", "--wait=false")

    def settle(self, seconds=60):
        """Until the operator has written nothing for five seconds."""
        _, _, offset = self.operator.requests(0)
        last, begun = time.monotonic(), time.monotonic()
        while time.monotonic() - last < 5 and time.monotonic() - begun < seconds:
            _, written, offset = self.operator.requests(offset)
            if written:
                last = time.monotonic()
            time.sleep(0.5)

    def report(self):
        peers = json.loads((here / "peers.json").read_text())
        names = list(peers["peers"])
        print(f"\nothers: {'; '.join(f'{key} = {what}' for key, what in peers['peers'].items())}\n        {peers['source']}\n")
        print(f"{'figure':20} {self.recipe['name']:>10} " + " ".join(f"{n:>9} {'ratio':>7}" for n in names) + f" {'budget':>8}  what")
        for name, row in peers["figures"].items():
            if name not in self.figures:
                continue
            value = self.figures[name]
            if row.get("clusters", self.args.many) != self.args.many:
                print(f"{name:20} {number(value, row['unit']):>10}  with {self.args.many} clusters: not what others were measured with")
                continue
            cells = [f"{number(row[n], row['unit']):>9} {ratio(row[n], value):>7}" for n in names]
            print(f"{name:20} {number(value, row['unit']):>10} {' '.join(cells)} {number(row['at_most'], row['unit'], '-'):>8}  {row['what']}")
        for note in self.notes:
            print(f"never: {note}")


def number(value, unit, absent="never"):
    return absent if value is None else f"{value:.3g} {unit}".strip()


def ratio(peer, own):
    """How many times as much the other one takes."""
    if peer is None or own is None:
        return "-"
    return f"{peer / own:.1f}x" if own else ("same" if peer == own else "inf")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=pathlib.Path)
    parser.add_argument("--many", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="weight,create,scale,losses")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    bench = Bench(json.loads(args.recipe.read_text()), args)
    bench.operator.install()
    for part in args.only.split(","):
        print(part, flush=True)
        getattr(bench, part)()
    bench.report()
    if args.json:
        args.json.write_text(json.dumps(bench.figures, indent=1) + "\n")


main()
