"""A node: containerd, kubelet and kube-proxy in namespaces of their own, with disks that stay when it is off."""
import json
import shutil

from . import network
from .instance import fabric_address, kubernetes_version, part
from .place import Place
from .plane import Plane, proxy_flags
from .run import in_process, run, wait_for

pause_image = "localhost/pause:rig"


class RunningNode(Place):
    def __init__(self, instance, node):
        super().__init__(instance, node.name)
        self.node = node

    def boot(self):
        """First start, or a start after a power cut: what containers were running is gone, what they wrote to disks is there."""
        self.write_configuration()
        kubelet, containerd, logs = (self.instance.node_folder(self.name) / name for name in ("kubelet", "containerd", "pod-logs"))
        fabric = Plane(self.instance).pid()
        self.start(self.programs(), lambda pid: network.make_node(fabric, pid, self.node, self.instance.nodes),
                   tmpfs=["/run", "/var/lib", "/var/log"],
                   binds=[(kubelet, "/var/lib/kubelet"), (containerd, "/var/lib/containerd"), (logs, "/var/log/pods")])

    @property
    def configuration(self):
        return self.folder / "configuration"

    def write_configuration(self):
        shutil.rmtree(self.configuration, ignore_errors=True)
        (self.configuration / "cni").mkdir(parents=True)
        (self.configuration / "resolv.conf").touch()
        (self.configuration / "containerd.toml").write_text(CONTAINERD.format(folder=self.configuration, pause=pause_image))
        (self.configuration / "cni/10-rig.conflist").write_text(json.dumps(self.pod_network(), indent=1))
        (self.configuration / "kubelet.json").write_text(json.dumps(self.kubelet_configuration(), indent=1))

    def pod_network(self):
        return {"cniVersion": "0.4.0", "name": "rig", "plugins": [
            {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": False, "hairpinMode": True,
             "ipam": {"type": "host-local", "ranges": [[{"subnet": self.node.pods}]], "routes": [{"dst": "0.0.0.0/0"}]}},
            {"type": "portmap", "capabilities": {"portMappings": True}}]}

    def kubelet_configuration(self):
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "address": self.node.address, "healthzBindAddress": "127.0.0.1",
            "authentication": {"anonymous": {"enabled": False}, "x509": {"clientCAFile": str(self.instance.pki / "ca.crt")}},
            "cgroupDriver": "cgroupfs", "cgroupRoot": f"/{self.cgroup}", "failSwapOn": False, "localStorageCapacityIsolation": False,
            "clusterDNS": [fabric_address], "clusterDomain": "cluster.local", "resolvConf": str(self.configuration / "resolv.conf"),
            "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock", "serializeImagePulls": False,
            "nodeStatusUpdateFrequency": "4s", "nodeLeaseDurationSeconds": 16,
            "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            "imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99,
            "volumePluginDir": str(self.instance.folder / "volume-plugins"),
        }

    def programs(self):
        def program(name, *command):
            return {"name": name, "command": [str(word) for word in command]}

        return [
            program("containerd", "containerd", "--config", self.configuration / "containerd.toml"),
            program("kubelet", part(f"kubelet-{kubernetes_version}") / "kubelet", f"--config={self.configuration}/kubelet.json",
                    f"--kubeconfig={self.instance.pki}/{self.name}.kubeconfig", f"--hostname-override={self.name}",
                    f"--node-ip={self.node.address}"),
            program("kube-proxy", part(f"kube-proxy-{kubernetes_version}") / "kube-proxy",
                    *proxy_flags(self.instance, self.name, self.node.address)),
        ]

    def inside(self, *command, **kwargs):
        """Runs a program on the node."""
        return run(*in_process(self.pid()), *command, **kwargs)

    def ctr(self, *words, **kwargs):
        return self.inside("ctr", "--namespace", "k8s.io", *words, **kwargs)

    def wait_for_containerd(self):
        wait_for(f"containerd of {self.name} answers",
                 lambda: (self.ctr("version", check=False).returncode == 0, self.log_of("containerd")), 30)

    def load(self, *archives):
        for archive in archives:
            self.ctr("images", "import", archive)


CONTAINERD = """version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
oom_score = 0

[grpc]
address = "/run/containerd/containerd.sock"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{pause}"
restrict_oom_score_adj = true
enable_selinux = false

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "{folder}/cni"

[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
"""
