"""The network of an instance: the fabric has a bridge; each node is behind a link to it. Networks vanish with the places that have them."""
from .instance import fabric_address, service_range
from .run import in_net, run


def _all(pid, *commands):
    for words in commands:
        run(*in_net(pid), *words)


def make_fabric(pid):
    """In the network of the fabric's first process."""
    _all(pid, ["ip", "link", "set", "lo", "up"], ["ip", "link", "add", "fabric", "type", "bridge"],
         ["ip", "address", "add", f"{fabric_address}/24", "dev", "fabric"], ["ip", "link", "set", "fabric", "up"],
         # Packets to Services must have a way before kube-proxy can give them another.
         ["ip", "route", "add", service_range, "dev", "fabric"], ["sysctl", "-qw", "net.ipv4.ip_forward=1"])


def make_node(fabric, pid, node, nodes):
    """In the network of a node's first process: its link to the fabric, and the ways to its Pods and to those of the others."""
    run(*in_net(fabric), "ip", "link", "del", node.name, check=False)  # of the node before a power cut, which the kernel may not have removed yet
    _all(fabric, ["ip", "link", "add", node.name, "type", "veth", "peer", "name", "eth0", "netns", str(pid)],
         ["ip", "link", "set", node.name, "master", "fabric"], ["ip", "link", "set", node.name, "up"],
         ["ip", "route", "replace", node.pods, "via", node.address])
    _all(pid, ["ip", "link", "set", "lo", "up"], ["ip", "address", "add", f"{node.address}/24", "dev", "eth0"],
         ["ip", "link", "set", "eth0", "up"], ["ip", "route", "add", "default", "via", fabric_address],
         ["sysctl", "-qw", "net.ipv4.ip_forward=1"],
         *(["ip", "route", "add", other.pods, "via", other.address] for other in nodes if other != node))


def cut(fabric, node):
    """No packet passes between the node and the others, or the control plane."""
    _all(fabric, ["ip", "link", "set", node.name, "down"])


def join(fabric, node):
    """Undoes cut()."""
    _all(fabric, ["ip", "link", "set", node.name, "up"])
