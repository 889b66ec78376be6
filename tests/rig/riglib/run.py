"""Runs programs, here or inside of a namespace; waits for conditions."""
import subprocess
import time

from .instance import Failed


def run(*command, check=True, **kwargs):
    """The finished program, with its output as text; Failed with what it said unless it succeeds."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, **kwargs)
    if check and done.returncode != 0:
        raise Failed(f"{' '.join(words)}: {(done.stderr or done.stdout).strip() or f'exit status {done.returncode}'}")
    return done


def in_net(pid):
    """Words before a command that run it in the network of a process. (`ip netns exec` would mount a /sys without cgroups.)"""
    return ["nsenter", f"--target={pid}", "--net"]


def in_process(pid):
    """Words before a command that run it where a process is: network, mounts, processes, host name."""
    return ["nsenter", f"--target={pid}", "--net", "--mount", "--pid", "--uts"]


def wait_for(what, condition, seconds=60, nap=0.1):
    """Polls until the condition gives something true, and returns that; says what it saw last if it never does.

    The condition may return a tuple (value, seen): `seen` is what the failure tells.
    """
    deadline, seen = time.monotonic() + seconds, None
    while True:
        value = condition()
        if isinstance(value, tuple):
            value, seen = value
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failed(f"{what}: not within {seconds} s" + (f"; seen last: {seen}" if seen is not None else ""))
        time.sleep(nap)
