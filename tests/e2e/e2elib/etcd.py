"""The hands on etcd: as an application has them, with the Secret that an application mounts, through the Service by its name."""
import base64
import http.client
import json
import pathlib
import ssl
import subprocess
import tempfile

from kubernetes.client.rest import ApiException
from urllib3.exceptions import HTTPError

from .waiting import eventually


class Unavailable(Exception):
    """No answer, or one that is no success: whether a write took place is not known."""


def encode(text):
    return base64.b64encode(text.encode()).decode()


def decode(text):
    return base64.b64decode(text).decode()


class Etcd:
    """etcd's JSON gateway, over TLS unless the cluster is declared plain. One connection, made anew after any failure. Not for several threads."""

    def __init__(self, cluster, timeout=10):
        self.cluster, self.timeout, self.connection = cluster, timeout, None
        self.plain = cluster.object["spec"].get("tls", {}).get("client", {}).get("mode") == "Disabled"
        self.temporary = tempfile.TemporaryDirectory(prefix="quorate-e2e-")
        self.folder = pathlib.Path(self.temporary.name)
        if not self.plain:
            self.read_secret()

    def read_secret(self):
        """Takes up certificates as they are now: an application does it when its own are not taken any more."""
        secret = self.cluster.kube.core.read_namespaced_secret(f"{self.cluster.name}-client-tls", self.cluster.namespace)
        for key, value in secret.data.items():
            (self.folder / key).write_bytes(base64.b64decode(value))
        self.context = ssl.create_default_context(cafile=self.folder / "ca.crt")
        self.context.load_cert_chain(self.folder / "tls.crt", self.folder / "tls.key")

    def read_secret_if_it_can_be_had(self):
        """An application goes on with what it has while Kubernetes does not answer."""
        try:
            self.read_secret()
        except (ApiException, HTTPError):
            pass

    @classmethod
    def through_service(cls, cluster):
        """Waits until the Service leads somewhere: kube-proxy follows a moment after the cluster says that it is ready."""
        def look():
            try:
                return True, etcd.read_prefix("/") is not None
            except Unavailable as problem:
                return False, str(problem)
        etcd = cls(cluster)
        eventually(f"the Service {cluster.name} serves", look, 90)
        return etcd

    def host(self, member=None):
        service = f"{member}.{self.cluster.name}-peer" if member else self.cluster.name
        return f"{service}.{self.cluster.namespace}.svc"

    def connect(self):
        if self.plain:
            return http.client.HTTPConnection(self.host(), 2379, timeout=self.timeout)
        return http.client.HTTPSConnection(self.host(), 2379, context=self.context, timeout=self.timeout)

    def call(self, path, body):
        try:
            self.connection = self.connection or self.connect()
            self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as problem:
            self.close()
            if isinstance(problem, ssl.SSLError):
                self.read_secret_if_it_can_be_had()
            raise Unavailable(f"{type(problem).__name__}: {problem}") from None
        if answer.status != 200:
            self.close()
            raise Unavailable(f"{answer.status}: {text[:200]}")
        return json.loads(text)

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def put(self, key, value):
        self.call("/v3/kv/put", {"key": encode(key), "value": encode(value)})

    def read_prefix(self, prefix):
        """Linearizable: what a quorum holds now."""
        return {decode(kv["key"]): decode(kv.get("value", "")) for kv in self.range(prefix)}

    def newest_key(self, prefix):
        """Linearizable: the last key in order that begins so, or None."""
        found = self.range(prefix, sort_order="DESCEND", sort_target="KEY", limit=1, keys_only=True)
        return decode(found[0]["key"]) if found else None

    def range(self, prefix, **how):
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        return self.call("/v3/kv/range", {"key": encode(prefix), "range_end": encode(end), **how}).get("kvs", [])

    def etcdctl(self, *words, member=None, check=True):
        flags = ["--endpoints", f"{'http' if self.plain else 'https'}://{self.host(member)}:2379", "--dial-timeout", "5s", "--command-timeout", "15s"]
        if not self.plain:
            flags += ["--cacert", self.folder / "ca.crt", "--cert", self.folder / "tls.crt", "--key", self.folder / "tls.key"]
        done = subprocess.run(["etcdctl", *map(str, flags), *map(str, words)], capture_output=True, text=True, timeout=60)
        assert not check or done.returncode == 0, f"etcdctl {' '.join(map(str, words))}: {done.stderr.strip()}"
        return done

    def members(self):
        """{name: id} of all members that etcd knows, and those of them that are learners."""
        listed = json.loads(self.etcdctl("member", "list", "-w", "json").stdout)["members"]
        return {m.get("name", "?"): f"{m['ID']:x}" for m in listed}, [m.get("name", "?") for m in listed if m.get("isLearner")]

    def hashes(self, members):
        """The hash of all keys, by member, at one revision that all of them have."""
        statuses = {m: json.loads(self.etcdctl("endpoint", "status", "-w", "json", member=m).stdout)[0]["Status"] for m in members}
        revision = min(status["header"]["revision"] for status in statuses.values())
        return {m: json.loads(self.etcdctl("endpoint", "hashkv", "--rev", revision, "-w", "json", member=m).stdout)[0]["HashKV"]["hash"]
                for m in members}
