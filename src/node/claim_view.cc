#include "node/claim_view.h"

#include "node/metadata.h"

namespace quorate::node {
namespace {

using json::Reader;
using std::string_view;

json::Quantity quantity_of(Reader& in) {
  auto parsed = json::Quantity::parse(in.text_or_number());
  if (parsed) return *parsed;
  in.fail(parsed.error().code(), parsed.error().text());
  return {};
}

// The `storage` member of a resource list.
std::optional<json::Quantity> read_storage(Reader& in) {
  std::optional<json::Quantity> out;
  in.fields([&](string_view key, Reader& value) {
    if (key == "storage") out = quantity_of(value);
  });
  return out;
}

void read_claim_spec(Reader& in, ClaimView& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "storageClassName")
      out.class_name = value.text();
    else if (key == "volumeName")
      out.volume_name = value.text();
    else if (key == "accessModes")
      value.items([&](Reader& mode) { out.access_modes.emplace_back(mode.text()); });
    else if (key == "resources")
      value.fields([&](string_view field, Reader& part) {
        if (field == "requests") out.request = read_storage(part).value_or(json::Quantity());
      });
  });
}

// nodeAffinity.required.nodeSelectorTerms[].matchExpressions[].values: ours name one node.
void read_affinity(Reader& in, std::string& node) {
  switch (in.kind()) {
    case Reader::Kind::kObject:
      in.fields([&](string_view key, Reader& value) {
        if (key == "required" || key == "nodeSelectorTerms" || key == "matchExpressions" ||
            key == "values")
          read_affinity(value, node);
      });
      return;
    case Reader::Kind::kArray:
      in.items([&](Reader& item) { read_affinity(item, node); });
      return;
    case Reader::Kind::kString:
      node = in.text();
      return;
    default:
      return;
  }
}

void read_claim_reference(Reader& in, VolumeView& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "namespace")
      out.claim.ns = value.text();
    else if (key == "name")
      out.claim.name = value.text();
    else if (key == "uid")
      out.claim_uid = Uid(std::string(value.text()));
  });
}

void read_volume_spec(Reader& in, VolumeView& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "capacity")
      out.capacity = read_storage(value).value_or(json::Quantity());
    else if (key == "persistentVolumeReclaimPolicy")
      out.reclaim_policy = value.text();
    else if (key == "nodeAffinity")
      read_affinity(value, out.node);
    else if (key == "claimRef")
      read_claim_reference(value, out);
    else if (key == "local")
      value.fields([&](string_view field, Reader& part) {
        if (field == "path") out.path = part.text();
      });
  });
}

}  // namespace

void read(json::Reader& in, ClaimView& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "metadata") {
      TextMap annotations;
      read_metadata(value, out.meta, annotations);
      out.selected_node = annotations["volume.kubernetes.io/selected-node"];
    } else if (key == "spec") {
      read_claim_spec(value, out);
    } else if (key == "status") {
      value.fields([&](string_view field, Reader& part) {
        if (field == "phase")
          out.phase = part.text();
        else if (field == "capacity")
          out.capacity = read_storage(part);
      });
    }
  });
}

void read(json::Reader& in, VolumeView& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "metadata") {
      TextMap annotations;
      read_metadata(value, out.meta, annotations);
      out.provisioned_by = annotations["pv.kubernetes.io/provisioned-by"];
    } else if (key == "spec") {
      read_volume_spec(value, out);
    } else if (key == "status") {
      value.fields([&](string_view field, Reader& part) {
        if (field == "phase") out.phase = part.text();
      });
    }
  });
}

void read(json::Reader& in, ClassView& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "metadata")
      read(value, out.meta);
    else if (key == "provisioner")
      out.provisioner = value.text();
    else if (key == "reclaimPolicy")
      out.reclaim_policy = value.text();
  });
}

}  // namespace quorate::node
