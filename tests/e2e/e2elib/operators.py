"""The operator's own Pods."""
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
