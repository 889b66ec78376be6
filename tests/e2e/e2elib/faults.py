"""What befalls nodes and volumes: the rig's commands."""
import os
import pathlib
import subprocess

root = pathlib.Path(__file__).resolve().parent.parent.parent.parent


class Rig:
    """The rig's commands. Remembers whether some of them have to be undone after a test."""
    of_nodes = {"power-cut", "reboot", "partition", "stall", "stop", "drain"}

    def __init__(self):
        self.has_hurt_nodes = False

    def __call__(self, *words, check=True):
        self.has_hurt_nodes |= words[0] in self.of_nodes and words[1] != "fabric"
        done = subprocess.run([root / "tests/rig/rig", *map(str, words)], capture_output=True, text=True, timeout=180)
        assert not check or done.returncode == 0, f"rig {' '.join(map(str, words))}: {done.stderr.strip()}"
        return done.stdout

    @property
    def folder(self):
        return pathlib.Path(os.environ.get("QUORATE_RIG_DIR", "/srv/quorate-rig")) / os.environ["QUORATE_RIG"]

    @property
    def audit_log(self):
        return self.folder / "logs/audit.log"
