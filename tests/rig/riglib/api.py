"""The Kubernetes API by the standard library alone: for the rig itself, which has to work before anything is installed."""
import http.client
import json
import ssl

from .instance import api_port, fabric_address


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body[:300]}")
        self.status = status


class Api:
    """One identity of the instance's authority. Runs inside of the fabric."""

    def __init__(self, instance, name):
        self.context = ssl.create_default_context(cafile=str(instance.pki / "ca.crt"))
        self.context.load_cert_chain(instance.pki / f"{name}.crt", instance.pki / f"{name}.key")

    def _connect(self, timeout):
        return http.client.HTTPSConnection(fabric_address, api_port, context=self.context, timeout=timeout)

    def call(self, method, path, body=None, content_type="application/json"):
        connection = self._connect(30)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": content_type})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status >= 300:
            raise Refused(answer.status, text)
        return json.loads(text)

    def items(self, path):
        return self.call("GET", path).get("items") or []

    def watch(self, path):
        """Yields each event from now on, until the server or the network ends it."""
        version = self.call("GET", f"{path}?limit=1")["metadata"]["resourceVersion"]
        connection = self._connect(400)
        try:
            connection.request("GET", f"{path}?watch=1&resourceVersion={version}&timeoutSeconds=300")
            answer = connection.getresponse()
            while line := answer.readline():
                yield json.loads(line)
        finally:
            connection.close()
