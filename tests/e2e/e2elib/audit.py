"""What the API server noted of the operator's requests."""
import json

operator = "system:serviceaccount:quorate-system:quorate-operator"


def requests(path, since=0, user=operator):
    """The operator's requests as the audit log has them, from an offset on; and the offset of its end."""
    with path.open() as log:
        log.seek(since)
        found = [event for event in map(json.loads, log) if event["user"]["username"] == user]
        return found, log.tell()


def refused(events):
    """Requests that its rights did not cover. (A 403 may also say that a namespace is going away.)"""
    return [line(e) for e in events if e.get("annotations", {}).get("authorization.k8s.io/decision") != "allow"]


def line(event):
    ref = event.get("objectRef", {})
    return (f"{event['verb']} {ref.get('apiGroup', '')}/{ref.get('resource')}/{ref.get('subresource', '')} {ref.get('namespace', '')}/{ref.get('name', '')}"
            f" -> {event.get('responseStatus', {}).get('code')}")


def writes(events):
    """All but reads, and but what keeps leadership."""
    return [line(e) for e in events if e["verb"] not in ("get", "list", "watch") and e.get("objectRef", {}).get("resource") != "leases"]


def outside_of(rules, events):
    """Requests that no rule of the operator's roles names: there should be none, whatever else may be granted to it."""
    def allowed(event):
        ref = event.get("objectRef")
        if not ref:
            return False
        resource = ref["resource"] + (f"/{ref['subresource']}" if ref.get("subresource") else "")
        return any(ref.get("apiGroup", "") in rule["apiGroups"] and resource in rule["resources"] and event["verb"] in rule["verbs"] for rule in rules)
    return sorted({line(e) for e in events if not allowed(e)})
