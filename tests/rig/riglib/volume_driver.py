"""Mounts, unmounts and grows the disks of a node: called by kubelet and the controller manager as a FlexVolume driver.

A disk is a file with an XFS file system, mounted through a loop device: its size is a real limit, and it grows while mounted. (ext4 cannot
grow without CAP_SYS_RESOURCE.) Which node has a disk is the kernel's word, not a note: a loop device on the file that is not mounted here
is mounted elsewhere, and vanishes with the node that has it.

No imports but small ones: it is started for every mount.
"""
import json
import os
import subprocess
import sys


class Refusal(Exception):
    pass


def call(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise Refusal(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def loop_of(image):
    listed = call("losetup", "--noheadings", "--output", "NAME", "--associated", image)
    return listed.split("\n")[0].strip() if listed else None


def mounts_of(device):
    with open("/proc/self/mounts") as mounts:
        return [line.split()[1] for line in mounts if line.split()[0] == device]


def mount(folder, options):
    image = options["image"]
    if not os.path.exists(image):
        raise Refusal(f"the disk {image} is gone")
    device = loop_of(image)
    if device:
        here = mounts_of(device)
        if not here:
            raise Refusal(f"the disk {os.path.basename(image)} is mounted on another node")
        call("mount", "--bind", here[0], folder)
        return
    call("mount", "-t", "xfs", "-o", "loop", image, folder)


def unmount(folder):
    with open("/proc/self/mounts") as mounts:
        if any(line.split()[1] == folder for line in mounts):
            call("umount", folder)


def grow_disk(options, size):
    image = options["image"]
    if os.path.getsize(image) < size:
        os.truncate(image, size)
    device = loop_of(image)
    if device:
        call("losetup", "--set-capacity", device)


def grow_file_system(options, folder, size):
    """Also of the disk: the controller manager says that it has grown the disk, but does not call the driver for it."""
    grow_disk(options, size)
    call("xfs_growfs", "-d", folder)


def act(words):
    match words:
        case ["init"]:
            return {"capabilities": {"attach": False, "fsGroup": True, "supportsMetrics": True, "requiresFSResize": True}}
        case ["mount", folder, options]:
            mount(folder, json.loads(options))
        case ["unmount", folder]:
            unmount(folder)
        case ["expandvolume", options, _, new, _]:
            grow_disk(json.loads(options), int(new))
        case ["expandfs", options, _, folder, new, _]:
            grow_file_system(json.loads(options), folder, int(new))
        case _:
            return None
    return {}


def main():
    try:
        done = act(sys.argv[1:])
        answer = {"status": "Success", **done} if done is not None else {"status": "Not supported"}
    except Refusal as refusal:
        answer = {"status": "Failure", "message": str(refusal)}
    print(json.dumps(answer))
    sys.exit(1 if answer["status"] == "Failure" else 0)


main()
