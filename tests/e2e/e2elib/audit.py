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
    """Requests that its rights did not cover. (A 403 may also say that a namespace is going away.)

    An API server that has just started refuses whoever asks before it has read the roles, its own controllers as well: what it allows at other
    times is no lack of rights.
    """
    def kind(event):
        ref = event.get("objectRef", {})
        return event["verb"], ref.get("apiGroup"), ref.get("resource"), ref.get("subresource")

    def is_allowed(event):
        return event.get("annotations", {}).get("authorization.k8s.io/decision") == "allow"
    allowed = {kind(e) for e in events if is_allowed(e)}
    return sorted({line(e) for e in events if not is_allowed(e) and kind(e) not in allowed})


def line(event):
    ref = event.get("objectRef", {})
    return (f"{event['verb']} {ref.get('apiGroup', '')}/{ref.get('resource')}/{ref.get('subresource', '')} {ref.get('namespace', '')}/{ref.get('name', '')}"
            f" -> {event.get('responseStatus', {}).get('code')}")


def writes(events, namespace):
    """All but reads, but what keeps leadership, and but counts of Events elsewhere: those are written once a minute, also when what they tell of is gone."""
    def counts(event):
        ref = event.get("objectRef", {})
        return ref.get("resource") != "leases" and not (ref.get("resource") == "events" and ref.get("namespace") != namespace)
    return [line(e) for e in events if e["verb"] not in ("get", "list", "watch") and counts(e)]


def outside_of(rules, events):
    """Requests that no rule of the operator's roles names: there should be none, whatever else may be granted to it."""
    def allowed(event):
        ref = event.get("objectRef")
        if not ref:
            return False
        resource = ref["resource"] + (f"/{ref['subresource']}" if ref.get("subresource") else "")
        return any(ref.get("apiGroup", "") in rule["apiGroups"] and resource in rule["resources"] and event["verb"] in rule["verbs"] for rule in rules)
    return sorted({line(e) for e in events if not allowed(e)})
