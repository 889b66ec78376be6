#pragma once

// The implementation of Store<T>; included by store.h alone.

#include <algorithm>
#include <utility>

#include "kube/store.h"

namespace quorate::kube {

// ---- objects at rest

template <Projection T>
auto Store<T>::put_to_rest(const std::shared_ptr<T>& object) -> Slot {
  if constexpr (kSleeps) {
    packer_.clear();
    each_field(packer_, *object);
    return Packed(object->meta.key, packer_.bytes());
  } else {
    return object;
  }
}

template <Projection T>
Handle<T> Store<T>::wake(const Slot& slot) {
  if constexpr (kSleeps)
    return look_at(slot.get());
  else
    return slot;
}

// Good for as long as the store has it, at least.
template <Projection T>
Handle<T> Store<T>::look_at(Ref ref) {
  if (!ref) return nullptr;
  if constexpr (kSleeps) {
    auto object = std::make_shared<T>();
    Unpacker fields(Packed::fields_of(ref));
    each_field(fields, *object);
    fields.finish();
    const auto key = Packed::key_of(ref);
    object->meta.key.ns = key.ns;
    object->meta.key.name = key.name;
    return object;
  } else {
    return Handle<T>(Handle<T>(), ref);  // owns nothing
  }
}

template <Projection T>
auto Store<T>::take(Objects& objects, KeyView key) -> Slot {
  auto found = objects.find(key);
  if (found == objects.end()) return Slot();
  // A set gives its elements out as const only because their key must not change while they are
  // in it.
  Slot slot = std::move(const_cast<Slot&>(*found));
  objects.erase(found);
  return slot;
}

// ---- looking

template <Projection T>
Handle<T> Store<T>::find(const ObjectKey& key) const {
  auto found = objects_.find(KeyView(key));
  return found == objects_.end() ? nullptr : wake(*found);
}

template <Projection T>
std::optional<Head> Store<T>::find_head(const ObjectKey& key) const {
  const auto object = find(key);
  return object ? std::optional<Head>(object->meta) : std::nullopt;
}

template <Projection T>
std::vector<Handle<T>> Store<T>::sorted(std::vector<Handle<T>> found) {
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a->meta.key < b->meta.key; });
  return found;
}

template <Projection T>
std::vector<Handle<T>> Store<T>::all() const {
  std::vector<Handle<T>> found;
  found.reserve(objects_.size());
  for (const auto& slot : objects_) found.push_back(wake(slot));
  return sorted(std::move(found));
}

template <Projection T>
std::vector<Handle<T>> Store<T>::in_namespace(std::string_view ns) const {
  std::vector<Handle<T>> found;
  for (const auto& slot : objects_)
    if (key_of(slot).ns == ns) found.push_back(wake(slot));
  return sorted(std::move(found));
}

// Index keys are digests: who stands under one is asked whether it is meant.
template <Projection T>
template <class Matches>
std::vector<Handle<T>> Store<T>::indexed(const Index& index, std::uint64_t key,
                                         Matches matches) const {
  std::vector<Handle<T>> found;
  const auto at = index.find(key);
  if (at == index.end()) return found;
  for (const auto ref : at->second)
    if (auto object = wake(*objects_.find(key_of(ref))); matches(*object))
      found.push_back(std::move(object));
  return sorted(std::move(found));
}

template <Projection T>
std::vector<Handle<T>> Store<T>::owned_by(const Uid& owner) const
  requires std::is_same_v<decltype(T::meta), Meta>
{
  return indexed(by_owner_, index_key("", owner.value()), [&](const T& object) {
    const auto& owners = object.meta.owners();
    return std::any_of(owners.begin(), owners.end(),
                       [&](const OwnerReference& one) { return one.uid == owner; });
  });
}

template <Projection T>
std::vector<Handle<T>> Store<T>::labelled(std::string_view name, std::string_view value) const
  requires HasLabels<T>
{
  CHECK(std::find(options_.indexed_labels.begin(), options_.indexed_labels.end(), name) !=
            options_.indexed_labels.end(),
        "label {} is not indexed", name);
  return indexed(by_label_, index_key(name, value),
                 [&](const T& object) { return find_label(object, name) == value; });
}

// ---- the watch

template <Projection T>
void Store<T>::on_init() {
  collecting_ = true;
  collected_.clear();
  kept_.clear();
  collected_unreadable_.clear();
  begin_list();
}

template <Projection T>
Result<void> Store<T>::on_init_apply(json::PaddedView text) {
  TRY(auto decoded, decode(text));
  const auto& head = decoded.head;
  const auto known = objects_.find(KeyView(head.key));
  take(collected_, head.key);
  if (known != objects_.end()) kept_.erase(known->get());
  collected_unreadable_.erase(head.key);
  if (!decoded.object) {
    collected_unreadable_.emplace(head.key, *decoded.error);
    return {};
  }
  if (known != objects_.end()) {
    const auto object = wake(*known);
    if (object->meta.uid == head.uid && object->meta.resource_version == head.resource_version) {
      kept_.insert(known->get());
      return {};
    }
  }
  collected_.insert(put_to_rest(decoded.object));
  return {};
}

