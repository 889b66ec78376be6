#include "operator/views.h"

#include <algorithm>

#include "api/codec.h"
#include "api/names.h"
#include "base/bytes.h"
#include "base/strings.h"
#include "json/timestamp.h"
#include "pki/certificate.h"
#include "pki/digest.h"
#include "plan/pods.h"

namespace quorate::op {
namespace {

constexpr std::string_view kOurPrefix = "quorate.io/";

// What metadata says beside the head: our labels and annotations alone, and owners.
struct Marks {
  api::TextMap labels;
  api::TextMap annotations;
  std::vector<Uid> owners;
  std::optional<Uid> controller;
};

Marks read_metadata(json::Reader& in, kube::Head& head) {
  Marks out;
  const auto put = [](api::TextMap& map, std::string_view key, std::string_view value) {
    if (key.starts_with(kOurPrefix)) map.insert_or_assign(std::string(key), std::string(value));
  };
  kube::read(
      in, head,
      {[&](std::string_view key, std::string_view value) { put(out.labels, key, value); },
       [&](kube::OwnerReference owner) {
         if (owner.controller) out.controller = owner.uid;
         out.owners.push_back(std::move(owner.uid));
       },
       [&](std::string_view key, std::string_view value) { put(out.annotations, key, value); }});
  return out;
}

std::string text_of(const api::TextMap& map, std::string_view key) {
  auto found = map.find(key);
  return found == map.end() ? std::string() : found->second;
}

bool is_true(const api::TextMap& map, std::string_view key) {
  return text_of(map, key) == api::kTrue;
}

std::optional<api::Identity> identity_of(const Marks& marks) {
  auto identity = api::parse_identity(marks.labels, marks.annotations);
  return identity ? std::optional<api::Identity>(*identity) : std::nullopt;
}

plan::ClaimPhase claim_phase(std::string_view text) {
  if (text == "Bound") return plan::ClaimPhase::kBound;
  if (text == "Lost") return plan::ClaimPhase::kLost;
  return plan::ClaimPhase::kPending;
}

plan::PodPhase pod_phase(std::string_view text) {
  if (text == "Pending") return plan::PodPhase::kPending;
  if (text == "Running") return plan::PodPhase::kRunning;
  if (text == "Succeeded") return plan::PodPhase::kSucceeded;
  if (text == "Failed") return plan::PodPhase::kFailed;
  return plan::PodPhase::kUnknown;
}

void read_terminated(json::Reader& in, plan::Terminated& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "exitCode")
      out.exit_code = static_cast<int>(value.integer());
    else if (key == "reason")
      out.reason = value.text();
    else if (key == "message")
      out.message = value.text();
  });
}

void read_container_state(json::Reader& in, plan::ContainerFacts& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "running") {
      out.running = true;
    } else if (key == "terminated") {
      read_terminated(value, out.terminated.emplace());
    } else if (key == "waiting") {
      out.waiting.emplace();
      value.fields([&](std::string_view k, json::Reader& v) {
        if (k == "reason")
          *out.waiting = v.text();
        else if (k == "message")
          out.waiting_message = v.text();
      });
    }
  });
}

void read_container_statuses(json::Reader& in, std::string_view wanted, plan::ContainerFacts& out) {
  in.items([&](json::Reader& item) {
    plan::ContainerFacts facts;
    std::string name;
    item.fields([&](std::string_view key, json::Reader& value) {
      if (key == "name") {
        name = value.text();
      } else if (key == "restartCount") {
        facts.restarts = static_cast<int>(value.integer());
      } else if (key == "state") {
        read_container_state(value, facts);
      } else if (key == "lastState") {
        value.fields([&](std::string_view k, json::Reader& v) {
          if (k == "terminated") read_terminated(v, facts.last.emplace());
        });
      }
    });
    if (name == wanted) out = std::move(facts);
  });
}

// A kubelet says of a Pod whose containers are ready that it is ready, unless a gate of its own is
// shut, which it names. That it is not ready all the same is the word of the node controller, which
// changes this one condition of the Pods on a node of which nothing was heard for too long.
void read_conditions(json::Reader& in, PodView& out) {
  bool containers_ready = false;
  std::optional<WallTime> unready_since;
  in.items([&](json::Reader& item) {
    std::string type, status, reason, message, changed;
    item.fields([&](std::string_view key, json::Reader& value) {
      if (key == "type")
        type = value.text();
      else if (key == "status")
        status = value.text();
      else if (key == "reason")
        reason = value.text();
      else if (key == "message")
        message = value.text();
      else if (key == "lastTransitionTime" && value.kind() == json::Reader::Kind::kString)
        changed = value.text();
    });
    if (type == "Ready") out.ready = status == "True";
    if (type == "Ready" && status == "True")
      if (auto since = json::parse_time(changed)) out.ready_since = *since;
    if (type == "Ready" && status == "False" && reason != "ReadinessGatesNotReady")
      if (auto since = json::parse_time(changed)) unready_since = *since;
    if (type == "ContainersReady") containers_ready = status == "True";
    if (type == "PodScheduled" && status == "False" && reason == "Unschedulable") {
      out.unschedulable = message;
      if (auto since = json::parse_time(changed)) out.unschedulable_since = *since;
    }
  });
  if (containers_ready) out.node_silent_since = unready_since;
}

