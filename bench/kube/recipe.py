"""How an operator is installed and asked for clusters: all that the harness knows of it. See quorate.json."""
import base64
import json
import pathlib
import subprocess
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent.parent


class Never(Exception):
    """It did not come about within the time that was given."""


def kubectl(*words, check=True, **kwargs):
    done = subprocess.run(["kubectl", *map(str, words)], capture_output=True, text=True, cwd=root, **kwargs)
    if check and done.returncode != 0:
        raise RuntimeError(f"kubectl {' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def get(*words):
    return json.loads(kubectl("get", *words, "-o", "json"))


def until(what, look, seconds, nap=0.1):
    """Seconds until look() is true."""
    begun = time.monotonic()
    while not look():
        if time.monotonic() - begun > seconds:
            raise Never(f"{what}: not within {seconds} s")
        time.sleep(nap)
    return time.monotonic() - begun


def filled(template, **words):
    """The template with {name} and so on replaced; a text that is only {replicas} becomes a number."""
    if isinstance(template, dict):
        return {key: filled(value, **words) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, **words) for value in template]
    if not isinstance(template, str):
        return template
    if template == "{replicas}":
        return words["replicas"]
    for key, value in words.items():
        template = template.replace("{" + key + "}", str(value))
    return template


class Cluster:
    """One etcd cluster of the operator under test, and the hands on it."""

    def __init__(self, recipe, namespace, name, replicas):
        self.recipe, self.namespace, self.name, self.replicas = recipe, namespace, name, replicas
        self.folder = None

    def fill(self, key, **more):
        return filled(self.recipe[key], name=self.name, namespace=self.namespace, replicas=self.replicas, **more)

    def apply(self):
        kubectl("-n", self.namespace, "apply", "-f", "-", input=json.dumps(self.fill("cluster")))

    def scale(self, replicas):
        self.replicas = replicas
        kubectl("-n", self.namespace, "patch", self.recipe["resource"], self.name, "--type=merge", "-p", json.dumps(self.fill("scale")))

    def delete(self):
        kubectl("-n", self.namespace, "delete", self.recipe["resource"], self.name, "--wait=false")

    def pods(self):
        return {p["metadata"]["name"]: p for p in get("-n", self.namespace, "pods", "-l", self.fill("pods"))["items"]}

    def ready_pods(self):
        """Names of Pods that are ready and not on their way out."""
        return sorted(name for name, pod in self.pods().items() if "deletionTimestamp" not in pod["metadata"]
                      and any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", [])))

    def etcdctl(self, host, *words):
        """What etcdctl says as JSON; None if it fails."""
        scheme, flags = "http", []
        if self.recipe.get("tls"):
            scheme = "https"
            if not self.folder and not self.read_secret():
                return None
            flags = ["--cacert", f"{self.folder.name}/ca.crt", "--cert", f"{self.folder.name}/tls.crt", "--key", f"{self.folder.name}/tls.key"]
        done = subprocess.run(["etcdctl", "--endpoints", f"{scheme}://{host}.{self.namespace}.svc:2379", *flags, "--dial-timeout=1s",
                               "--command-timeout=2s", "-w", "json", *words], capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def read_secret(self):
        found = kubectl("-n", self.namespace, "get", "secret", self.fill("tls"), "-o", "json", check=False)
        if not found:
            return False
        self.folder = tempfile.TemporaryDirectory(prefix="quorate-bench-")
        for key, value in json.loads(found)["data"].items():
            (pathlib.Path(self.folder.name) / key).write_bytes(base64.b64decode(value))
        return True

    def is_written_to(self):
        return self.etcdctl(self.fill("service"), "put", "/bench", "x") is not None

    def voters(self):
        """{name: id} of voting members, as a quorum has them; empty if there is no answer."""
        listed = self.etcdctl(self.fill("service"), "member", "list")
        return {m.get("name", ""): m["ID"] for m in (listed or {}).get("members", []) if not m.get("isLearner")}

    def is_whole(self):
        return len(self.voters()) == self.replicas == len(self.ready_pods())

    def id_of(self, pod):
        status = self.etcdctl(self.fill("host", pod=pod), "endpoint", "status")
        return status[0]["Status"]["header"]["member_id"] if status else None
