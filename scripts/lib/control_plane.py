"""A real Kubernetes control plane on loopback: etcd, kube-apiserver, controller-manager, scheduler. Ended by pid."""
import ctypes
import functools
import json
import os
import pathlib
import signal
import subprocess
import time

root = pathlib.Path(__file__).resolve().parent.parent.parent


class Failed(Exception):
    """Something did not come about; the message says what, and where its log is."""


@functools.cache
def part(name):
    """The folder of a real part that tests/parts/build has made."""
    return pathlib.Path(subprocess.run([root / "tests/parts/build", "--path", name], check=True, capture_output=True, text=True).stdout.strip())


def wait_for(what, condition, seconds=60, nap=0.1):
    """Polls until the condition gives something true; says what it saw last if it never does."""
    deadline, seen = time.monotonic() + seconds, None
    while time.monotonic() < deadline:
        seen = condition()
        if seen:
            return seen
        time.sleep(nap)
    raise Failed(f"{what}: not within {seconds} s")


def die_with_parent():
    """For the child, before it becomes the program: killed when the thread that started it ends, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Processes:
    """Starts programs in their own process groups, with a log each, and ends them in reverse order. None outlives this process."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "logs").mkdir(parents=True, exist_ok=True)
        self.running = []

    def start(self, name, *command, env=None):
        log = self.folder / "logs" / f"{name}.log"
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log.open("ab"), stderr=subprocess.STDOUT,
                                   env={**os.environ, **(env or {})}, start_new_session=True, preexec_fn=die_with_parent)
        self.running.append((name, process))
        return process

    def check(self):
        for name, process in self.running:
            if process.poll() is not None:
                raise Failed(f"{name} ended with {process.returncode}; the end of its log:\n{self.tail(name)}")

    def tail(self, name, lines=5):
        log = (self.folder / "logs" / f"{name}.log").read_text(errors="replace")
        return "\n".join(log.rstrip().split("\n")[-lines:])

    def end(self):
        for name, process in reversed(self.running):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        self.running = []


class ControlPlane:
    def __init__(self, folder, processes, address="127.0.0.1", port=6443):
        self.folder, self.processes, self.address, self.port = pathlib.Path(folder), processes, address, port
        self.url = f"https://{address}:{port}"
        self.kubeconfig = self.folder / "admin.kubeconfig"
        self.kubectl_program = part("kubectl-1.34.4") / "kubectl"

    def openssl(self, *words, **kwargs):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, cwd=self.folder, **kwargs)

    def make_certificates(self):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", "/CN=demo-ca",
                     "-keyout", "ca.key", "-out", "ca.crt")
        (self.folder / "server.ext").write_text(f"subjectAltName=IP:{self.address},IP:198.19.0.1,DNS:kubernetes,DNS:kubernetes.default.svc\n")
        (self.folder / "client.ext").write_text("extendedKeyUsage=clientAuth\n")
        for name, subject, extension in [("server", "/CN=kube-apiserver", "server.ext"), ("admin", "/O=system:masters/CN=admin", "client.ext"),
                                         ("kcm", "/CN=system:kube-controller-manager", "client.ext"),
                                         ("scheduler", "/CN=system:kube-scheduler", "client.ext")]:
            self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject, "-keyout", f"{name}.key",
                         "-out", f"{name}.csr")
            self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30",
                         "-extfile", extension, "-out", f"{name}.crt")
        self.openssl("genrsa", "-out", "sa.key", "2048")
        for key in self.folder.glob("*.key"):
            key.chmod(0o600)

    def write_kubeconfig(self, name, user):
        path = self.folder / f"{name}.kubeconfig"
        path.touch(mode=0o600)
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "demo",
            "clusters": [{"name": "demo", "cluster": {"server": self.url, "certificate-authority": str(self.folder / "ca.crt")}}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": "demo", "context": {"cluster": "demo", "user": name}}]}))
        return path

    def with_certificate(self, name):
        return self.write_kubeconfig(name, {"client-certificate": str(self.folder / f"{name}.crt"), "client-key": str(self.folder / f"{name}.key")})

    def start(self, etcd_version="3.6.16"):
        self.make_certificates()
        for name in ("admin", "kcm", "scheduler"):
            self.with_certificate(name)
        etcd_url = f"http://{self.address}:{self.port + 1}"
        self.processes.start("kube-etcd", part(f"etcd-{etcd_version}") / "etcd", "--data-dir", self.folder / "kube-etcd", "--name", "kube",
                             "--listen-client-urls", etcd_url, "--advertise-client-urls", etcd_url,
                             "--listen-peer-urls", f"http://{self.address}:{self.port + 2}", "--unsafe-no-fsync", "--logger=zap", "--log-level=warn")
        self.processes.start(
            "kube-apiserver", part("kube-apiserver-1.34.4") / "kube-apiserver", f"--etcd-servers={etcd_url}", f"--bind-address={self.address}",
            f"--advertise-address={self.address}", f"--secure-port={self.port}", "--authorization-mode=RBAC",
            f"--client-ca-file={self.folder}/ca.crt", f"--tls-cert-file={self.folder}/server.crt", f"--tls-private-key-file={self.folder}/server.key",
            "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={self.folder}/sa.key",
            f"--service-account-signing-key-file={self.folder}/sa.key", "--service-cluster-ip-range=198.19.0.0/16",
            "--endpoint-reconciler-type=none", f"--cert-dir={self.folder}")
        wait_for("kube-apiserver is ready", self.is_ready)
        self.processes.start("kube-controller-manager", part("kube-controller-manager-1.34.4") / "kube-controller-manager",
                             f"--kubeconfig={self.folder}/kcm.kubeconfig", f"--service-account-private-key-file={self.folder}/sa.key",
                             f"--root-ca-file={self.folder}/ca.crt", "--use-service-account-credentials=true", "--leader-elect=false",
                             f"--bind-address={self.address}", f"--secure-port={self.port + 3}", f"--cert-dir={self.folder}",
                             "--controllers=*,-nodeipam,-cloud-node-lifecycle")
        self.processes.start("kube-scheduler", part("kube-scheduler-1.34.4") / "kube-scheduler", f"--kubeconfig={self.folder}/scheduler.kubeconfig",
                             "--leader-elect=false", f"--bind-address={self.address}", f"--secure-port={self.port + 4}", f"--cert-dir={self.folder}")

    def is_ready(self):
        self.processes.check()
        return self.kubectl("get", "--raw", "/readyz", check=False).returncode == 0

    def kubectl(self, *words, check=True, **kwargs):
        done = subprocess.run([str(self.kubectl_program), "--kubeconfig", str(self.kubeconfig), "--cache-dir", str(self.folder / "kubectl-cache"),
                               *map(str, words)], capture_output=True, text=True, **kwargs)
        if check and done.returncode != 0:
            raise Failed(f"kubectl {' '.join(map(str, words))}: {done.stderr.strip()}")
        return done

    def get(self, *words):
        """The object, or None."""
        done = self.kubectl("get", *words, "-o", "json", check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def operator_kubeconfig(self):
        """Under the operator's own ServiceAccount, with exactly the rights that `quorate manifests` grants."""
        token = self.kubectl("-n", "quorate-system", "create", "token", "quorate-operator", "--duration=8h").stdout.strip()
        return self.write_kubeconfig("operator", {"token": token})
