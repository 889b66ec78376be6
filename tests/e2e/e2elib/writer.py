"""An application that writes all the time, and knows what was acknowledged to it."""
import threading
import time

from .etcd import Etcd, Unavailable
from .waiting import eventually


class Writer:
    """Writes one key after another from a thread of its own. What was acknowledged must be there at the end; what was not, may be."""

    def __init__(self, cluster, prefix="/writer/"):
        self.etcd, self.prefix = Etcd(cluster, timeout=5), prefix
        self.acknowledged, self.attempted, self.longest_gap = [], 0, 0.0
        self.problems = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        """Returns when writes get through: kube-proxy follows a moment after the cluster says that it is ready, and what is done next may stop it."""
        self.thread.start()
        eventually("the first write gets through", lambda: (self.acknowledged, self.problems[-3:]), 90)
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

    def go_on_for(self, seconds):
        """Returns when writes have got through for so long, in spite of what happens elsewhere. They may pause for an election."""
        begun, count = time.monotonic(), len(self.acknowledged)

        def enough():
            written, passed = len(self.acknowledged) - count, time.monotonic() - begun
            return passed >= seconds and written >= seconds, f"{written} writes in {passed:.0f} s; last problems: {self.problems[-3:]}"
        eventually(f"writes get through for {seconds} s", enough, 3 * seconds)

    def check(self, at_least=1):
        """After the end: every acknowledged write is there with its value, and nothing that was never written."""
        assert not self.thread.is_alive()
        found = self.etcd.read_prefix(self.prefix)
        assert len(self.acknowledged) >= at_least, f"only {len(self.acknowledged)} writes got through; last problems: {self.problems[-3:]}"
        lost = [n for n in self.acknowledged if found.get(f"{self.prefix}{n:08}") != str(n)]
        assert not lost, f"{len(lost)} acknowledged writes are lost: {lost[:10]}"
        foreign = [k for k, v in found.items() if int(k.removeprefix(self.prefix)) >= self.attempted or str(int(k.removeprefix(self.prefix))) != v]
        assert not foreign, f"keys that nobody wrote: {foreign[:10]}"


class Reader:
    """Asks for the newest key of a writer, over and over, through whichever member the Service leads to. What was acknowledged or read before
    a read began, that read must show, and nothing that was not begun when it ended: anything else is no linearizable history."""

    def __init__(self, cluster, writer):
        self.etcd, self.writer, self.reads, self.wrong = Etcd(cluster, timeout=5), writer, 0, []
        self.newest = -1  # the greatest number that was read
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join(30)

    def _run(self):
        while not self.stopping.wait(0.1):
            floor = max([self.newest, *self.writer.acknowledged[-1:]])
            try:
                key = self.etcd.newest_key(self.writer.prefix)
            except Unavailable:
                continue
            finally:
                self.etcd.close()  # the next one may reach another member
            number = int(key.removeprefix(self.writer.prefix)) if key else -1
            if not floor <= number < self.writer.attempted:
                self.wrong.append(f"read {number}, though {floor} was there and {self.writer.attempted} not begun")
            self.newest = max(self.newest, number)
            self.reads += 1

    def check(self, at_least=1):
        assert not self.thread.is_alive()
        assert self.reads >= at_least, f"only {self.reads} reads got through"
        assert not self.wrong, f"{len(self.wrong)} reads do not fit: {self.wrong[:5]}"
