"""The control plane, in the fabric: etcd, kube-apiserver, controller-manager, scheduler, DNS, the provisioner, and a way to Services."""
import json
import pathlib
import sys

from . import network
from .instance import api_port, etcd_version, fabric_address, kubernetes_version, part, root, service_range
from .place import Place
from .run import in_net, run, wait_for

here = pathlib.Path(__file__).resolve().parent
volume_driver = "quorate.io/disk"
node_monitor_grace = "16s"
toleration = 20  # seconds that Pods stay on a node that is not heard, unless they say otherwise; Kubernetes' own default is 300

audit_policy = {
    "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "userGroups": ["system:serviceaccounts"]}, {"level": "None"}],
}


class Plane(Place):
    def __init__(self, instance):
        super().__init__(instance, "fabric")

    def up(self):
        self.write_configuration()
        self.start(self.programs(), network.make_fabric)
        wait_for("kube-apiserver is ready", self.is_ready, 60)

    def is_ready(self):
        return kubectl(self.instance, "get", "--raw", "/readyz", check=False).returncode == 0, self.log_of("kube-apiserver", 3)

    def write_configuration(self):
        configuration = self.instance.folder / "configuration"
        configuration.mkdir()
        (configuration / "audit.json").write_text(json.dumps(audit_policy))
        (configuration / "Corefile").write_text(
            "cluster.local in-addr.arpa:53 {\n  errors\n  ready 127.0.0.1:8181\n  cache 2\n"
            f"  kubernetes cluster.local in-addr.arpa {{\n    kubeconfig {self.instance.pki}/coredns.kubeconfig rig\n"
            "    pods insecure\n    ttl 2\n  }\n}\n")
        self.instance.resolv_conf.write_text(
            f"nameserver {fabric_address}\nsearch default.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n")
        write_volume_plugin(self.instance)

    def programs(self):
        pki = self.instance.pki
        etcd = f"http://{fabric_address}:2379"

        def program(name, *flags, env=None):
            return {"name": name, "command": [str(word) for word in flags], "env": env or {}}

        def kube(name, *flags):
            return program(name, part(f"{name}-{kubernetes_version}") / name, *flags)

        return [
            program("etcd", part(f"etcd-{etcd_version}") / "etcd", "--data-dir", self.folder / "etcd", "--name=kube", "--unsafe-no-fsync",
                    f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}", f"--listen-peer-urls=http://{fabric_address}:2380",
                    "--log-level=warn"),
            kube("kube-apiserver", f"--etcd-servers={etcd}", f"--bind-address={fabric_address}", f"--advertise-address={fabric_address}",
                 f"--secure-port={api_port}", "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
                 f"--client-ca-file={pki}/ca.crt", f"--tls-cert-file={pki}/server.crt", f"--tls-private-key-file={pki}/server.key",
                 "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={pki}/sa.key",
                 f"--service-account-signing-key-file={pki}/sa.key", f"--service-cluster-ip-range={service_range}",
                 f"--default-not-ready-toleration-seconds={toleration}", f"--default-unreachable-toleration-seconds={toleration}",
                 "--kubelet-preferred-address-types=InternalIP", f"--kubelet-client-certificate={pki}/apiserver-kubelet.crt",
                 f"--kubelet-client-key={pki}/apiserver-kubelet.key", f"--audit-policy-file={self.instance.folder}/configuration/audit.json",
                 f"--audit-log-path={self.instance.audit_log}", "--audit-log-maxsize=1000"),
            kube("kube-controller-manager", f"--kubeconfig={pki}/kube-controller-manager.kubeconfig", "--leader-elect=false",
                 f"--service-account-private-key-file={pki}/sa.key", f"--root-ca-file={pki}/ca.crt", "--use-service-account-credentials=true",
                 f"--bind-address={fabric_address}", f"--cert-dir={self.folder}/kcm", f"--node-monitor-grace-period={node_monitor_grace}",
                 f"--flex-volume-plugin-dir={self.instance.folder}/volume-plugins", "--controllers=*,-nodeipam,-cloud-node-lifecycle"),
            kube("kube-scheduler", f"--kubeconfig={pki}/kube-scheduler.kubeconfig", "--leader-elect=false",
                 f"--bind-address={fabric_address}", f"--cert-dir={self.folder}/scheduler"),
            program("coredns", part("coredns-1.14.7") / "coredns", "-conf", self.instance.folder / "configuration/Corefile"),
            kube("kube-proxy", *proxy_flags(self.instance, "fabric", fabric_address)),
            program("provisioner", sys.executable, "-m", "riglib.provisioner", self.instance.name,
                    env={"PYTHONPATH": str(here.parent), "QUORATE_RIG_DIR": str(self.instance.folder.parent), "PYTHONUNBUFFERED": "1"}),
        ]


def proxy_flags(instance, name, address):
    # Every connection to a Service gets the address of the node that it passes: without br_netfilter a Pod's answer to a neighbour on the
    # same bridge would not be translated back. Connections to Pods keep their true addresses.
    return [f"--kubeconfig={instance.pki}/kube-proxy.kubeconfig", "--proxy-mode=iptables", f"--hostname-override={name}",
            "--masquerade-all", "--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0",
            f"--bind-address={address}", f"--healthz-bind-address={address}:10256", f"--metrics-bind-address={address}:10249"]


def write_volume_plugin(instance):
    """Where kubelets and the controller manager look for the program that mounts and grows volumes."""
    vendor, driver = volume_driver.split("/")
    folder = instance.folder / "volume-plugins" / f"{vendor}~{driver}"
    folder.mkdir(parents=True)
    (folder / driver).write_text(f"#!/bin/sh\nexec {sys.executable} -S -E {here}/volume_driver.py \"$@\"\n")
    (folder / driver).chmod(0o755)


def kubectl(instance, *words, **kwargs):
    return run(*in_net(Plane(instance).pid()), part(f"kubectl-{kubernetes_version}") / "kubectl", "--kubeconfig", instance.kubeconfig,
               "--cache-dir", instance.folder / "kubectl-cache", *words, **kwargs)


def apply_base(instance):
    """Rights of DNS and of the provisioner, and the classes of volumes."""
    kubectl(instance, "apply", "-f", root / "tests/rig/base.yaml")
