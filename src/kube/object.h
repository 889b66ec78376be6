#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "json/document.h"
#include "json/projection.h"
#include "json/selector.h"
#include "kube/resource.h"

namespace quorate::kube {

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  Uid uid;
  bool controller = false;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

// Labels and owners are alike in most objects of a cluster: they are never changed in place, and a
// Store keeps one copy of equal ones.
using SharedLabels = std::shared_ptr<const json::Labels>;
using SharedOwners = std::shared_ptr<const std::vector<OwnerReference>>;

// What tells an object and its states apart.
struct Head {
  ObjectKey key;
  Uid uid;
  ResourceVersion resource_version;
  std::int64_t generation = 0;
  std::optional<WallTime> created;
  std::optional<WallTime> deleting_since;  // deletionTimestamp: it is on its way out

  [[nodiscard]] bool deleting() const { return deleting_since.has_value(); }
  friend bool operator==(const Head&, const Head&) = default;
};

// For packing (packed.h). The key is not among them: a Store has it in front of the fields.
template <class Visit>
void each_field(Visit& visit, Head& head) {
  auto& [key, uid, resource_version, generation, created, deleting_since] = head;
  visit(uid, resource_version, generation, created, deleting_since);
}

// What every object has. A projection holds one as `meta`, or a Head and those labels, owners and
// annotations that it needs, as fields of its own.
struct Meta : Head {
  SharedLabels label_set;  // nullptr: none
  SharedOwners owner_set;  // nullptr: none

  [[nodiscard]] std::optional<std::string_view> label(std::string_view name) const;
  [[nodiscard]] const json::Labels& labels() const;
  [[nodiscard]] const std::vector<OwnerReference>& owners() const;
  // The owner that controls it, or nullptr.
  [[nodiscard]] const OwnerReference* controller() const;
};

// Reads the object's `metadata` member. Projections call it from their own read().
void read(json::Reader& metadata, Meta& out);
// The same, and every annotation, valid during the call.
using EachAnnotation = json::FunctionRef<void(std::string_view key, std::string_view value)>;
void read(json::Reader& metadata, Meta& out, EachAnnotation each);
// The head alone; what is beside it is given out, valid during the call.
struct EachPart {
  json::FunctionRef<void(std::string_view key, std::string_view value)> label;
  json::FunctionRef<void(OwnerReference owner)> owner;
  json::FunctionRef<void(std::string_view key, std::string_view value)> annotation;
};
void read(json::Reader& metadata, Head& out, const EachPart& each);

// An object of which only the metadata is wanted.
struct MetaView {
  Meta meta;
};
void read(json::Reader& object, MetaView& out);

// An object as the server sent it: text, decoded when somebody asks.
class Object {
 public:
  explicit Object(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] Result<json::Value> document() const { return json::parse(text_); }
  [[nodiscard]] Result<Meta> meta() const;
  // As a projection: any type that has read(json::Reader&, T&).
  template <class T>
  [[nodiscard]] Result<T> as() const {
    json::Projector projector;
    return json::project<T>(projector, text_);
  }

 private:
  std::string text_;
};

// The head of an object to be written: {"apiVersion", "kind", "metadata": {"name", "namespace"}}.
[[nodiscard]] json::Value make_object(Resource resource, const ObjectKey& key);

// An entry of metadata.ownerReferences, for an owner of that kind. blockOwnerDeletion is not set:
// it would need a permission on the owner's finalizers, and nothing here relies on it.
[[nodiscard]] json::Value make_owner_reference(Resource owner_kind, const Meta& owner,
                                               bool controller);

// An involved object, as Events name it.
struct ObjectReference {
  std::string api_version;
  std::string kind;
  ObjectKey key;
  Uid uid;
  ResourceVersion resource_version;
  friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
};
[[nodiscard]] ObjectReference make_reference(Resource resource, const Meta& meta);

}  // namespace quorate::kube
