"""What befalls nodes and volumes: the rig's commands, and the same words for a sandbox."""
import collections
import os
import pathlib
import signal
import subprocess

Switch = collections.namedtuple("Switch", "on cut")
root = pathlib.Path(__file__).resolve().parent.parent.parent.parent


class Faults:
    """Words that hurt something, and words that undo it. Remembers whether some of them have to be undone after a test."""
    of_nodes = {"power-cut", "reboot", "partition", "stall", "stop", "drain"}

    def __init__(self):
        self.has_hurt_nodes = False

    def __call__(self, *words, check=True):
        self.has_hurt_nodes |= words[0] in self.of_nodes and words[1] != "fabric"
        return self.run(*map(str, words), check=check)


class Rig(Faults):
    """The commands of tests/rig."""

    def run(self, *words, check):
        done = subprocess.run([root / "tests/rig/rig", *words], capture_output=True, text=True, timeout=180)
        assert not check or done.returncode == 0, f"rig {' '.join(words)}: {done.stderr.strip()}"
        return done.stdout

    @property
    def folder(self):
        return pathlib.Path(os.environ.get("QUORATE_RIG_DIR", "/srv/quorate-rig")) / os.environ["QUORATE_RIG"]

    @property
    def audit_log(self):
        return self.folder / "logs/audit.log"


class SandboxRig(Faults):
    """The rig's words as far as a sandbox has them: nodes by `quorate sandbox node`, volumes and processes by the files of its folder."""

    def __init__(self, program, folder):
        super().__init__()
        self.program, self.folder = program, folder

    def run(self, verb, *rest, check):
        known = {"power-cut": self.power_cut, "reboot": self.reboot, "partition": self.partition, "heal": self.heal, "mend": self.mend,
                 "volume": self.change_volume, "kill-container": self.kill_container}
        assert verb in known, f"a sandbox cannot {verb} {' '.join(rest)}: the test is kube_only"
        known[verb](*rest)

    def power_cut(self, *nodes):
        for node in nodes:
            self.node("stop", node)

    def reboot(self, *nodes):
        for node in nodes:
            if self.switches()[node].on:
                self.node("stop", node)
            self.node("start", node)

    def partition(self, node):
        self.node("cut", node)

    def heal(self, node):
        self.node("mend", node)

    def mend(self):
        for node, switch in self.switches().items():
            if not switch.on:
                self.node("start", node)
            if switch.cut:
                self.node("mend", node)

    def node(self, verb, *node):
        done = subprocess.run([self.program, "sandbox", "node", verb, *node, "--dir", self.folder], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"sandbox node {verb} {' '.join(node)}: {done.stderr.strip()}"
        return done.stdout

    def switches(self):
        lines = [line.split() for line in self.node("list").splitlines()[1:]]
        return {name: Switch(power == "on", cable == "cut") for name, power, cable in lines}

    def change_volume(self, verb, claim, copy=""):
        """Behind the back of whoever has its files open, as a broken disk or a wrong hand would."""
        namespace, name = claim.split("/")
        found = subprocess.run(["kubectl", "-n", namespace, "get", "pvc", name, "-o", "jsonpath={.spec.volumeName}"],
                               check=True, capture_output=True, text=True).stdout
        volume = next(self.folder.glob(f"nodes/*/volumes/{found}"))
        kept = self.folder.parent / "copies" / found / copy
        scripts = {"wipe": 'find "$1" -mindepth 1 -delete',
                   "save": 'mkdir -p "$2"; cp -a "$1/." "$2/"',
                   "rollback": 'find "$1" -mindepth 1 -delete; cp -a "$2/." "$1/"'}
        assert verb in scripts, f"a sandbox cannot {verb} a volume: the test is kube_only"
        subprocess.run(["sh", "-euc", scripts[verb], "sh", volume, kept], check=True)

    def kill_container(self, node, container):
        pod, name, _ = container.split("/")
        note = self.folder / "nodes" / node / "pods" / pod / "containers" / name / "pid"
        os.kill(int(note.read_text().split()[0]), signal.SIGKILL)
