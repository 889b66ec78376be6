"""An authority for the instance, the certificates of its parts, and a kubeconfig for each."""
import json

from .instance import api_port, api_service, fabric_address
from .run import run

admin = "admin"
identities = {
    admin: "/O=system:masters/CN=admin",
    "kube-controller-manager": "/CN=system:kube-controller-manager",
    "kube-scheduler": "/CN=system:kube-scheduler",
    "kube-proxy": "/CN=system:kube-proxy",
    "coredns": "/CN=coredns",
    "provisioner": "/CN=provisioner",
    "apiserver-kubelet": "/O=system:masters/CN=apiserver-kubelet",
}


def make_all(instance):
    folder = instance.pki
    folder.mkdir(mode=0o700)
    openssl(folder, "req", "-x509", *_key("ca"), "-days", "30", "-subj", f"/CN=quorate-rig-{instance.name}", "-out", "ca.crt")
    (folder / "server.ext").write_text(f"subjectAltName=IP:{fabric_address},IP:{api_service},DNS:kubernetes.default.svc\n")
    (folder / "client.ext").write_text("extendedKeyUsage=clientAuth\n")
    sign(folder, "server", "/CN=kube-apiserver", "server.ext")
    openssl(folder, "genrsa", "-out", "sa.key", "2048")
    for name, subject in identities.items():
        sign(folder, name, subject, "client.ext")
        write_kubeconfig(instance, name)
    for node in instance.nodes:
        sign(folder, node.name, f"/O=system:nodes/CN=system:node:{node.name}", "client.ext")
        write_kubeconfig(instance, node.name)


def openssl(folder, *words):
    run("openssl", *words, cwd=folder)


def _key(name):
    return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key"]


def sign(folder, name, subject, extensions):
    openssl(folder, "req", *_key(name), "-subj", subject, "-out", f"{name}.csr")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30",
            "-extfile", extensions, "-out", f"{name}.crt")


def write_kubeconfig(instance, name):
    folder = instance.pki
    (folder / f"{name}.kubeconfig").write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "rig",
        "clusters": [{"name": "rig", "cluster": {"server": f"https://{fabric_address}:{api_port}", "certificate-authority": str(folder / "ca.crt")}}],
        "users": [{"name": name, "user": {"client-certificate": str(folder / f"{name}.crt"), "client-key": str(folder / f"{name}.key")}}],
        "contexts": [{"name": "rig", "context": {"cluster": "rig", "user": name}}]}, indent=1))
