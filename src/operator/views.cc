#include "operator/views.h"

#include "api/names.h"
#include "base/bytes.h"
#include "json/timestamp.h"
#include "pki/certificate.h"
#include "pki/digest.h"

namespace quorate::op {
namespace {

constexpr std::string_view kOurPrefix = "quorate.io/";

void read_metadata(json::Reader& in, kube::Meta& meta, api::TextMap& annotations) {
  kube::read(in, meta, [&](std::string_view key, std::string_view value) {
    if (key.starts_with(kOurPrefix)) annotations.emplace(key, value);
  });
}

template <class View>
void read_spec_and_status(json::Reader& in, View& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata")
      read(value, out.meta);
    else if (key == "spec")
      out.spec = value.raw();
    else if (key == "status")
      out.status = value.raw();
  });
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

void read_conditions(json::Reader& in, PodView& out) {
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
    if (type == "PodScheduled" && status == "False" && reason == "Unschedulable") {
      out.unschedulable = message;
      if (auto since = json::parse_time(changed)) out.unschedulable_since = *since;
    }
  });
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
constexpr std::string_view kServiceFields[] = {"type", "selector", "publishNotReadyAddresses",
                                               "sessionAffinity"};
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

void read_shared(json::Reader& in, SharedView& out, OwnedIn owned_in) {
  api::TextMap annotations;
  std::string owned;
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata")
      read_metadata(value, out.meta, annotations);
    else if (key == "spec")
      owned = owned_in(value.document());
  });
  out.rendered = annotations[std::string(api::kAnnotationRendered)];
  out.drifted = owned != annotations[std::string(api::kAnnotationOwned)];
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
  facts.names = certificate->names().dns;
  const auto& ips = certificate->names().ips;
  facts.names.insert(facts.names.end(), ips.begin(), ips.end());
  return facts;
}

}  // namespace

std::string owned_in_service(const json::Value& spec) {
  return owned_fingerprint(spec, kServiceFields);
}
std::string owned_in_budget(const json::Value& spec) {
  return owned_fingerprint(spec, kBudgetFields);
}

void read(json::Reader& in, ClusterView& out) { read_spec_and_status(in, out); }
void read(json::Reader& in, RecordView& out) { read_spec_and_status(in, out); }

void read(json::Reader& in, ClaimView& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata") {
      read_metadata(value, out.meta, out.annotations);
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
      read_metadata(value, out.meta, out.annotations);
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
      api::TextMap annotations;
      read_metadata(value, out.meta, annotations);
      if (auto found = annotations.find(api::kAnnotationRendered); found != annotations.end())
        out.rendered = found->second;
    } else if (key == "data") {
      value.fields([&](std::string_view k, json::Reader& v) {
        if (k == api::kSecretCertificate) out.certificate = certificate_facts(v.text());
      });
    }
  });
}

}  // namespace quorate::op
