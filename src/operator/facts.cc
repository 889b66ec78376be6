#include "operator/facts.h"

#include "api/names.h"

namespace quorate::op {
namespace {

std::optional<api::Quantity> quantity_of(const std::string& text) {
  auto quantity = api::Quantity::parse(text);
  return quantity ? std::optional<api::Quantity>(*quantity) : std::nullopt;
}

}  // namespace

plan::ClusterFacts cluster_facts(const ClusterView& view) {
  plan::ClusterFacts facts;
  facts.key = ClusterKey{view.meta.key};
  facts.uid = view.meta.uid;
  facts.resource_version = view.meta.resource_version;
  facts.generation = view.meta.generation;
  facts.deleting = view.meta.deleting();
  facts.declared = view.declared;
  facts.undecodable = view.undecodable;
  facts.status = view.status;
  return facts;
}

Result<plan::RecordFacts> record_facts(const RecordView& view) {
  if (!view.undecodable.empty()) return fail(Code::kInvalid, view.undecodable);
  plan::RecordFacts facts;
  facts.name = view.meta.key.name;
  facts.uid = view.meta.uid;
  facts.resource_version = view.meta.resource_version;
  facts.controller = view.controller;
  facts.deleting = view.meta.deleting();
  facts.created = view.meta.created.value_or(WallTime());
  facts.spec = view.spec;
  facts.status = view.status;
  facts.added = view.added;
  return facts;
}

std::optional<plan::ClaimFacts> claim_facts(const ClaimView& view, std::string_view cluster) {
  auto ordinal = api::ordinal_of_claim_name(cluster, view.meta.key.name);
  if (!ordinal) return std::nullopt;
  plan::ClaimFacts facts;
  facts.name = view.meta.key.name;
  facts.ordinal = *ordinal;
  facts.uid = view.meta.uid;
  facts.resource_version = view.meta.resource_version;
  facts.owners = view.owners;
  facts.deleting = view.meta.deleting();
  facts.identity = view.identity;
  facts.phase = view.phase;
  facts.requested = quantity_of(view.requested);
  facts.capacity = quantity_of(view.capacity);
  facts.added = view.added;
  return facts;
}

std::optional<plan::PodFacts> pod_facts(const PodView& view, std::string_view cluster) {
  auto ordinal = api::ordinal_of_member_name(cluster, view.meta.key.name);
  if (!ordinal) return std::nullopt;
  plan::PodFacts facts;
  facts.name = view.meta.key.name;
  facts.ordinal = *ordinal;
  facts.uid = view.meta.uid;
  facts.resource_version = view.meta.resource_version;
  facts.controller = view.controller;
  facts.deleting = view.meta.deleting();
  facts.deleting_since = view.meta.deleting_since;
  facts.identity = view.identity;
  facts.first_pod = view.first_pod;
  facts.formation_open = view.formation_open;
  facts.held = view.held;
  facts.initial_cluster = view.initial_cluster;
  facts.rendered = view.rendered;
  facts.reimaged_at = view.reimaged_at;
  facts.added = view.added;
  facts.voter = view.voter;
  facts.serving = view.serving;
  facts.phase = view.phase;
  facts.ready = view.ready;
  facts.ready_since = view.ready_since;
  facts.node_silent_since = view.node_silent_since;
  facts.unschedulable = view.unschedulable;
  facts.unschedulable_since = view.unschedulable_since;
  facts.node = view.node;
  facts.ip = view.ip;
  facts.install = view.install;
  facts.etcd = view.etcd;
  return facts;
}

plan::SharedFacts shared_facts(plan::Shared which, const SharedView& view) {
  plan::SharedFacts facts;
  facts.which = which;
  facts.uid = view.meta.uid;
  facts.resource_version = view.meta.resource_version;
  facts.controller = view.controller;
  facts.cluster_uid = view.cluster_uid;
  facts.deleting = view.meta.deleting();
  facts.rendered = view.rendered;
  facts.added = view.added;
  facts.drifted = view.drifted;
  facts.certificate = view.certificate;
  facts.trusts = view.trusts;
  facts.next = view.next;
  return facts;
}

}  // namespace quorate::op
