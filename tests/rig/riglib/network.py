"""The network of an instance: one namespace is the fabric, with a bridge; each node is a namespace behind a link to that bridge."""
from .instance import api_service, fabric_address, service_range  # noqa: F401
from .run import in_net, run


def make_fabric(instance):
    netns = instance.netns("fabric")
    run("ip", "netns", "add", netns)
    for words in (["ip", "link", "set", "lo", "up"], ["ip", "link", "add", "fabric", "type", "bridge"],
                  ["ip", "address", "add", f"{fabric_address}/24", "dev", "fabric"], ["ip", "link", "set", "fabric", "up"],
                  ["sysctl", "-qw", "net.ipv4.ip_forward=1"]):
        run(*in_net(netns), *words)


def make_node(instance, node):
    """The namespace of a node, its link, and the ways to its Pods and to those of the others."""
    netns, fabric = instance.netns(node.name), instance.netns("fabric")
    run("ip", "netns", "add", netns)
    run(*in_net(fabric), "ip", "link", "add", node.name, "type", "veth", "peer", "name", "eth0", "netns", netns)
    for words in (["ip", "link", "set", node.name, "master", "fabric"], ["ip", "link", "set", node.name, "up"],
                  ["ip", "route", "replace", node.pods, "via", node.address]):
        run(*in_net(fabric), *words)
    for words in (["ip", "link", "set", "lo", "up"], ["ip", "address", "add", f"{node.address}/24", "dev", "eth0"],
                  ["ip", "link", "set", "eth0", "up"], ["ip", "route", "add", "default", "via", fabric_address],
                  ["sysctl", "-qw", "net.ipv4.ip_forward=1"]):
        run(*in_net(netns), *words)
    for other in instance.nodes:
        if other != node:
            run(*in_net(netns), "ip", "route", "add", other.pods, "via", other.address)


def remove_node(instance, node):
    run(*in_net(instance.netns("fabric")), "ip", "link", "del", node.name, check=False)
    run("ip", "netns", "del", instance.netns(node.name), check=False)


def remove_all(instance):
    prefix = instance.netns("")
    for line in run("ip", "netns", "list").stdout.splitlines():
        if line and line.split()[0].startswith(prefix):
            run("ip", "netns", "del", line.split()[0])


def cut(instance, node):
    """No packet passes between the node and the others, or the control plane."""
    run(*in_net(instance.netns("fabric")), "ip", "link", "set", node.name, "down")


def join(instance, node):
    """Undoes cut(). Routes of the fabric do not leave with the link of one node, for they are those of the bridge."""
    run(*in_net(instance.netns("fabric")), "ip", "link", "set", node.name, "up")
