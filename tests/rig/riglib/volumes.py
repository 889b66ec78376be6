"""What can befall a volume: emptied, put back to an older copy, filled, corrupted. Works on it where it is mounted; otherwise mounts it aside.

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

    def at(self, script, *words):
        """Runs a shell script with the volume's folder as $1, on the node that has it mounted, or here."""
        device = run("losetup", "--noheadings", "--output", "NAME", "--associated", self.disk).stdout.split()
        for node in self.instance.nodes if device else ():
            pid = RunningNode(self.instance, node).find_pid()
            mounts = pathlib.Path(f"/proc/{pid}/mounts").read_text() if pid else ""
            for line in mounts.splitlines():
                if line.split()[0] == device[0]:
                    return run(*in_process(pid), "sh", "-euc", script, "sh", line.split()[1], *words).stdout
        if device:
            raise Failed(f"{self.name} is in use by {device[0]}, but no node has it mounted")
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
