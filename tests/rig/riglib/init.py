"""The first process of a place (the fabric, or a node), in network, process, mount and host-name namespaces of its own. Killing it is a power cut.

usage: init.py SPEC.json, inside of the namespaces. The spec:

  hostname   of the place
  tmpfs      folders that are empty at every start
  binds      [folder, where]: what stays over restarts
  programs   [{name, command, env}], started in this order
  connected  file: nothing is started before it is there
  logs       folder: NAME.log for each program
  down       folder: while it has a file NAME, that program does not run. (This is how programs are stopped and started from outside.)

A program that ends is started again half a second later.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

pause_before_restart = 0.5
look_every = 0.1


class Program:
    def __init__(self, spec, place):
        self.name, self.command, self.env = spec["name"], spec["command"], spec.get("env", {})
        self.log = pathlib.Path(place["logs"]) / f"{self.name}.log"
        self.stop_note = pathlib.Path(place["down"]) / self.name
        self.process, self.not_before = None, 0.0

    def step(self):
        """Brings what is one step nearer to what should be."""
        wanted = not self.stop_note.exists()
        if self.process and self.process.poll() is not None:
            self.process, self.not_before = None, time.monotonic() + pause_before_restart
        if wanted and not self.process and time.monotonic() >= self.not_before:
            self.start()
        if not wanted and self.process:
            self.process.kill()

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, **self.env}, start_new_session=True)


def call(*words):
    subprocess.run(words, check=True)


def prepare(spec):
    call("hostname", spec["hostname"])
    call("mount", "--make-rshared", "/")  # so that what kubelet mounts is seen in containers; the host is not of this peer group
    for folder in spec["tmpfs"]:
        call("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", folder)
        call("mount", "--make-shared", folder)
    for source, where in spec["binds"]:
        os.makedirs(source, exist_ok=True)
        os.makedirs(where, exist_ok=True)
        call("mount", "--bind", source, where)
        call("mount", "--make-shared", where)


def reap_orphans(known):
    """Takes note of the end of processes that lost their parents: they are this process's then."""
    while True:
        try:
            seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if seen is None or seen.si_pid in known:  # the programs' own ends are noted by Program.step
            return
        os.waitpid(seen.si_pid, os.WNOHANG)


def main():
    spec = json.loads(pathlib.Path(sys.argv[1]).read_text())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    prepare(spec)
    while not os.path.exists(spec["connected"]):
        time.sleep(0.02)
    programs = [Program(program, spec) for program in spec["programs"]]
    while True:
        for program in programs:
            program.step()
        reap_orphans({program.process.pid for program in programs if program.process})
        time.sleep(look_every)


main()
