"""An application that writes all the time, and knows what was acknowledged to it."""
import threading
import time

from .etcd import Etcd, Unavailable


class Writer:
    """Writes one key after another from a thread of its own. What was acknowledged must be there at the end; what was not, may be."""

    def __init__(self, cluster, prefix="/writer/"):
        self.etcd, self.prefix = Etcd(cluster, timeout=5), prefix
        self.acknowledged, self.attempted, self.longest_gap = [], 0, 0.0
        self.problems = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join(30)

    def _run(self):
        last = time.monotonic()
        while not self.stopping.is_set():
            number = self.attempted
            self.attempted += 1
            try:
                self.etcd.put(f"{self.prefix}{number:08}", str(number))
            except Unavailable as problem:
                self.problems.append(str(problem))
                self.stopping.wait(0.05)
                continue
            now = time.monotonic()
            self.longest_gap, last = max(self.longest_gap, now - last), now
            self.acknowledged.append(number)
            self.stopping.wait(0.01)

    def check(self, at_least=1):
        """After the end: every acknowledged write is there with its value, and nothing that was never written."""
        assert not self.thread.is_alive()
        found = self.etcd.read_prefix(self.prefix)
        assert len(self.acknowledged) >= at_least, f"only {len(self.acknowledged)} writes got through; last problems: {self.problems[-3:]}"
        lost = [n for n in self.acknowledged if found.get(f"{self.prefix}{n:08}") != str(n)]
        assert not lost, f"{len(lost)} acknowledged writes are lost: {lost[:10]}"
        foreign = [k for k, v in found.items() if int(k.removeprefix(self.prefix)) >= self.attempted or str(int(k.removeprefix(self.prefix))) != v]
        assert not foreign, f"keys that nobody wrote: {foreign[:10]}"
