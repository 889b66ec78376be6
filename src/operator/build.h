#pragma once

#include "api/identity.h"
#include "json/document.h"
#include "kube/object.h"
#include "pki/authority.h"
#include "plan/step.h"

// Steps of a plan as Kubernetes objects. Pure: the same step gives the same document.
namespace quorate::op {

// Whose objects they are, and what people want to find on all of them.
struct Owner {
  ClusterKey key;
  Uid uid;
  api::MetadataSpec metadata = {};
};

[[nodiscard]] json::Value build_peer_service(const Owner& owner, const plan::ApplyShared& step);
[[nodiscard]] json::Value build_client_service(const Owner& owner, const plan::ApplyShared& step);
[[nodiscard]] json::Value build_budget(const Owner& owner, const plan::ApplyShared& step);

// ca.crt, tls.crt and tls.key, whatever the Secret is for; an authority's own certificate stands in
// both of the first.
[[nodiscard]] json::Value build_tls_secret(const Owner& owner, plan::Shared which,
                                           std::string_view rendered, std::string_view ca_pem,
                                           std::string_view certificate_pem, const Secret& key_pem);

[[nodiscard]] json::Value build_record(const Owner& owner, const plan::CreateRecord& step);
// The reference that makes an object go with the cluster, and nothing more.
[[nodiscard]] json::Value plain_owner_reference(const Owner& owner);
[[nodiscard]] json::Value build_claim(const Owner& owner, const plan::CreateClaim& step);
[[nodiscard]] json::Value build_pod(const Owner& owner, const plan::CreatePod& step);

// A merge patch that makes a Service or budget as it is built, whatever it was: optional fields
// that are not there any more are removed, and so is what `added` says was added.
[[nodiscard]] json::Object build_shared_patch(const json::Value& built, std::string_view added);
// A merge patch of the metadata that people want.
[[nodiscard]] json::Object build_metadata_patch(const plan::SetMetadata& step);
// Adds it to an object that is about to be made; ours win.
void add_metadata(json::Value& object, const api::MetadataSpec& metadata);

// The annotations of a Pod that the launch guard reads: written with the Pod, patched later.
[[nodiscard]] api::TextMap pod_state_annotations(const plan::PodState& state);

// Labels of everything that belongs to the cluster.
[[nodiscard]] json::Object cluster_labels(const Owner& owner, std::string_view component);
[[nodiscard]] json::Object to_json(const api::TextMap& map);

}  // namespace quorate::op
