"""The API server is down for a minute while a cluster forms, grows or shrinks: etcd serves on, and the operation ends as declared when it is back."""
import pytest
from kubernetes.client.rest import ApiException
from urllib3.exceptions import HTTPError

from e2elib.acts import assert_members_agree, member_ids
from e2elib.etcd import Etcd
from e2elib.kube import Cluster
from e2elib.waiting import Stopwatch, eventually
from e2elib.writer import Writer

pytestmark = [pytest.mark.kube_only(reason="a sandbox ends as a whole: it_sandbox kills it"), pytest.mark.node_fault]
throw_away = {"claim": {}, "retention": {"whenDeleted": "Delete"}}


class Operation:
    """Something that the operator is in the midst of when the API server goes: start() begins it, has_begun() sees it, end() waits for its end."""
    size = 3  # before
    served = True  # meanwhile

    def __init__(self, cluster):
        self.cluster = cluster

    def prepare(self):
        self.cluster.create(replicas=self.size, storage=throw_away).wait_until_settled(self.size)
        self.ids = member_ids(self.cluster)

    def end(self):
        self.cluster.wait_until_settled(self.size, 240)


class Create(Operation):
    served = False

    def prepare(self):
        pass

    def start(self):
        self.cluster.create(replicas=3, storage=throw_away)

    def has_begun(self):
        return bool(self.cluster.records)


class Grow(Operation):
    def start(self):
        self.cluster.patch(replicas=5)

    def has_begun(self):
        return len(self.cluster.records) > 3

    def end(self):
        self.cluster.wait_until_settled(5, 240)
        assert self.ids.items() <= member_ids(self.cluster).items()


class Shrink(Operation):
    size = 5

    def start(self):
        self.cluster.patch(replicas=3)

    def has_begun(self):
        return len(Etcd.through_service(self.cluster).members()[0]) < 5

    def end(self):
        self.cluster.wait_until_settled(3, 240)
        assert member_ids(self.cluster).items() < self.ids.items()


def answers(kube):
    """It answers, and knows its roles again: a server that has just started refuses everybody for a moment."""
    try:
        return kube.answers and kube.core.list_node() is not None
    except (ApiException, HTTPError):
        return False


@pytest.mark.parametrize("kind", Operation.__subclasses__(), ids=lambda kind: kind.__name__.lower())
def test_api_server_is_down_for_a_minute(cluster, fabric, kind):
    operation = kind(cluster)
    operation.prepare()
    served = cluster if operation.served else Cluster(cluster.kube, cluster.namespace, "beside").create(replicas=1).wait_until_settled(1)
    with Writer(served) as writer:
        operation.start()
        eventually("it is under way", lambda: (operation.has_begun(), cluster.describe), 90, nap=0.05)
        fabric.stop("kube-apiserver")
        eventually("the API server is down", lambda: (not cluster.kube.answers, None), 30)
        writer.go_on_for(60)
        fabric.start("kube-apiserver")
        eventually("it answers again", lambda: (answers(cluster.kube), None), 90)
        with Stopwatch(f"API server back to the end of {kind.__name__.lower()}"):
            operation.end()
    writer.check(at_least=60)
    assert_members_agree(cluster)
    cluster.kube.wait_for_operator()
