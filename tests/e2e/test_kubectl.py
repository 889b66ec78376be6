"""What kubectl does with a member's Pod, and what people see of it: the same on a real Kubernetes and in the sandbox."""
import datetime
import json
import os
import pty
import re
import select
import subprocess
import time

import pytest


@pytest.fixture
def pod(cluster):
    cluster.create(replicas=1).wait_until_settled(1)

    def run(verb, *words, **kwargs):
        return cluster.kube.kubectl("-n", cluster.namespace, verb, "c-0", "-c", "etcd", *words, **kwargs).stdout
    run.namespace = cluster.namespace
    return run


class Person:
    """Somebody who types at a terminal of 33 lines and 99 columns."""

    def __init__(self, *words):
        self.seen = ""
        self.terminal, other = pty.openpty()
        subprocess.run(["stty", "rows", "33", "cols", "99"], stdin=other, check=True)
        self.process = subprocess.Popen(words, stdin=other, stdout=other, stderr=other, start_new_session=True)
        os.close(other)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, text, seconds=30):
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            ready, _, _ = select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{text!r} was not said within {seconds} s, but {self.seen!r}"
            try:
                self.seen += os.read(self.terminal, 4096).decode(errors="replace")
            except OSError:  # everybody else has gone
                assert text in self.seen, f"{text!r} was never said, but {self.seen!r}"
        before, self.seen = self.seen.split(text, 1)
        return before


def test_logs_say_when(pod):
    plain, stamped = pod("logs", "--tail=20"), pod("logs", "--tail=25", "--timestamps")
    lines = [line.split(" ", 1) for line in stamped.splitlines()]
    assert plain.splitlines()[0] in [text for _, text in lines]
    stamps = [stamp for stamp, _ in lines]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z", stamp) for stamp in stamps) and stamps == sorted(stamps), stamps
    heard, said = next((parse(stamp), parse(json.loads(text)["ts"])) for stamp, text in lines if text.startswith('{"level"'))
    assert abs(heard - said) < datetime.timedelta(seconds=5)
    later = pod("logs", "--timestamps", f"--since-time={stamps[5][:19]}Z").splitlines()
    assert all(line.split()[0] >= stamps[5][:19] for line in later) and set(later) >= {f"{stamp} {text}" for stamp, text in lines[5:]}
    assert len(pod("logs", "--timestamps", "--limit-bytes=40")) == 40


def parse(stamp):
    whole, _, fraction = stamp.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat(whole) + datetime.timedelta(microseconds=int(f"{fraction:0<6}"[:6]))


def test_exec_at_a_terminal(pod):
    """With etcdctl, which listens to what is typed: images of etcd have no shell."""
    with Person("kubectl", "-n", pod.namespace, "exec", "-it", "c-0", "-c", "etcd", "--", "etcdctl", "watch", "--interactive") as person:
        person.type("nonsense\n")
        person.read_until("nonsense\r\n")  # the terminal's echo
        person.read_until("Invalid command")  # said to standard error, which is the terminal, too
        person.type("\x03")
        assert person.process.wait(30) != 0, "^C interrupts it"


def test_exec_without_a_terminal(pod):
    done = subprocess.run(["kubectl", "-n", pod.namespace, "exec", "-i", "c-0", "-c", "etcd", "--", "etcdctl", "watch", "--interactive"],
                          input="nonsense\n", capture_output=True, text=True, timeout=60)
    assert "Invalid command" in done.stderr and "nonsense\n" not in done.stdout, "nobody echoes"
