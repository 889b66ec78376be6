"""Clusters of several kinds under one fault after the other, chosen by chance, for SOAK_MINUTES (`make soak`). The same SOAK_SEED, the same choices."""
import contextlib
import os
import random
import threading
import time

import pytest

from e2elib.acts import assert_members_agree, follower, restart_etcd
from e2elib.etcd import Etcd
from e2elib.kube import Cluster
from e2elib.operators import kill_operators
from e2elib.waiting import Stopwatch, eventually
from e2elib.writer import Reader, Writer

pytestmark = [pytest.mark.soak, pytest.mark.kube_only, pytest.mark.node_fault]

declarations = {
    "secured": {"replicas": 3},
    "plain": {"replicas": 3, "tls": {"peer": {"mode": "Disabled"}, "client": {"mode": "Disabled"}}},
    "fleeting": {"replicas": 3, "storage": {"emptyDir": {}}},
}


class Soak:
    """Who is there, how many members each should have, and what befalls them. At most one member of a cluster loses its data in a round."""

    def __init__(self, kube, rig, namespace, chance):
        self.kube, self.rig, self.chance = kube, rig, chance
        self.sizes = {Cluster(kube, namespace, name).create(**spec): spec["replicas"] for name, spec in declarations.items()}

    def wait_until_settled(self):
        for cluster, size in self.sizes.items():
            cluster.wait_until_settled(size, 600)
            known, learners = Etcd.through_service(cluster).members()
            assert sorted(known) == sorted(cluster.pods) and not learners, f"{cluster.name}: {known}, learners {learners}"
            assert_members_agree(cluster)

    # ---- what happens to one cluster ----

    def lose_pod(self, cluster):
        self.kube.core.delete_namespaced_pod(self.chance.choice(sorted(cluster.pods)), cluster.namespace)

    def kill_etcd(self, cluster):
        restart_etcd(self.rig, cluster, self.chance.choice(sorted(cluster.pods)))

    def lose_data(self, cluster):
        victim = follower(cluster)
        if f"data-{victim}" in cluster.claims:
            self.rig("volume", "wipe", f"{cluster.namespace}/data-{victim}")
        restart_etcd(self.rig, cluster, victim)

    def lose_claim(self, cluster):
        victim = follower(cluster)
        if f"data-{victim}" in cluster.claims:
            self.kube.core.delete_namespaced_persistent_volume_claim(f"data-{victim}", cluster.namespace)
        self.kube.core.delete_namespaced_pod(victim, cluster.namespace)

    def resize(self, cluster):
        self.sizes[cluster] = 8 - self.sizes[cluster]  # from 3 to 5, and back
        cluster.patch(replicas=self.sizes[cluster])

    def roll(self, cluster):
        cluster.patch(options={"snapshot-count": str(self.chance.randint(5000, 9000))})

    # ---- what happens around them, for a while ----

    @contextlib.contextmanager
    def quiet(self):
        yield

    @contextlib.contextmanager
    def operators_killed(self):
        kill_operators(self.kube)
        yield

    @contextlib.contextmanager
    def program_stopped(self, place, program):
        self.rig("stop", place, program)
        yield
        self.rig("start", place, program)
        eventually("the API server answers", lambda: (self.kube.answers, None), 120)

    @contextlib.contextmanager
    def node_hurt(self, hurt, mend):
        node = self.chance.choice(sorted(self.kube.nodes_ready()))
        self.rig(hurt, node)
        yield
        self.rig(mend, node)

    @property
    def troubles(self):
        return {
            "nothing else": self.quiet,
            "operators killed": self.operators_killed,
            "API server down": lambda: self.program_stopped("fabric", "kube-apiserver"),
            "DNS down": lambda: self.program_stopped("fabric", "coredns"),
            "a kubelet down": lambda: self.program_stopped(self.chance.choice(sorted(self.kube.nodes_ready())), "kubelet"),
            "power cut": lambda: self.node_hurt("power-cut", "reboot"),
            "partition": lambda: self.node_hurt("partition", "heal"),
            "stall": lambda: self.node_hurt("stall", "resume"),
        }

    troubles_of_nodes = {"a kubelet down", "power cut", "partition", "stall"}

    @property
    def events(self):
        return {"a Pod lost": self.lose_pod, "etcd killed": self.kill_etcd, "data lost": self.lose_data, "a claim lost": self.lose_claim,
                "resized": self.resize, "rolled": self.roll}

    def round(self, number):
        """Something happens to a cluster, then something around it for a while, and in the end all are well."""
        cluster = self.chance.choice(list(self.sizes))
        event, trouble, seconds = self.chance.choice(list(self.events)), self.chance.choice(list(self.troubles)), self.chance.uniform(0, 40)
        if cluster.name == "fleeting" and trouble in self.troubles_of_nodes:
            trouble = "nothing else"  # Pods of a silent node are made anew, and this cluster's data goes with its Pods
        what = f"round {number}: {cluster.name}: {event}; {trouble} for {seconds:.0f} s"
        print(what, flush=True)
        with Stopwatch(what):
            self.events[event](cluster)
            with self.troubles[trouble]():
                threading.Event().wait(seconds)  # chance is the point here: no condition is waited for
            eventually("all nodes are ready", lambda: (set(self.kube.nodes_ready().values()) == {"True"}, self.kube.nodes_ready()), 240)
            self.wait_until_settled()
        self.kube.wait_for_operator(240)


def test_clusters_outlive_chance(installed, kube, rig, namespace):
    seed = int(os.environ.get("SOAK_SEED") or random.SystemRandom().randrange(10**6))
    minutes = float(os.environ.get("SOAK_MINUTES", "60"))
    print(f"SOAK_SEED={seed} SOAK_MINUTES={minutes:g}", flush=True)
    soak = Soak(kube, rig, namespace, random.Random(seed))
    soak.wait_until_settled()
    with contextlib.ExitStack() as running:
        writers = {cluster: running.enter_context(Writer(cluster)) for cluster in soak.sizes}
        readers = [running.enter_context(Reader(cluster, writer)) for cluster, writer in writers.items()]
        ends, number = time.monotonic() + 60 * minutes, 0
        while time.monotonic() < ends:
            number += 1
            soak.round(number)
    for cluster, writer in writers.items():
        print(f"{cluster.name}: {len(writer.acknowledged)} of {writer.attempted} writes acknowledged, longest wait {writer.longest_gap:.1f} s", flush=True)
        writer.check(at_least=100)
    for reader in readers:
        reader.check(at_least=100)
