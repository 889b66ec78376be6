"""Up and down of a whole instance."""
import os
import pathlib
import shutil
import sys
import time

from . import cgroups, certificates, images
from .instance import Failed, MachineRefuses, etcd_version, kubernetes_version, part
from .node import RunningNode
from .plane import Plane, apply_base, kubectl
from .run import in_net, run, wait_for

needed = ("containerd", "ctr", "runc", "ip", "iptables", "nsenter", "unshare", "losetup", "mkfs.xfs", "xfs_growfs", "openssl", "conntrack")


def refuse_if_it_cannot_work():
    """Says what this machine lacks. A rig that starts and then fails in the middle is worth less."""
    if os.geteuid() != 0:
        raise MachineRefuses("needs root: it makes network namespaces, mounts and control groups")
    if lacks := [program for program in needed if not shutil.which(program)]:
        raise MachineRefuses(f"not installed: {', '.join(lacks)}; scripts/bootstrap installs them")
    if not pathlib.Path("/usr/lib/cni/bridge").exists():
        raise MachineRefuses("not installed: the CNI plugins (/usr/lib/cni); scripts/bootstrap installs them")
    kinds = pathlib.Path("/proc/filesystems").read_text().split()
    if lacks := [kind for kind in ("overlay", "xfs") if kind not in kinds and run("modprobe", kind, check=False).returncode != 0]:
        raise MachineRefuses(f"this kernel has no file system {', '.join(lacks)}")
    if not pathlib.Path("/dev/loop-control").exists():
        raise MachineRefuses("this kernel has no loop devices (/dev/loop-control)")
    cgroups.hierarchies()
    for words, what in ((["unshare", "--net", "--pid", "--mount", "--uts", "--fork", "true"], "namespaces"),
                        (["unshare", "--net", "ip", "link", "add", "name", "try0", "type", "veth", "peer", "name", "try1"], "veth links"),
                        (["unshare", "--net", "ip", "link", "add", "name", "try0", "type", "bridge"], "bridges"),
                        (["unshare", "--net", "iptables", "-t", "nat", "-A", "POSTROUTING", "-j", "MASQUERADE"], "address translation")):
        done = run(*words, check=False)
        if done.returncode != 0:
            raise MachineRefuses(f"this kernel refuses {what}: {done.stderr.strip()}")


def up(instance, count, archives=()):
    """Starts an instance. One that did not come down well before is cleared first."""
    refuse_if_it_cannot_work()
    if instance.is_there:
        if Plane(instance).find_pid():
            raise Failed(f"the rig {instance.name!r} is up already")
        say(f"clearing what is left of {instance.name!r}")
        down(instance)
    begun = time.monotonic()
    instance.logs.mkdir(parents=True)
    instance.write_nodes(count)
    try:
        preloaded = [images.pause_image_file(), images.etcd_image(etcd_version), *archives]
        certificates.make_all(instance)
        cgroups.make(instance.cgroup)
        cgroups.weigh(instance.cgroup, 5 * (count + 1))
        plane = Plane(instance)
        plane.up()
        say(f"control plane ready after {time.monotonic() - begun:.1f} s")
        apply_base(instance)
        nodes = [RunningNode(instance, node) for node in instance.nodes]
        for node in nodes:
            node.boot()
        for node in nodes:
            node.wait_for_containerd()
            node.load(*preloaded)
        wait_for("all nodes are ready", lambda: all_ready(instance, count), 60, nap=0.2)
    except BaseException:
        say("it did not come up; logs: " + str(instance.logs))
        raise
    say(f"{count} nodes ready after {time.monotonic() - begun:.1f} s")


def all_ready(instance, count):
    form = ('{range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status}{" "}{.spec.taints[*].key}{"\\n"}{end}')
    seen = kubectl(instance, "get", "nodes", "-o", f"jsonpath={form}", check=False).stdout.strip()
    lines = seen.split("\n")
    return len(lines) == count and all(line.endswith("=True") or line.endswith("=True ") for line in lines), seen


def down(instance):
    """Ends everything of the instance, in whatever state it is; afterwards nothing of it is left."""
    cgroups.kill(instance.cgroup)
    for line in reversed(pathlib.Path("/proc/self/mounts").read_text().splitlines()):  # none is expected: mounts live in namespaces
        where = line.split()[1]
        if where.startswith(f"{instance.folder}/"):
            run("umount", "--lazy", where)
    wait_for("disks are free", lambda: (not loops(instance), loops(instance)), 10)
    cgroups.remove(instance.cgroup)
    if instance.folder.exists():
        shutil.rmtree(instance.folder)
    if instance.folder.parent.exists() and not any(instance.folder.parent.iterdir()):
        instance.folder.parent.rmdir()


def loops(instance):
    listed = run("losetup", "--noheadings", "--output", "NAME,BACK-FILE", "--list").stdout
    return [line for line in listed.splitlines() if f" {instance.folder}/" in line]


def left_behind(instance):
    """What of the instance is still on this machine; nothing, after down()."""
    found = [f"process {pid}" for pid in cgroups.processes(instance.cgroup)]
    found += [f"control group {mount / instance.cgroup}" for mount, _ in cgroups.hierarchies() if (mount / instance.cgroup).exists()]
    found += [f"loop device {line}" for line in loops(instance)]
    found += [f"mount {line}" for line in pathlib.Path("/proc/self/mounts").read_text().splitlines() if f"{instance.folder}/" in line]
    if instance.folder.exists():
        found.append(f"folder {instance.folder}")
    return found


def shell(instance, command):
    """Becomes a program in the fabric: the API server, Pods and Services are reached by their names."""
    plane = Plane(instance)
    tools = [str(part(f"kubectl-{kubernetes_version}")), str(part(f"etcd-{etcd_version}"))]
    environment = {**os.environ, "KUBECONFIG": str(instance.kubeconfig), "QUORATE_RIG": instance.name,
                   "PATH": ":".join(tools + [os.environ["PATH"]]), "PS1": f"(rig {instance.name}) \\w# "}
    enter = [*in_net(plane.pid()), "unshare", "--mount", "sh", "-c",
             'mount --bind "$0" "$(readlink -f /etc/resolv.conf)" && exec "$@"', str(instance.resolv_conf)]
    os.execvpe(enter[0], enter + (command or ["bash", "--norc"]), environment)


def say(text):
    print(f"rig: {text}", file=sys.stderr, flush=True)


def drain(instance, node, seconds):
    done = kubectl(instance, "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", f"--timeout={seconds}s", check=False)
    sys.stdout.write(done.stdout)
    if done.returncode != 0:
        raise Failed(f"drain {node}: {done.stderr.strip()}")
