"""A place is the fabric or a node: one process (init.py) in namespaces of its own, and all that it starts."""
import json
import os
import pathlib
import subprocess
import sys

from . import cgroups
from .instance import Failed
from .run import wait_for


class Place:
    def __init__(self, instance, name):
        self.instance, self.name = instance, name
        self.folder = instance.folder / "places" / name
        self.logs = instance.logs / name
        self.cgroup = f"{instance.cgroup}/{name}"

    def start(self, programs, connect, tmpfs=(), binds=()):
        """Starts the place anew: its first process, then its network by connect(pid), then its programs."""
        if self.find_pid():
            raise Failed(f"{self.name} runs already")
        self.down.mkdir(parents=True, exist_ok=True)
        for note in self.down.iterdir():
            note.unlink()
        self.logs.mkdir(parents=True, exist_ok=True)
        connected = self.folder / "connected"
        connected.unlink(missing_ok=True)
        spec = self.folder / "spec.json"
        spec.write_text(json.dumps({"hostname": self.name, "tmpfs": list(tmpfs), "binds": [[str(a), str(b)] for a, b in binds],
                                    "programs": programs, "logs": str(self.logs), "down": str(self.down), "connected": str(connected)}, indent=1))
        cgroups.make(f"{self.cgroup}/daemons")
        command = ["unshare", "--net", "--pid", "--mount", "--uts", "--fork", "--kill-child", "--mount-proc", sys.executable,
                   str(pathlib.Path(__file__).parent / "init.py"), str(spec)]
        with (self.logs / "init.log").open("ab") as log:
            outer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                     preexec_fn=lambda: cgroups.enter(f"{self.cgroup}/daemons"))
        (self.folder / "pid").write_text(str(outer.pid))
        wait_for(f"{self.name} starts", lambda: outer.poll() is not None or self.find_pid(), 10)
        if outer.poll() is not None:
            raise Failed(f"{self.name} cannot be started: {(self.logs / 'init.log').read_text().strip()}")
        connect(self.pid())
        connected.touch()

    @property
    def down(self):
        return self.folder / "down"

    def find_pid(self):
        """The first process, as seen from outside; None if the place does not run."""
        try:
            outer = (self.folder / "pid").read_text()
            if int(outer) not in cgroups.processes(f"{self.cgroup}/daemons"):  # a number that now is somebody else's
                return None
            children = pathlib.Path(f"/proc/{outer}/task/{outer}/children").read_text().split()
            return int(children[0]) if children else None
        except (FileNotFoundError, ProcessLookupError):
            return None

    def pid(self):
        found = self.find_pid()
        if not found:
            raise Failed(f"{self.name} does not run")
        return found

    def kill(self):
        """All of it ends at once, without a word to anybody."""
        found = self.find_pid()
        if found:
            os.kill(found, 9)
        cgroups.kill(self.cgroup)

    def stop_program(self, name):
        """Ends one of its programs; it has ended when this returns, and stays away until start_program()."""
        (self.down / name).touch()
        wait_for(f"{name} of {self.name} ends", lambda: (not self.processes_of(name), self.processes_of(name)), 20)

    def processes_of(self, program):
        """Those whose command names it: by a path, or as a module of Python."""
        def command(pid):
            try:
                return pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:3]
            except (FileNotFoundError, ProcessLookupError):
                return []
        return [pid for pid in cgroups.processes(f"{self.cgroup}/daemons") if any(program in (word.split("/")[-1], word.split(".")[-1]) for word in command(pid))]

    def start_program(self, name):
        (self.down / name).unlink(missing_ok=True)

    def log_of(self, program, lines=8):
        try:
            return "\n".join((self.logs / f"{program}.log").read_text(errors="replace").rstrip().split("\n")[-lines:])
        except FileNotFoundError:
            return "(no log)"
