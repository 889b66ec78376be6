"""What can befall a volume: emptied, put back to an older copy, filled, stalled, corrupted. Works on it where it is mounted; otherwise mounts it aside.

All of it works on the files of the volume, behind the back of whoever has them open, as a broken disk or a wrong hand would.
"""
import json
import pathlib
import shlex
import tempfile

from .disks import find_disk
from .instance import Failed
from .node import RunningNode
from .plane import kubectl
from .run import in_process, run

filler = ".filled-by-the-rig"


def stalled(instance):
    return instance.folder / "stalled"


def device_of(disk):
    """The loop device of a disk that is in use."""
    return next(iter(run("losetup", "--noheadings", "--output", "NAME", "--associated", disk).stdout.split()), None)


def find_mount(instance, disk):
    """(node, its first process, folder) where a disk is mounted; None if no node has it."""
    device = device_of(disk)
    for node in instance.nodes if device else ():
        pid = RunningNode(instance, node).find_pid()
        for line in pathlib.Path(f"/proc/{pid}/mounts").read_text().splitlines() if pid else ():
            if line.split()[0] == device:
                return node.name, pid, line.split()[1]
    return None


def resume_all(instance, volume="*", node=None):
    """Ends stalls; of one node's volumes if one is named. To be done before a node goes: a stalled disk cannot be taken away from it."""
    for note in stalled(instance).glob(volume):
        found = find_mount(instance, note.read_text())
        if found and (node is None or found[0] == node):
            run(*in_process(found[1]), "fsfreeze", "--unfreeze", found[2], check=False)
        if found is None or node is None or found[0] == node:
            note.unlink()


class Volume:
    def __init__(self, instance, claim):
        """The volume of a claim: NAMESPACE/NAME, or NAME in the default namespace."""
        self.instance = instance
        namespace, _, name = claim.rpartition("/")
        got = json.loads(kubectl(instance, "-n", namespace or "default", "get", "pvc", name, "-o", "json").stdout)
        self.name = got["spec"].get("volumeName")
        if not self.name:
            raise Failed(f"the claim {claim} has no volume")
        self.disk = find_disk(instance, self.name)
        if not self.disk:
            raise Failed(f"the disk of {self.name} is gone")

    @property
    def copies(self):
        return self.instance.folder / "copies" / self.name

    def at(self, script, *words, aside=True):
        """Runs a shell script with the volume's folder as $1, on the node that has it mounted, or here if it may be mounted aside."""
        if found := find_mount(self.instance, self.disk):
            _, pid, folder = found
            return run(*in_process(pid), "sh", "-euc", script, "sh", folder, *words).stdout
        if device := device_of(self.disk):
            raise Failed(f"{self.name} is in use by {device}, but no node has it mounted")
        if not aside:
            raise Failed(f"no node has {self.name} mounted")
        with tempfile.TemporaryDirectory() as folder:
            mounted = f"mount -t xfs -o loop {shlex.quote(str(self.disk))} \"$1\"; {script}"
            return run("unshare", "--mount", "sh", "-euc", mounted, "sh", folder, *words).stdout

    def wipe(self):
        self.at('find "$1" -mindepth 1 -delete')

    def save(self, copy):
        """Keeps a copy of what is there now. Whoever writes meanwhile may tear it: stop it first if that matters."""
        target = self.copies / copy
        target.parent.mkdir(parents=True, exist_ok=True)
        self.at('sync; rm -rf "$2"; cp -a "$1" "$2"', str(target))

    def roll_back(self, copy):
        source = self.copies / copy
        if not source.exists():
            raise Failed(f"there is no copy {copy!r} of {self.name}")
        self.at('find "$1" -mindepth 1 -delete; cp -a "$2/." "$1/"; sync', str(source))

    def fill(self, leave=0):
        """Takes all free space but `leave` bytes."""
        self.at('free=$(( $(stat -f -c "%a * %S" "$1") - $2 )); rm -f "$1/$3"; '
                'while [ $free -gt 65536 ] && ! fallocate -l $free "$1/$3" 2>/dev/null; do free=$((free - 1048576)); done; '
                'dd if=/dev/zero of="$1/$3.rest" bs=4096 2>/dev/null || true; [ "$2" = 0 ] || rm -f "$1/$3.rest"', str(leave), filler)

    def unfill(self):
        self.at('rm -f "$1/$2" "$1/$2.rest"', filler)

    def stall(self):
        """Whoever writes waits, until resume(): a disk that does not answer. Of volumes in use alone."""
        note = stalled(self.instance) / self.name
        note.parent.mkdir(exist_ok=True)
        note.write_text(str(self.disk))
        self.at('fsfreeze --freeze "$1"', aside=False)

    def resume(self):
        resume_all(self.instance, self.name)

    def corrupt(self, file, offset, length):
        """Writes noise over a part of a file: a path in the volume, or a pattern of which the first match is taken."""
        self.at('set -- "$1" "$2" "$3" "$4" $(cd "$1" && ls -d $2 | head -n1); [ -f "$1/$5" ]; '
                'dd if=/dev/urandom of="$1/$5" bs=1 seek="$3" count="$4" conv=notrunc 2>/dev/null; sync', file, str(offset), str(length))

    def files(self):
        """A line for each file: its checksum and its path."""
        return self.at('cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2')

    def size(self):
        """Bytes that the file system has in all."""
        return self.at('echo $(( $(stat -f -c "%b * %S" "$1") ))')

    def free(self):
        """Bytes that can still be written."""
        return self.at('echo $(( $(stat -f -c "%a * %S" "$1") ))')
