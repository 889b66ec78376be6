"""What several tests do or look for."""
from .etcd import Etcd, Unavailable


def member_ids(cluster):
    """{name: id} of all members, by etcd's own word through the Service."""
    return Etcd.through_service(cluster).members()[0]


def follower(cluster):
    return next(name for name in sorted(cluster.pods) if name != cluster.leader)


def pod_uids(cluster):
    return {name: pod.metadata.uid for name, pod in cluster.pods.items()}


def restarts(cluster):
    return {name: sum(c.restart_count for c in pod.status.container_statuses or []) for name, pod in cluster.pods.items()}


def assert_members_agree(cluster):
    hashes = Etcd.through_service(cluster).hashes(cluster.pods)
    assert len(set(hashes.values())) == 1, f"members hold different data: {hashes}"


def restart_etcd(rig, cluster, pod):
    """Kills etcd in place: kubelet starts the container again, in the same Pod."""
    node, container = cluster.node_of(pod), cluster.pods[pod].status.container_statuses[0].container_id.split("://")[1]
    rig("kill-container", node, container)


def is_replaced(cluster, old_name, old_id, replicas=3, away=False):
    """For eventually(): the old member has left etcd's list, as many as before are in it, and all are well.

    `away`: its node has not returned, so that its Pod, and with it its record, cannot be quite gone.
    """
    well = cluster.status.get("readyReplicas") == replicas if away else cluster.is_settled(replicas)[0]
    if not well:
        return False, cluster.describe
    try:
        known, learners = Etcd(cluster).members()
    except (Unavailable, AssertionError) as problem:
        return False, str(problem)
    held = old_name not in known and old_id not in known.values() and not learners and len(known) == replicas
    return held, f"{known}, learners {learners}"
