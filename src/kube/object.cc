#include "kube/object.h"

#include "json/timestamp.h"

namespace quorate::kube {
namespace {

std::optional<WallTime> read_time(json::Reader& value) {
  const auto text = value.text();
  if (text.empty()) return std::nullopt;
  auto time = json::parse_time(text);
  if (time) return *time;
  value.fail(Code::kInvalid, time.error().text());
  return std::nullopt;
}

OwnerReference read_owner(json::Reader& in) {
  OwnerReference out;
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "apiVersion")
      out.api_version = value.text();
    else if (key == "kind")
      out.kind = value.text();
    else if (key == "name")
      out.name = value.text();
    else if (key == "uid")
      out.uid = Uid(std::string(value.text()));
    else if (key == "controller")
      out.controller = value.flag();
  });
  return out;
}

}  // namespace

std::optional<std::string_view> Meta::label(std::string_view name) const {
  if (!label_set) return std::nullopt;
  auto found = label_set->find(name);
  if (found == label_set->end()) return std::nullopt;
  return found->second;
}

const json::Labels& Meta::labels() const {
  static const json::Labels kNone;
  return label_set ? *label_set : kNone;
}

const std::vector<OwnerReference>& Meta::owners() const {
  static const std::vector<OwnerReference> kNone;
  return owner_set ? *owner_set : kNone;
}

const OwnerReference* Meta::controller() const {
  for (const auto& owner : owners())
    if (owner.controller) return &owner;
  return nullptr;
}

void read(json::Reader& metadata, Meta& out) {
  read(metadata, out, [](std::string_view, std::string_view) {});
}

void read(json::Reader& metadata, Meta& out, EachAnnotation each) {
  json::Labels labels;
  std::vector<OwnerReference> owners;
  read(metadata, out,
       {[&](std::string_view name, std::string_view value) {
          labels.insert_or_assign(std::string(name), std::string(value));
        },
        [&](OwnerReference owner) { owners.push_back(std::move(owner)); }, each});
  if (!labels.empty()) out.label_set = std::make_shared<const json::Labels>(std::move(labels));
  if (!owners.empty())
    out.owner_set = std::make_shared<const std::vector<OwnerReference>>(std::move(owners));
}

void read(json::Reader& metadata, Head& out, const EachPart& each) {
  metadata.fields([&](std::string_view key, json::Reader& value) {
    if (key == "namespace")
      out.key.ns = value.text();
    else if (key == "name")
      out.key.name = value.text();
    else if (key == "uid")
      out.uid = Uid(std::string(value.text()));
    else if (key == "resourceVersion")
      out.resource_version = ResourceVersion(std::string(value.text()));
    else if (key == "generation")
      out.generation = value.integer();
    else if (key == "creationTimestamp")
      out.created = read_time(value);
    else if (key == "deletionTimestamp")
      out.deleting_since = read_time(value);
    else if (key == "labels")
      value.fields([&](std::string_view k, json::Reader& v) { each.label(k, v.text()); });
    else if (key == "ownerReferences")
      value.items([&](json::Reader& item) { each.owner(read_owner(item)); });
    else if (key == "annotations")
      value.fields([&](std::string_view k, json::Reader& v) { each.annotation(k, v.text()); });
  });
}

void read(json::Reader& object, MetaView& out) {
  object.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata") read(value, out.meta);
  });
}

Result<Meta> Object::meta() const {
  TRY(auto view, as<MetaView>());
  return std::move(view.meta);
}

json::Value make_object(Resource resource, const ObjectKey& key) {
  json::Object metadata;
  metadata["name"] = key.name;
  if (resource.namespaced) metadata["namespace"] = key.ns;
  json::Object object;
  object["apiVersion"] = resource.api_version();
  object["kind"] = resource.kind;
  object["metadata"] = std::move(metadata);
  return object;
}

json::Value make_owner_reference(Resource owner_kind, const Meta& owner, bool controller) {
  json::Object out;
  out["apiVersion"] = owner_kind.api_version();
  out["kind"] = owner_kind.kind;
  out["name"] = owner.key.name;
  out["uid"] = owner.uid.value();
  if (controller) out["controller"] = true;
  return out;
}

ObjectReference make_reference(Resource resource, const Meta& meta) {
  return {resource.api_version(), std::string(resource.kind), meta.key, meta.uid,
          meta.resource_version};
}

}  // namespace quorate::kube
