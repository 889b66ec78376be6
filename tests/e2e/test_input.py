"""Declarations that cannot be: refused at once, or told by status before anything is made. Each names the field, the value and the rule."""
import json
import re

import pytest

from e2elib.kube import Cluster
from e2elib.waiting import eventually


def claim(size):
    return {"storage": {"claim": {"size": size}}}


def option(name, value):
    return {"options": {name: value}}


def template(**spec):
    return {"podTemplate": {"spec": spec}}


def etcd_container(**fields):
    return template(containers=[{"name": "etcd", **fields}])


not_a_flag = ("spec", "options must be flags of etcd, without dashes, that Quorate does not set itself")
no_number = ("spec", "options that are numbers must be whole numbers")
no_version = ("spec.version must be 3.4 to 3.7, as in 3.6.16", "3.5.0 to 3.5.2 can corrupt data")
too_small = ("spec.storage.claim.size", "must be at least 256Mi")

# What the API server refuses: the declaration, and what its answer says.
refused = {
    "replicas-negative": ({"replicas": -1}, "spec.replicas", "-1", "greater than or equal to 0"),
    "replicas-too-many": ({"replicas": 10}, "spec.replicas", "10", "less than or equal to 9"),
    "replicas-beyond-int32": ({"replicas": 2147483648}, "spec.replicas", "2147483648", "less than or equal to 9"),
    "replicas-fraction": ({"replicas": 1.5}, "spec.replicas", "must be of type integer"),
    "replicas-text": ({"replicas": "3"}, "spec.replicas", "must be of type integer"),
    "version-empty": ({"version": ""}, "spec.version", "should match"),
    "version-word": ({"version": "latest"}, "spec.version", '"latest"', "should match"),
    "version-with-v": ({"version": "v3.5"}, "spec.version", '"v3.5"', "should match"),
    "version-of-two": ({"version": "3.5"}, "spec.version", '"3.5"', "should match"),
    "version-with-blank": ({"version": "3.5.16 "}, "spec.version", '"3.5.16 "', "should match"),
    "version-candidate": ({"version": "3.5.16-rc.1"}, "spec.version", '"3.5.16-rc.1"', "should match"),
    "version-with-command": ({"version": "3.5.16;reboot"}, "spec.version", '"3.5.16;reboot"', "should match"),
    "version-unknown": ({"version": "9.9.9"}, *no_version),
    "version-that-corrupts": ({"version": "3.5.1"}, *no_version),
    "image-with-blank": ({"image": {"repository": "a b"}}, "spec.image.repository", '"a b"', "should match"),
    "image-with-two-ats": ({"image": {"repository": "a@@b"}}, "spec.image.repository", '"a@@b"', "should match"),
    "image-too-long": ({"image": {"repository": "x" * 5000}}, "spec.image.repository", "Too long"),
    "tag-with-line-end": ({"image": {"tag": "x\ny"}}, "spec.image.tag", r'"x\ny"', "should match"),
    "digest-short": ({"image": {"digest": "sha256:12"}}, "spec.image.digest", '"sha256:12"', "should match"),
    "size-zero": (claim("0"), *too_small),
    "size-zero-number": (claim(0), *too_small),
    "size-negative": (claim("-1Gi"), *too_small),
    "size-one-byte": (claim("1"), *too_small),
    "size-no-number": (claim("NaN"), "spec.storage.claim.size", '"NaN"', "should match"),
    "size-two-suffixes": (claim("1e30Gi"), "spec.storage.claim.size", '"1e30Gi"', "should match"),
    "class-bad-name": ({"storage": {"claim": {"storageClassName": "Bad Name"}}}, "spec.storage.claim.storageClassName", '"Bad Name"', "should match"),
    "storage-twice": ({"storage": {"claim": {}, "emptyDir": {}}}, "spec.storage", "exactly one of claim and emptyDir"),
    "claim-shared": ({"storage": {"claim": {"accessModes": ["ReadWriteMany"]}}}, 'unknown field "spec.storage.claim.accessModes"'),
    "asleep-without-volume": ({"replicas": 0, "storage": {"emptyDir": {}}}, "spec.replicas must be at least 1", "goes with its Pod"),
    "limit-below-request": ({"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}}, "spec.resources.limits.cpu must be at least the request"),
    "memory-zero": ({"resources": {"limits": {"memory": "0"}}}, "spec.resources.limits.memory", "must be more than 0"),
    "skew-zero": ({"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]},
                  "spec.topologySpreadConstraints[0].maxSkew", "0", "greater than or equal to 1"),
    "label-of-ours": ({"podTemplate": {"metadata": {"labels": {"quorate.io/cluster": "x"}}}}, "spec.podTemplate.metadata", "keys that Quorate sets"),
    "label-of-ours-everywhere": ({"additionalMetadata": {"labels": {"quorate.io/x": "y"}}}, "spec.additionalMetadata", "keys that Quorate sets"),
    "flag-data-dir": (option("data-dir", "/"), *not_a_flag),
    "flag-initial-cluster": (option("initial-cluster", "a=b"), *not_a_flag),
    "flag-force-new-cluster": (option("force-new-cluster", "true"), *not_a_flag),
    "flag-name": (option("name", "x"), *not_a_flag),
    "flag-unsafe": (option("unsafe-no-fsync", "true"), *not_a_flag),
    "flag-auto-tls": (option("auto-tls", "true"), *not_a_flag),
    "flag-unknown": (option("no-such-flag", "1"), *not_a_flag),
    "flag-with-dashes": (option("--snapshot-count", "1000"), *not_a_flag),
    "quota-negative": (option("quota-backend-bytes", "-1"), *no_number),
    "wals-no-number": (option("max-wals", "x"), *no_number),
    "level-with-line-end": (option("log-level", "a\nb"), "spec.options.log-level", r'"a\nb"', "should match"),
    "field-unknown": ({"nonsense": 1}, 'unknown field "spec.nonsense"'),
    "verification-off": ({"tls": {"client": {"insecureSkipVerify": True}}}, 'unknown field "spec.tls.client.insecureSkipVerify"'),
    "budget-overridden": ({"disruptionBudget": {"minAvailable": 0}}, 'unknown field "spec.disruptionBudget.minAvailable"'),
    "tls-mode-unknown": ({"tls": {"peer": {"mode": "maybe"}}}, "spec.tls.peer.mode", '"maybe"', "supported values", '"Managed"'),
    "span-word": ({"recovery": {"replaceAfter": "soon"}}, "spec.recovery.replaceAfter", '"soon"', "should match"),
    "span-negative": ({"recovery": {"replaceAfter": "-1s"}}, "spec.recovery.replaceAfter", '"-1s"', "should match"),
    "window-zone": ({"update": {"window": {"start": "22:00", "duration": "4h", "timeZone": "Europe/Berlin"}}},
                    "spec.update.window.timeZone", '"Europe/Berlin"', "supported values", '"UTC"'),
    "window-short": ({"update": {"window": {"start": "22:00", "duration": "5m"}}}, "spec.update.window.duration", "must be at least 10m"),
    "window-for-nobody": ({"update": {"strategy": "OnDelete", "window": {"start": "22:00", "duration": "4h"}}}, "spec.update", "nothing begins by itself"),
    "service-policy": ({"services": {"client": {"spec": {"type": "ClusterIP", "externalTrafficPolicy": "Local"}}}},
                       "spec.services.client.spec", "externalTrafficPolicy needs type to be NodePort or LoadBalancer"),
    "x" * 53: ({}, "metadata.name", "at most 52 characters"),
    "with.dot": ({}, "metadata.name", "lower-case letters, digits and dashes"),
    "1first": ({}, "metadata.name", "with a letter first"),
    "last-": ({}, "metadata.name", '"last-"', "must start and end with an alphanumeric character"),
    "Upper": ({}, "metadata.name", '"Upper"', "lower case"),
}
# What a schema cannot say: the operator's word for it.
told = {
    "host-network": (template(hostNetwork=True), "spec.podTemplate.spec.hostNetwork", "cannot be set here"),
    "host-path": (template(volumes=[{"name": "x", "hostPath": {"path": "/"}}]), "spec.podTemplate.spec.volumes[0].hostPath", "more rights"),
    "privileged": (etcd_container(securityContext={"privileged": True}), "spec.podTemplate.spec.containers[0].securityContext", "is set by Quorate"),
    "command": (etcd_container(command=["sh"]), "spec.podTemplate.spec.containers[0].command", "is set by Quorate"),
    "token": (template(automountServiceAccountToken=True), "spec.podTemplate.spec.automountServiceAccountToken", "cannot be set here"),
    "variable-of-etcd": (etcd_container(env=[{"name": "ETCD_DATA_DIR", "value": "/"}]), "spec.podTemplate.spec.containers[0].env[0].name", '"ETCD_DATA_DIR"'),
    "preload": (etcd_container(env=[{"name": "LD_PRELOAD", "value": "/x"}]), "spec.podTemplate.spec.containers[0].env[0].name", '"LD_PRELOAD"', "cannot be set"),
    "heartbeat-zero": (option("heartbeat-interval", "0"), "spec.options.heartbeat-interval", '"0"', "from 1 to 10000"),
    "election-short": ({"options": {"heartbeat-interval": "1000", "election-timeout": "1000"}}, "spec.options.election-timeout", "1000", "at least five times"),
    "quota-small": (option("quota-backend-bytes", "1"), "spec.options.quota-backend-bytes", '"1"', "at least 16777216"),
    "quota-large": (option("quota-backend-bytes", str(8 << 40)), "spec.options.quota-backend-bytes", str(8 << 40), "at most the size of the volume, 1Gi"),
    "compaction-mode": (option("auto-compaction-mode", "wrong"), "spec.options.auto-compaction-mode", '"wrong"', "one of periodic, revision"),
    "compaction-span": (option("auto-compaction-retention", "abc"), "spec.options.auto-compaction-retention", '"abc"', "span of time"),
    "snapshot-count": (option("snapshot-count", "0"), "spec.options.snapshot-count", '"0"', "at least 1"),
}


def document(name, spec):
    return json.dumps({"apiVersion": "quorate.io/v1alpha1", "kind": "EtcdCluster", "metadata": {"name": name}, "spec": spec})


@pytest.mark.quick
def test_bad_declarations_are_refused_or_told(installed, kube, namespace):
    """By kubectl, as people would, all at once. Nothing is made of any of them; a correction of one is taken up."""
    stream = "\n".join(document(name, spec) for name, (spec, *_) in {**refused, **told}.items())
    done = kube.kubectl("-n", namespace, "create", "--validate=strict", "-f", "-", input=stream, check=False)
    assert set(re.findall(r"^etcdcluster.quorate.io/(\S+) created$", done.stdout, re.M)) == set(told)
    answers = done.stderr.splitlines()
    assert len(answers) == len(refused)
    unsaid = {name: words for name, (_, *words) in refused.items() if not any(all(word in line for word in words) for line in answers)}
    assert not unsaid, done.stderr
    for name, (_, *words) in told.items():
        def says():
            degraded = Cluster(kube, namespace, name).condition("Degraded") or {}
            return degraded.get("reason") == "InvalidSpec" and all(word in degraded["message"] for word in words), degraded
        eventually(f"status of {name} says {words}", says, 60)
    for made in ("pods", "etcdmembers", "pvc"):
        assert kube.kubectl("-n", namespace, "get", made, "-o", "name").stdout == ""
    corrected = Cluster(kube, namespace, "quota-small")
    corrected.patch(replicas=1, options=None)
    corrected.wait_until_settled(1)
