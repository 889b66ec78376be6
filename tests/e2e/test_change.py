"""Declarations that change a running cluster: options, resources, versions, templates. One member after the other, the leader last."""
import pytest

from e2elib.acts import assert_members_agree, member_ids, pod_uids
from e2elib.waiting import Stopwatch, eventually
from e2elib.writer import Writer


def arguments(pod):
    return " ".join(str(word) for c in pod.spec.containers for word in [*(c.command or []), *(c.args or [])])


def roll(cluster, is_new, replicas=3, seconds=240, **spec):
    """Changes the declaration under load, and waits until every Pod is as declared. Returns the order in which members were seen to change."""
    before, old, order = member_ids(cluster), cluster.pods, []

    def look():
        for name, pod in cluster.pods.items():
            if name not in order and is_new(pod):
                order.append(name)
        return len(order) == replicas and cluster.is_settled(replicas)[0], f"changed: {order}; {cluster.describe()}"

    assert not any(is_new(pod) for pod in old.values())
    with Writer(cluster) as writer:
        with Stopwatch(f"roll of {', '.join(spec)}"):
            cluster.patch(**spec)
            eventually("every member is as declared", look, seconds)
    writer.check(at_least=50)
    assert member_ids(cluster) == before, "a roll keeps every member's identity"
    assert_members_agree(cluster)
    return order


def test_option_is_rolled_out_and_never_to_the_leader_first(cluster):
    cluster.create(replicas=3).wait_until_settled(3)
    leader = cluster.leader
    order = roll(cluster, lambda pod: "snapshot-count=5000" in arguments(pod), options={"snapshot-count": "5000"})
    assert order[0] != leader, f"{leader} led when it began; order {order}"


def test_resources_are_rolled_out(cluster):
    cluster.create(replicas=3).wait_until_settled(3)
    roll(cluster, lambda pod: pod.spec.containers[0].resources.requests["memory"] == "160Mi", resources={"requests": {"memory": "160Mi"}})


def test_pod_template_is_taken_up_and_cannot_take_over(cluster):
    """Metadata reaches Pods as they are; a change of their shape restarts them; more rights are refused, and nobody is touched for that."""
    cluster.create(replicas=3).wait_until_settled(3)
    uids = pod_uids(cluster)
    cluster.patch(podTemplate={"metadata": {"annotations": {"team": "blue"}}})
    eventually("every Pod has it", lambda: (all((pod.metadata.annotations or {}).get("team") == "blue" for pod in cluster.pods.values()), None), 60)
    assert pod_uids(cluster) == uids
    roll(cluster, lambda pod: pod.spec.termination_grace_period_seconds == 45, podTemplate={"spec": {"terminationGracePeriodSeconds": 45}})
    uids = pod_uids(cluster)
    done = cluster.kube.kubectl("-n", cluster.namespace, "patch", "etcd", "c", "--type=merge", "-p", '{"spec":{"podTemplate":{"spec":{"hostNetwork":true}}}}', check=False)
    if done.returncode == 0:
        eventually("status says what is wrong", lambda: ("podTemplate.spec.hostNetwork" in str(cluster.status), cluster.describe), 30)
    assert pod_uids(cluster) == uids


@pytest.mark.kube_only
def test_patch_version_is_rolled_in_place(cluster, rig):
    """Only the image differs, so Pods stay, and their containers are started anew."""
    rig("load", "etcd-3.6.15")
    cluster.create(replicas=3, version="3.6.15").wait_until_settled(3)
    uids = pod_uids(cluster)
    roll(cluster, lambda pod: pod.spec.containers[0].image.endswith(":v3.6.16"), version="3.6.16")
    assert pod_uids(cluster) == uids
    eventually("the version that runs is told", lambda: (cluster.status["version"]["current"] == "3.6.16", cluster.status["version"]), 60)


def test_client_service_and_budget_are_put_right(cluster):
    """What people edit by hand in what we own comes back, without a member being touched."""
    cluster.create(replicas=3).wait_until_settled(3)
    uids = pod_uids(cluster)
    cluster.kube.kubectl("-n", cluster.namespace, "patch", "pdb", "c", "--type=merge", "-p", '{"spec":{"minAvailable":0}}')
    cluster.kube.kubectl("-n", cluster.namespace, "delete", "service", "c")

    def restored():
        budget = cluster.kube.policy.read_namespaced_pod_disruption_budget("c", cluster.namespace).spec.min_available
        service = cluster.kube.find(cluster.kube.core.read_namespaced_service, "c", cluster.namespace)
        return budget == 2 and service is not None, f"minAvailable {budget}, Service {service and service.metadata.uid}"
    eventually("both are as they were", restored, 60)
    assert pod_uids(cluster) == uids


def test_deleted_record_is_rebuilt(cluster):
    """A record is our memory of a member, not the member: it comes back from etcd and the claim, and nobody is restarted."""
    cluster.create(replicas=3).wait_until_settled(3)
    before, uids, old = member_ids(cluster), pod_uids(cluster), cluster.records["c-1"]
    with Writer(cluster) as writer:
        cluster.kube.kubectl("-n", cluster.namespace, "delete", "etcdmember", "c-1")

        def rebuilt():
            now = cluster.records.get("c-1")
            return now is not None and now["metadata"]["uid"] != old["metadata"]["uid"] and cluster.is_settled(3)[0], cluster.describe
        eventually("it is there again", rebuilt, 60)
    writer.check(at_least=20)
    assert member_ids(cluster) == before and pod_uids(cluster) == uids
    kept = ("clusterID", "clusterUID", "ordinal", "incarnation", "formation", "memberID", "volumeUID", "peerURL", "run")
    assert {key: cluster.records["c-1"]["spec"].get(key) for key in kept} == {key: old["spec"].get(key) for key in kept}
