#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/identity.h"
#include "kube/object.h"
#include "plan/observation.h"

// What the operator keeps of the objects that it watches: small structs of the fields that
// decisions need, never whole documents, and never a private key.
namespace quorate::op {

// An EtcdCluster. Spec and status are kept as text and decoded when the cluster is looked at:
// 10,000 clusters sleep most of the time.
struct ClusterView {
  kube::Meta meta;
  std::string spec;    // JSON; empty if absent
  std::string status;  // JSON; empty if absent
};
void read(json::Reader& in, ClusterView& out);

// An EtcdMember.
struct RecordView {
  kube::Meta meta;
  std::string spec;
  std::string status;
};
void read(json::Reader& in, RecordView& out);

struct ClaimView {
  kube::Meta meta;
  api::TextMap annotations;  // ours alone (quorate.io/...)
  plan::ClaimPhase phase = plan::ClaimPhase::kPending;
  std::string requested;  // quantities as written
  std::string capacity;
};
void read(json::Reader& in, ClaimView& out);

struct PodView {
  kube::Meta meta;
  api::TextMap annotations;  // ours alone
  plan::PodPhase phase = plan::PodPhase::kUnknown;
  bool ready = false;
  std::string unschedulable;
  std::optional<WallTime> unschedulable_since;
  std::string node;
  std::string ip;
  plan::ContainerFacts install;
  plan::ContainerFacts etcd;
};
void read(json::Reader& in, PodView& out);

// A Service, budget or Secret of ours. Services and budgets carry a fingerprint of the fields that
// we rendered; it differs from that of the live fields when somebody has edited them.
struct SharedView {
  kube::Meta meta;
  std::string rendered;  // annotation
  bool drifted = false;  // Services and budgets
  std::optional<plan::CertificateFacts> certificate;
};
struct ServiceView : SharedView {};
struct BudgetView : SharedView {};
struct SecretView : SharedView {};
void read(json::Reader& in, ServiceView& out);
void read(json::Reader& in, BudgetView& out);
void read(json::Reader& in, SecretView& out);

// An EndpointSlice: where somebody is sent.
struct EndpointsView {
  std::vector<std::string> addresses;
};
void read(json::Reader& in, EndpointsView& out);

// The fingerprint of what we own in the spec of a Service or of a budget.
[[nodiscard]] std::string owned_in_service(const json::Value& spec);
[[nodiscard]] std::string owned_in_budget(const json::Value& spec);

}  // namespace quorate::op
