"""Names, addresses and folders of one running rig. Two instances share nothing but the parts' cache."""
import dataclasses
import functools
import json
import os
import pathlib
import re
import subprocess

root = pathlib.Path(__file__).resolve().parent.parent.parent.parent
kubernetes_version = "1.34.4"
etcd_version = "3.6.16"

# Addresses for benchmarks of networks (RFC 2544): nothing outside answers to them. Every instance has namespaces of its own, so all
# instances use the same ones.
fabric_address = "198.18.255.1"
api_port = 6443
service_range = "198.19.0.0/16"
api_service = "198.19.0.1"


class Failed(Exception):
    """Something did not come about; the message says what."""


class MachineRefuses(Failed):
    """This machine lacks, or refuses, something that is needed."""


@functools.cache
def part(name):
    """The folder of a real part that tests/parts/build has made."""
    found = subprocess.run([root / "tests/parts/build", "--path", name], capture_output=True, text=True)
    if found.returncode != 0:
        raise Failed(found.stderr.strip())
    return pathlib.Path(found.stdout.strip())


@dataclasses.dataclass(frozen=True)
class Node:
    name: str
    number: int

    @property
    def address(self):
        return f"198.18.255.{10 + self.number}"

    @property
    def pods(self):
        return f"198.18.{self.number}.0/24"


@dataclasses.dataclass(frozen=True)
class Instance:
    name: str

    @property
    def folder(self):
        # Not below /run, /var/lib or /var/log: nodes have such folders of their own.
        return pathlib.Path(os.environ.get("QUORATE_RIG_DIR", "/srv/quorate-rig")) / self.name

    @property
    def cgroup(self):
        return f"quorate-rig-{self.name}"

    @property
    def logs(self):
        return self.folder / "logs"

    @property
    def pki(self):
        return self.folder / "pki"

    @property
    def kubeconfig(self):
        return self.pki / "admin.kubeconfig"

    @property
    def resolv_conf(self):
        return self.folder / "resolv.conf"

    @property
    def audit_log(self):
        return self.logs / "audit.log"

    def node_folder(self, node):
        return self.folder / "nodes" / node

    @property
    def nodes(self):
        try:
            names = json.loads((self.folder / "nodes.json").read_text())
        except FileNotFoundError:
            return []
        return [Node(name, number) for number, name in enumerate(names, 1)]

    def node(self, name):
        for node in self.nodes:
            if node.name == name:
                return node
        raise Failed(f"there is no node {name!r}; nodes: {', '.join(n.name for n in self.nodes) or 'none'}")

    def write_nodes(self, count):
        (self.folder / "nodes.json").write_text(json.dumps([f"node-{number}" for number in range(1, count + 1)]))

    @property
    def is_there(self):
        return self.folder.exists()


def find(name):
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?", name):
        raise Failed(f"{name!r} is no name for a rig: up to 20 lower-case letters, digits and dashes")
    return Instance(name)
