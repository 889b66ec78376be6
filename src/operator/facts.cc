#include "operator/facts.h"

#include "api/codec.h"
#include "api/names.h"

namespace quorate::op {
namespace {

std::optional<Uid> controller_of(const kube::Meta& meta) {
  const auto* controller = meta.controller();
  return controller ? std::optional<Uid>(controller->uid) : std::nullopt;
}

std::string text_of(const api::TextMap& map, std::string_view key) {
  auto found = map.find(key);
  return found == map.end() ? std::string() : found->second;
}

bool is_true(const kube::Meta& meta, std::string_view label) {
  return meta.label(label) == api::kTrue;
}

std::optional<api::Identity> identity_of(const kube::Meta& meta, const api::TextMap& annotations) {
  auto identity = api::parse_identity(meta.labels(), annotations);
  return identity ? std::optional<api::Identity>(*identity) : std::nullopt;
}

std::optional<api::Quantity> quantity_of(const std::string& text) {
  auto quantity = api::Quantity::parse(text);
  return quantity ? std::optional<api::Quantity>(*quantity) : std::nullopt;
}

// An absent part of an object decodes like an empty one: defaults.
Result<json::Value> parse_or_empty(const std::string& text) {
  if (text.empty()) return json::Value(json::Object());
  return json::parse(text);
}

}  // namespace

plan::ClusterFacts cluster_facts(const ClusterView& view) {
  plan::ClusterFacts facts;
  facts.key = ClusterKey{view.meta.key};
  facts.uid = view.meta.uid;
  facts.resource_version = view.meta.resource_version;
  facts.generation = view.meta.generation;
  facts.deleting = view.meta.deleting();
  auto spec = parse_or_empty(view.spec);
  auto declared =
      spec ? api::decode_cluster_spec(*spec) : Result<api::ClusterSpec>(fail(spec.error()));
  if (declared)
    facts.declared = std::move(*declared);
  else
    facts.undecodable = declared.error().text();
  if (view.status.empty()) return facts;
  if (auto status = json::parse(view.status)) facts.status = api::decode_cluster_status(*status);
  return facts;
}

Result<plan::RecordFacts> record_facts(const RecordView& view) {
  plan::RecordFacts facts;
  facts.name = view.meta.key.name;
  facts.uid = view.meta.uid;
  facts.resource_version = view.meta.resource_version;
  facts.controller = controller_of(view.meta);
  facts.deleting = view.meta.deleting();
  facts.created = view.meta.created.value_or(WallTime());
  TRY(auto spec, parse_or_empty(view.spec));
  TRY(facts.spec, api::decode_member_spec(spec));
  if (view.status.empty()) return facts;
  if (auto status = json::parse(view.status)) facts.status = api::decode_member_status(*status);
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
  for (const auto& owner : view.meta.owners()) facts.owners.push_back(owner.uid);
  facts.deleting = view.meta.deleting();
  facts.identity = identity_of(view.meta, view.annotations);
  facts.phase = view.phase;
  facts.requested = quantity_of(view.requested);
  facts.capacity = quantity_of(view.capacity);
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
  facts.controller = controller_of(view.meta);
  facts.deleting = view.meta.deleting();
  facts.deleting_since = view.meta.deleting_since;
  facts.identity = identity_of(view.meta, view.annotations);
  facts.first_pod = text_of(view.annotations, api::kAnnotationFirstPod) == api::kTrue;
  facts.formation_open =
      text_of(view.annotations, api::kAnnotationFormation) == launch::kFormationOpen;
  facts.initial_cluster = text_of(view.annotations, api::kAnnotationInitialCluster);
  facts.rendered = text_of(view.annotations, api::kAnnotationRendered);
  facts.voter = is_true(view.meta, api::kLabelVoter);
  facts.serving = is_true(view.meta, api::kLabelServing);
  facts.phase = view.phase;
  facts.ready = view.ready;
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
  facts.controller = controller_of(view.meta);
  if (auto uid = view.meta.label(api::kLabelClusterUid)) facts.cluster_uid = Uid(std::string(*uid));
  facts.deleting = view.meta.deleting();
  facts.rendered = view.rendered;
  facts.drifted = view.drifted;
  facts.certificate = view.certificate;
  return facts;
}

}  // namespace quorate::op
