"""Control groups of an instance: every process of it is in one of them, so that all can be found, frozen and ended, and no others."""
import os
import pathlib
import signal
import time

from .instance import Failed


def hierarchies():
    """Where control groups are mounted: version 1 hierarchies, version 2, or both."""
    found = []
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, *_ = line.split()
        if kind in ("cgroup", "cgroup2"):
            found.append((pathlib.Path(where), kind))
    if not found:
        raise Failed("no control groups are mounted (cgroup or cgroup2)")
    return found


def make(path):
    """Makes a group in every hierarchy, with all of its parents' processors and memory."""
    for mount, kind in hierarchies():
        folder = mount
        for name in path.split("/"):
            if kind == "cgroup2":
                _delegate(folder)
            folder = folder / name
            folder.mkdir(exist_ok=True)
            if (folder / "cpuset.cpus").exists() and kind == "cgroup":
                for setting in ("cpuset.cpus", "cpuset.mems"):
                    (folder / setting).write_text((folder.parent / setting).read_text())


def weigh(path, processes):
    """Gives the group as much of the processors as so many processes outside of it have. Without that all of it counts as one."""
    for mount, kind in hierarchies():
        for file, value in (("cpu.shares", 1024 * processes), ("cpu.weight", min(10000, 100 * processes))):
            if (mount / path / file).exists() and (kind == "cgroup") == (file == "cpu.shares"):
                (mount / path / file).write_text(str(value))


def _delegate(folder):
    try:
        for controller in (folder / "cgroup.controllers").read_text().split():
            (folder / "cgroup.subtree_control").write_text(f"+{controller}")
    except OSError:  # a version 2 hierarchy beside those of version 1 has no controllers to give
        pass


def enter(path):
    """Moves this process into the group, in every hierarchy."""
    for mount, _ in hierarchies():
        (mount / path / "cgroup.procs").write_text(str(os.getpid()))


def processes(path):
    """The processes in a group and below it."""
    found = set()
    for mount, _ in hierarchies():
        for file in (mount / path).rglob("cgroup.procs"):
            try:
                found.update(int(pid) for pid in file.read_text().split())
            except OSError:  # removed, or a threaded group
                continue
    found.discard(0)  # of another process namespace
    return found


def kill(path, seconds=20):
    """Ends every process of the group with SIGKILL, and waits until none is left."""
    thaw(path)
    deadline = time.monotonic() + seconds
    while left := processes(path):
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if time.monotonic() > deadline:
            raise Failed(f"processes do not end: {sorted(left)}")
        time.sleep(0.05)


def remove(path, seconds=10):
    """Removes the group, and those below it, in every hierarchy."""
    deadline = time.monotonic() + seconds
    for mount, _ in hierarchies():
        top = mount / path
        while top.exists():
            for folder in sorted((f for f in top.rglob("*") if f.is_dir()), reverse=True):
                _remove_one(folder)
            _remove_one(top)
            if top.exists():
                if time.monotonic() > deadline:
                    raise Failed(f"the control group {top} cannot be removed")
                time.sleep(0.05)


def _remove_one(folder):
    try:
        folder.rmdir()
    except OSError:  # not empty yet
        pass


def _freezer(path):
    for mount, kind in hierarchies():
        for file, frozen, thawed in (("freezer.state", "FROZEN", "THAWED"), ("cgroup.freeze", "1", "0")):
            if (mount / path / file).exists() and (kind == "cgroup" or len(hierarchies()) == 1):
                return mount / path / file, frozen, thawed
    return None


def freeze(path):
    """Stops every process of the group, and of those below it, in mid-step."""
    found = _freezer(path)
    if not found:
        raise Failed("this kernel has no freezer for control groups")
    file, frozen, _ = found
    file.write_text(frozen)


def thaw(path):
    found = _freezer(path)
    if found:
        file, _, thawed = found
        file.write_text(thawed)
