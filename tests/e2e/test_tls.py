"""Connections: plain where that is asked for, certificates renewed in place, authorities replaced."""
import base64
import datetime
import ssl

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from e2elib.acts import assert_members_agree, member_ids, pod_uids, restarts
from e2elib.etcd import Etcd
from e2elib.waiting import Stopwatch, eventually
from e2elib.writer import Writer


def secret(cluster, name):
    found = cluster.kube.core.read_namespaced_secret(f"{cluster.name}-{name}", cluster.namespace).data
    return {key: base64.b64decode(value) for key, value in found.items()}


def certificate(cluster, name):
    return x509.load_pem_x509_certificate(secret(cluster, name)["tls.crt"])


def write(cluster, name, **data):
    encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
    cluster.kube.core.patch_namespaced_secret(f"{cluster.name}-{name}", cluster.namespace, {"data": encoded})


def aged(old, issuer_key):
    """The same certificate with nine tenths of its life behind it: ten days are left."""
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (x509.CertificateBuilder().subject_name(old.subject).issuer_name(old.issuer).public_key(old.public_key())
               .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=90))
               .not_valid_after(now + datetime.timedelta(days=10)))
    for extension in old.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(Encoding.PEM)


def is_issued_by(leaf, authority):
    try:
        leaf.verify_directly_issued_by(authority)
        return True
    except (ValueError, InvalidSignature):
        return False


def served_serial(cluster):
    """The serial number of the certificate that a member shows now."""
    host = Etcd(cluster).host("c-0")
    return x509.load_pem_x509_certificate(ssl.get_server_certificate((host, 2379)).encode()).serial_number


def test_plain_where_that_is_declared(cluster):
    cluster.create(replicas=3, tls={"peer": {"mode": "Disabled"}, "client": {"mode": "Disabled"}}).wait_until_settled(3)
    etcd = Etcd.through_service(cluster)
    etcd.put("/k", "v")
    assert etcd.read_prefix("/k") == {"/k": "v"}
    assert len(etcd.members()[0]) == 3
    assert not [s for s in cluster.kube.core.list_namespaced_secret(cluster.namespace).items if s.metadata.name.startswith("c-")]


def test_clients_without_certificates_where_that_is_declared(cluster):
    cluster.create(replicas=1, tls={"client": {"authentication": "ServerOnly"}}).wait_until_settled(1)
    Etcd.through_service(cluster).put("/k", "v")
    done = cluster.kube.kubectl("-n", cluster.namespace, "exec", "c-0", "--", "etcdctl", "--endpoints=https://localhost:2379",
                                "--cacert=/etc/etcd/server-tls/ca.crt", "get", "/k")
    assert done.stdout.split() == ["/k", "v"]


def test_certificate_is_renewed_in_place(cluster):
    cluster.create(replicas=3).wait_until_settled(3)
    uids, counts = pod_uids(cluster), restarts(cluster)
    key = load_pem_private_key(secret(cluster, "client-ca")["tls.key"], None)
    with Writer(cluster) as writer:
        old = aged(certificate(cluster, "server-tls"), key)
        write(cluster, "server-tls", **{"tls.crt": old})
        serial = x509.load_pem_x509_certificate(old).serial_number

        def renewed():
            left = certificate(cluster, "server-tls").not_valid_after_utc - datetime.datetime.now(datetime.timezone.utc)
            return left > datetime.timedelta(days=30), f"{left} left"
        with Stopwatch("an old certificate seen to another in its Secret"):
            eventually("another is there", renewed, 120)
        wanted = certificate(cluster, "server-tls").serial_number
        assert wanted != serial
        with Stopwatch("and to the member that shows it (kubelet's turn)"):
            eventually("a member shows it", lambda: (served_serial(cluster) == wanted, None), 180)
    writer.check(at_least=5)
    assert pod_uids(cluster) == uids and restarts(cluster) == counts


def test_authority_is_replaced_while_written_to(cluster):
    """The clients' authority has lived two thirds of its life: a second one is trusted beside it, then issues, and nobody is shut out."""
    cluster.create(replicas=3).wait_until_settled(3)
    before, data = member_ids(cluster), secret(cluster, "client-ca")
    key = load_pem_private_key(data["tls.key"], None)
    old = aged(x509.load_pem_x509_certificate(data["tls.crt"]), key)
    with Writer(cluster) as writer:
        write(cluster, "client-ca", **{"tls.crt": old, "ca.crt": old})

        def switched():
            now = secret(cluster, "client-ca")
            return now["tls.crt"] not in (old, data["tls.crt"]) and cluster.is_settled(3)[0], f"{sorted(now)}; {cluster.describe()}"
        with Stopwatch("an old authority to one in its place"):
            eventually("another issues", switched, 400)
        authority = certificate(cluster, "client-ca")
        eventually("every certificate is of the new one",
                   lambda: (all(is_issued_by(certificate(cluster, name), authority) for name in ("server-tls", "client-tls", "operator-tls")), None), 120)
    writer.check(at_least=100)
    assert member_ids(cluster) == before
    Etcd.through_service(cluster).put("/after", "v")
    assert_members_agree(cluster)