void take_marks(const Marks& marks, PodView& out) {
  out.cluster = text_of(marks.labels, api::kLabelCluster);
  out.controller = marks.controller;
  out.identity = identity_of(marks);
  out.first_pod = is_true(marks.annotations, api::kAnnotationFirstPod);
  const auto formation = text_of(marks.annotations, api::kAnnotationFormation);
  out.formation_open = formation == launch::kFormationOpen;
  out.held = formation == launch::kFormationHeld;
  out.initial_cluster =
      plan::initial_cluster_fingerprint(text_of(marks.annotations, api::kAnnotationInitialCluster));
  out.rendered = text_of(marks.annotations, api::kAnnotationRendered);
  out.reimaged_at = parse_integer(text_of(marks.annotations, api::kAnnotationReimagedAt));
  out.added = text_of(marks.annotations, api::kAnnotationAdded);
  out.voter = is_true(marks.labels, api::kLabelVoter);
  out.serving = is_true(marks.labels, api::kLabelServing);
}

void read_pod_status(json::Reader& in, PodView& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "phase")
      out.phase = pod_phase(value.text());
    else if (key == "podIP")
      out.ip = value.text();
    else if (key == "conditions")
      read_conditions(value, out);
    else if (key == "containerStatuses")
      read_container_statuses(value, api::kEtcdContainer, out.etcd);
    else if (key == "initContainerStatuses")
      read_container_statuses(value, api::kInstallContainer, out.install);
  });
}

// The fields of a Service's or budget's spec that we render. What the server adds (addresses,
// families, defaults) is left out.
constexpr std::string_view kServiceFields[] = {"type",
                                               "selector",
                                               "publishNotReadyAddresses",
                                               "sessionAffinity",
                                               "internalTrafficPolicy",
                                               "externalTrafficPolicy",
                                               "loadBalancerClass",
                                               "loadBalancerSourceRanges"};
constexpr std::string_view kBudgetFields[] = {"minAvailable", "maxUnavailable", "selector"};

std::string owned_ports(const json::Value& ports) {
  std::string out;
  if (!ports.is_array()) return out;
  for (const auto& port : ports.get_array())
    for (std::string_view field : {"name", "port", "targetPort", "protocol"}) {
      const auto* found = json::find(port, "/" + std::string(field));
      out += found ? json::render(*found) : "-";
    }
  return out;
}

template <std::size_t N>
std::string owned_fingerprint(const json::Value& spec, const std::string_view (&fields)[N]) {
  std::string text;
  for (auto field : fields) {
    const auto* found = json::find(spec, "/" + std::string(field));
    text += std::string(field) + "=" + (found ? json::render_sorted(*found) : "-") + ";";
  }
  if (const auto* ports = json::find(spec, "/ports")) text += owned_ports(*ports);
  if (json::text_or(spec, "/clusterIP", "") == "None") text += "headless";
  return pki::sha256_hex(text).substr(0, 16);
}

using OwnedIn = std::string (*)(const json::Value& spec);

void take_marks(const Marks& marks, SharedView& out) {
  out.cluster = text_of(marks.labels, api::kLabelCluster);
  out.controller = marks.controller;
  if (auto uid = text_of(marks.labels, api::kLabelClusterUid); !uid.empty())
    out.cluster_uid = Uid(std::move(uid));
  out.rendered = text_of(marks.annotations, api::kAnnotationRendered);
  out.added = text_of(marks.annotations, api::kAnnotationAdded);
}

void read_shared(json::Reader& in, SharedView& out, OwnedIn owned_in) {
  std::string live, rendered;
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata") {
      const auto marks = read_metadata(value, out.meta);
      take_marks(marks, out);
      rendered = text_of(marks.annotations, api::kAnnotationOwned);
    } else if (key == "spec") {
      live = owned_in(value.document());
    }
  });
  out.drifted = live != rendered;
}

