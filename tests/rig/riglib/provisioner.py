"""Makes disks for claims, and removes them when their claims are gone. Runs in the fabric: python -m riglib.provisioner INSTANCE.

Level-triggered: a watch only says that something changed; what to do is found by looking at all claims and volumes. Disks are files under
volumes/; kubelet mounts them (volume_driver.py), the controller manager and kubelet grow them.
"""
import pathlib
import subprocess
import sys
import threading
import time

from . import instance as instances
from .api import Api, Refused
from .disks import disk_file, smallest
from .plane import volume_driver

claims_path, volumes_path = "/api/v1/persistentvolumeclaims", "/api/v1/persistentvolumes"
classes_path = "/apis/storage.k8s.io/v1/storageclasses"
selected_node = "volume.kubernetes.io/selected-node"
provisioned_by = "pv.kubernetes.io/provisioned-by"
units = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_quantity(text):
    for unit, factor in units.items():
        if text.endswith(unit):
            return int(float(text[: -len(unit)]) * factor)
    return int(text)


class Provisioner:
    def __init__(self, instance):
        self.instance, self.api = instance, Api(instance, "provisioner")
        self.changed = threading.Event()

    def run(self):
        for path in (claims_path, volumes_path):
            threading.Thread(target=self.follow, args=(path,), daemon=True).start()
        while True:
            self.changed.clear()
            try:
                self.look()
            except (Refused, OSError) as problem:
                print(f"looking failed, again in a second: {problem}")
                time.sleep(1)
                continue
            self.changed.wait(30)

    def follow(self, path):
        while True:
            try:
                for _ in self.api.watch(path):
                    self.changed.set()
            except (Refused, OSError, ValueError) as problem:
                print(f"watching {path} failed: {problem}")
                time.sleep(1)
            self.changed.set()

    def look(self):
        classes = {c["metadata"]["name"]: c for c in self.api.items(classes_path) if c["provisioner"] == volume_driver}
        volumes = {v["metadata"]["name"]: v for v in self.api.items(volumes_path)}
        for claim in self.api.items(claims_path):
            kind = classes.get(claim["spec"].get("storageClassName"))
            name = f"pvc-{claim['metadata']['uid']}"
            if kind and not claim["spec"].get("volumeName") and name not in volumes and self.is_asked_for(claim, kind):
                self.provision(name, claim, kind)
        for volume in volumes.values():
            if volume["metadata"].get("annotations", {}).get(provisioned_by) == volume_driver and volume["status"].get("phase") == "Released":
                self.release(volume)

    @staticmethod
    def is_asked_for(claim, kind):
        # The scheduler names the node once a Pod waits for the claim.
        return kind["volumeBindingMode"] == "Immediate" or selected_node in claim["metadata"].get("annotations", {})

    def provision(self, name, claim, kind):
        moves = kind["parameters"].get("moves") == "true"
        node = claim["metadata"].get("annotations", {}).get(selected_node)
        size = max(parse_quantity(claim["spec"]["resources"]["requests"]["storage"]), smallest)
        image = disk_file(self.instance, name, None if moves else node)
        make_disk(image, size)
        volume = {
            "apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": name, "annotations": {provisioned_by: volume_driver}},
            "spec": {
                "capacity": {"storage": str(size)}, "accessModes": claim["spec"]["accessModes"],
                "persistentVolumeReclaimPolicy": kind["reclaimPolicy"], "storageClassName": kind["metadata"]["name"],
                "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": claim["metadata"]["namespace"],
                             "name": claim["metadata"]["name"], "uid": claim["metadata"]["uid"]},
                "flexVolume": {"driver": volume_driver, "fsType": "xfs", "options": {"image": str(image)}},
            },
        }
        if not moves:
            volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}
        self.api.call("POST", volumes_path, volume)
        print(f"made {name} of {size} bytes for {claim['metadata']['namespace']}/{claim['metadata']['name']} on {node or 'any node'}")

    def release(self, volume):
        if volume["spec"]["persistentVolumeReclaimPolicy"] != "Delete" or volume["metadata"].get("deletionTimestamp"):
            return
        name = volume["metadata"]["name"]
        self.api.call("DELETE", f"{volumes_path}/{name}")
        # Where it is still mounted it lives on, without a name, until it is not.
        pathlib.Path(volume["spec"]["flexVolume"]["options"]["image"]).unlink(missing_ok=True)
        print(f"removed {name}")


def make_disk(image, size):
    """A sparse file with an empty file system; put in place when it is whole."""
    image.parent.mkdir(parents=True, exist_ok=True)
    aside = image.with_suffix(".new")
    with aside.open("wb") as file:
        file.truncate(size)
    subprocess.run(["mkfs.xfs", "-q", "-f", str(aside)], check=True)
    aside.rename(image)


if __name__ == "__main__":
    Provisioner(instances.find(sys.argv[1])).run()
