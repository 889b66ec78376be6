"""The operator's own Pods, and one build that follows another."""
from .acts import member_ids, pod_uids, restarts
from .waiting import eventually

system = "quorate-system"


def operators(kube):
    return {pod.metadata.name: pod for pod in kube.core.list_namespaced_pod(system).items if not pod.metadata.deletion_timestamp}


def leading(kube):
    """The Pod that holds the Lease."""
    holder = kube.kubectl("-n", system, "get", "lease", "quorate-operator", "-o", "jsonpath={.spec.holderIdentity}").stdout
    return next((name for name in operators(kube) if holder.startswith(name)), None)


def kill_operators(kube):
    for name in operators(kube):
        kube.core.delete_namespaced_pod(name, system, grace_period_seconds=0)


def take_over(kube, install):
    """Installs another build over the one that runs; waits until only its Pods are there, and one of them leads."""
    old = set(operators(kube))
    install()

    def done():
        pods = operators(kube)
        return len(pods) == 2 and not old & set(pods) and leading(kube) in pods, sorted(pods)
    eventually("only operators of the other build run, and one leads", done, 180)
    kube.wait_for_operator()


def assert_nothing_was_disrupted(kube):
    page = kube.kubectl("get", "--raw", f"/api/v1/namespaces/{system}/pods/{leading(kube)}:8080/proxy/metrics").stdout
    assert "quorate_disruptive_steps_total 0\n" in page


def footprint(cluster):
    return pod_uids(cluster), restarts(cluster), member_ids(cluster), {name: claim.metadata.uid for name, claim in cluster.claims.items()}
