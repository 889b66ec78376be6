#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/cluster.h"
#include "api/each_field.h"
#include "api/identity.h"
#include "api/member.h"
#include "kube/object.h"
#include "plan/observation.h"

// What the operator keeps of the objects that it watches: small structs of the fields that
// decisions need, never whole documents, and never a private key. Of labels and annotations there
// is what they say. Caches keep them packed (kube/packed.h), so each has its each_field here.
namespace quorate::op {

// An EtcdCluster.
struct ClusterView {
  kube::Head meta;
  std::optional<api::ClusterSpec> declared;  // absent if it could not be decoded
  std::string undecodable;                   // why not
  std::optional<api::ClusterStatus> status;
};
void read(json::Reader& in, ClusterView& out);

// An EtcdMember.
struct RecordView {
  kube::Head meta;
  std::string cluster;  // label; empty: none
  std::optional<Uid> controller;
  api::MemberSpec spec;
  api::MemberStatus status;
  std::string undecodable;  // why the spec could not be decoded; empty: it was
  std::string added;        // annotation
};
void read(json::Reader& in, RecordView& out);

struct ClaimView {
  kube::Head meta;
  std::string cluster;
  std::vector<Uid> owners;
  std::optional<api::Identity> identity;  // absent if it carries none that is whole
  plan::ClaimPhase phase = plan::ClaimPhase::kPending;
  std::string requested;  // quantities as written
  std::string capacity;
  std::string added;
};
void read(json::Reader& in, ClaimView& out);

struct PodView {
  kube::Head meta;
  std::string cluster;
  std::optional<Uid> controller;
  std::optional<api::Identity> identity;
  bool first_pod = false;
  bool formation_open = false;
  bool held = false;
  std::string initial_cluster;  // fingerprint
  std::string rendered;
  std::optional<std::int64_t> reimaged_at;
  std::string added;
  bool voter = false;
  bool serving = false;
  plan::PodPhase phase = plan::PodPhase::kUnknown;
  bool ready = false;
  std::optional<WallTime> ready_since;
  std::optional<WallTime> node_silent_since;
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
  kube::Head meta;
  std::string cluster;
  std::optional<Uid> controller;
  std::optional<Uid> cluster_uid;  // label
  std::string rendered;            // annotation
  std::string added;               // annotation
  bool drifted = false;            // Services and budgets
  std::optional<plan::CertificateFacts> certificate;
  std::vector<std::string> trusts;
  std::optional<plan::CertificateFacts> next;
};
struct ServiceView : SharedView {};
struct BudgetView : SharedView {};
struct SecretView : SharedView {};
void read(json::Reader& in, ServiceView& out);
void read(json::Reader& in, BudgetView& out);
void read(json::Reader& in, SecretView& out);

// The one label that all but clusters are found by.
template <class View>
  requires requires(const View& view) { view.cluster; }
[[nodiscard]] std::optional<std::string_view> find_label(const View& view, std::string_view name) {
  if (name != api::kLabelCluster || view.cluster.empty()) return std::nullopt;
  return view.cluster;
}

// An EndpointSlice: where somebody is sent.
struct EndpointsView {
  std::vector<std::string> addresses;
};
void read(json::Reader& in, EndpointsView& out);

// The fields of a Service's or budget's spec that we render in some clusters and not in others.
[[nodiscard]] std::vector<std::string_view> optional_fields(std::string_view kind);
// The fingerprint of what we own in the spec of a Service or of a budget.
[[nodiscard]] std::string owned_in_service(const json::Value& spec);
[[nodiscard]] std::string owned_in_budget(const json::Value& spec);

template <class Visit>
void each_field(Visit& visit, ClusterView& view) {
  auto& [meta, declared, undecodable, status] = view;
  visit(meta, declared, undecodable, status);
}
template <class Visit>
void each_field(Visit& visit, RecordView& view) {
  auto& [meta, cluster, controller, spec, status, undecodable, added] = view;
  visit(meta, cluster, controller, spec, status, undecodable, added);
}
template <class Visit>
void each_field(Visit& visit, ClaimView& view) {
  auto& [meta, cluster, owners, identity, phase, requested, capacity, added] = view;
  visit(meta, cluster, owners, identity, phase, requested, capacity, added);
}
template <class Visit>
void each_field(Visit& visit, PodView& view) {
  auto& [meta, cluster, controller, identity, first_pod, formation_open, held, initial_cluster,
         rendered, reimaged_at, added, voter, serving, phase, ready, ready_since, node_silent_since,
         unschedulable, unschedulable_since, node, ip, install, etcd] = view;
  visit(meta, cluster, controller, identity, first_pod, formation_open, held, initial_cluster,
        rendered, reimaged_at, added, voter, serving, phase, ready, ready_since, node_silent_since,
        unschedulable, unschedulable_since, node, ip, install, etcd);
}
template <class Visit>
void each_field(Visit& visit, SharedView& view) {
  auto& [meta, cluster, controller, cluster_uid, rendered, added, drifted, certificate, trusts,
         next] = view;
  visit(meta, cluster, controller, cluster_uid, rendered, added, drifted, certificate, trusts,
        next);
}

}  // namespace quorate::op

// Facts that views hold as they are; what looks for each_field finds it beside the type.
namespace quorate::plan {

template <class Visit>
void each_field(Visit& visit, Terminated& terminated) {
  auto& [exit_code, reason, message] = terminated;
  visit(exit_code, reason, message);
}
template <class Visit>
void each_field(Visit& visit, ContainerFacts& container) {
  auto& [waiting, running, terminated, waiting_message, last, restarts] = container;
  visit(waiting, running, terminated, waiting_message, last, restarts);
}
template <class Visit>
void each_field(Visit& visit, CertificateFacts& certificate) {
  auto& [not_before, not_after, authority] = certificate;
  visit(not_before, not_after, authority);
}

}  // namespace quorate::plan