std::optional<plan::CertificateFacts> certificate_facts(std::string_view encoded_pem) {
  auto pem = decode_base64(encoded_pem);
  if (!pem) return std::nullopt;
  auto certificate = pki::Certificate::parse(*pem);
  if (!certificate) return std::nullopt;
  plan::CertificateFacts facts;
  facts.not_before = certificate->not_before();
  facts.not_after = certificate->not_after();
  facts.authority =
      certificate->is_ca() ? certificate->subject_key_id() : certificate->authority_key_id();
  return facts;
}

// Of the authorities in a bundle, sorted.
std::vector<std::string> key_ids(std::string_view encoded_pem) {
  std::vector<std::string> out;
  const auto pem = decode_base64(encoded_pem);
  const auto all = pem ? pki::Certificate::parse_all(*pem) : fail(pem.error());
  if (!all) return out;
  for (const auto& authority : *all) out.push_back(authority.subject_key_id());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<std::string_view> optional_fields(std::string_view kind) {
  if (kind == kube::kServices.kind)
    return {"publishNotReadyAddresses", "externalTrafficPolicy", "loadBalancerClass",
            "loadBalancerSourceRanges"};
  return {"maxUnavailable"};
}

std::string owned_in_service(const json::Value& spec) {
  return owned_fingerprint(spec, kServiceFields);
}
std::string owned_in_budget(const json::Value& spec) {
  return owned_fingerprint(spec, kBudgetFields);
}

// In both of our kinds an absent spec decodes like an empty one: defaults, where there are any.
void read(json::Reader& in, ClusterView& out) {
  json::Value spec = json::Object();
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata")
      (void)read_metadata(value, out.meta);
    else if (key == "spec")
      spec = value.document();
    else if (key == "status")
      out.status = api::decode_cluster_status(value.document());
  });
  if (auto decoded = api::decode_cluster_spec(spec))
    out.declared = std::move(*decoded);
  else
    out.undecodable = decoded.error().text();
}

void read(json::Reader& in, RecordView& out) {
  json::Value spec = json::Object();
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata") {
      const auto marks = read_metadata(value, out.meta);
      out.cluster = text_of(marks.labels, api::kLabelCluster);
      out.controller = marks.controller;
      out.added = text_of(marks.annotations, api::kAnnotationAdded);
    } else if (key == "spec") {
      spec = value.document();
    } else if (key == "status") {
      out.status = api::decode_member_status(value.document());
    }
  });
  if (auto decoded = api::decode_member_spec(spec))
    out.spec = std::move(*decoded);
  else
    out.undecodable = decoded.error().text();
}

void read(json::Reader& in, ClaimView& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata") {
      auto marks = read_metadata(value, out.meta);
      out.cluster = text_of(marks.labels, api::kLabelCluster);
      out.identity = identity_of(marks);
      out.added = text_of(marks.annotations, api::kAnnotationAdded);
      out.owners = std::move(marks.owners);
    } else if (key == "spec") {
      auto spec = value.document();
      out.requested = json::text_or(spec, "/resources/requests/storage", "");
    } else if (key == "status") {
      auto status = value.document();
      out.phase = claim_phase(json::text_or(status, "/phase", ""));
      out.capacity = json::text_or(status, "/capacity/storage", "");
    }
  });
}

void read(json::Reader& in, PodView& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata") {
      take_marks(read_metadata(value, out.meta), out);
    } else if (key == "spec") {
      value.fields([&](std::string_view k, json::Reader& v) {
        if (k == "nodeName") out.node = v.text();
      });
    } else if (key == "status") {
      read_pod_status(value, out);
    }
  });
}

void read(json::Reader& in, ServiceView& out) { read_shared(in, out, owned_in_service); }
void read(json::Reader& in, BudgetView& out) { read_shared(in, out, owned_in_budget); }

void read(json::Reader& in, EndpointsView& out) {
  const auto add_addresses = [&](std::string_view key, json::Reader& value) {
    if (key == "addresses")
      value.items([&](json::Reader& address) { out.addresses.emplace_back(address.text()); });
  };
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "endpoints")
      value.items([&](json::Reader& endpoint) { endpoint.fields(add_addresses); });
  });
}

void read(json::Reader& in, SecretView& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata") {
      take_marks(read_metadata(value, out.meta), out);
    } else if (key == "data") {
      value.fields([&](std::string_view k, json::Reader& v) {
        if (k == api::kSecretCertificate) out.certificate = certificate_facts(v.text());
        if (k == api::kSecretNextCertificate) out.next = certificate_facts(v.text());
        if (k == api::kSecretCa) out.trusts = key_ids(v.text());
      });
    }
  });
}

}  // namespace quorate::op