// What was before and is no more is left in `before`, so that it can be told.
template <Projection T>
auto Store<T>::swap_in_collected(Objects& before) -> std::vector<Replaced> {
  before = std::exchange(objects_, std::exchange(collected_, {}));
  std::vector<Replaced> changed;
  changed.reserve(objects_.size());
  for (const auto& slot : objects_) {
    const auto old = before.find(key_of(slot));
    changed.push_back({old == before.end() ? nullptr : old->get(), slot.get()});
  }
  for (const auto ref : kept_) objects_.insert(take(before, key_of(ref)));
  kept_ = {};
  for (const auto& slot : before)
    if (!objects_.contains(key_of(slot))) changed.push_back({slot.get(), nullptr});
  std::sort(changed.begin(), changed.end(),
            [](const Replaced& a, const Replaced& b) { return a.key() < b.key(); });
  return changed;
}

template <Projection T>
void Store<T>::on_init_done(const ResourceVersion& position) {
  collecting_ = false;
  Objects before;
  const auto changed = swap_in_collected(before);
  unreadable_ = std::exchange(collected_unreadable_, {});
  by_owner_.clear();
  by_label_.clear();
  for (const auto& slot : objects_) add_to_indexes(*wake(slot), slot.get());
  end_list(position);
  for (const auto& replaced : changed) {
    if (subscribers_.empty()) break;
    const auto key = replaced.key();
    notify({std::string(key.ns), std::string(key.name)}, look_at(replaced.before).get(),
           look_at(replaced.after).get());
  }
  before.clear();
  forget_unused();
}

template <Projection T>
auto Store<T>::remove(const ObjectKey& key) -> Slot {
  CHECK(!collecting_, "{} changes while a list is collected", key.text());
  Slot slot = take(objects_, key);
  if (slot.get()) remove_from_indexes(*look_at(slot.get()), slot.get());
  return slot;
}

template <Projection T>
Result<void> Store<T>::on_apply(json::PaddedView text) {
  TRY(auto decoded, decode(text));
  const auto& key = decoded.head.key;
  const Slot before = remove(key);
  unreadable_.erase(key);
  if (decoded.object) {
    Slot after = put_to_rest(decoded.object);
    add_to_indexes(*decoded.object, after.get());
    objects_.insert(std::move(after));
  } else {
    unreadable_.emplace(key, *decoded.error);
  }
  moved(decoded.head.resource_version);
  if (!subscribers_.empty()) notify(key, look_at(before.get()).get(), decoded.object.get());
  return {};
}

template <Projection T>
Result<void> Store<T>::on_delete(json::PaddedView text) {
  TRY(const auto head, decode_head(text));
  if (collecting_) {  // it went while the initial events were still being sent
    take(collected_, head.key);
    if (auto known = objects_.find(KeyView(head.key)); known != objects_.end())
      kept_.erase(known->get());
    collected_unreadable_.erase(head.key);
    return {};
  }
  Slot before = remove(head.key);
  const bool was_unreadable = unreadable_.erase(head.key) > 0;
  moved(head.resource_version);
  if (before.get() || was_unreadable) notify(head.key, look_at(before.get()).get(), nullptr);
  before = Slot();
  forget_unused_sometimes();
  return {};
}

// An object that is not what the projection expects must not stop the watch of all others: it is
// kept apart, by its metadata alone.
template <Projection T>
auto Store<T>::decode(json::PaddedView text) -> Result<Decoded> {
  Decoded out;
  out.object = std::make_shared<T>();
  auto done = projector_.read(text, [&](json::Reader& root) { read(root, *out.object); });
  if (done && out.object->meta.key.name.empty())
    return fail(Code::kCorrupt, "an object without a name");
  if (done) {
    if constexpr (kHasOwners) share(out.object->meta);
    out.head = out.object->meta;
    return out;
  }
  out.object.reset();
  out.error = std::move(done).error();
  TRY(out.head, decode_head(text));
  report_unreadable(out.head.key, *out.error);
  return out;
}

template <Projection T>
void Store<T>::notify(const ObjectKey& key, const T* before, const T* after) {
  for (const auto& subscriber : subscribers_) subscriber(Change{key, before, after});
}

// ---- indexes

template <Projection T>
template <class Visit>
void Store<T>::for_each_index_key(const T& object, Visit visit) {
  if constexpr (kHasOwners)
    for (const auto& owner : object.meta.owners())
      visit(by_owner_, index_key("", owner.uid.value()));
  if constexpr (HasLabels<T>)
    for (const auto& name : options_.indexed_labels)
      if (auto value = find_label(object, name)) visit(by_label_, index_key(name, *value));
}

template <Projection T>
void Store<T>::add_to_indexes(const T& object, Ref ref) {
  for_each_index_key(object, [&](Index& index, std::uint64_t key) { index[key].push_back(ref); });
}

template <Projection T>
void Store<T>::remove_from_indexes(const T& object, Ref ref) {
  for_each_index_key(object, [&](Index& index, std::uint64_t key) {
    auto found = index.find(key);
    if (found == index.end()) return;
    std::erase(found->second, ref);
    if (found->second.empty()) index.erase(found);
  });
}

}  // namespace quorate::kube
