#pragma once

// The implementation of Store<T>; included by store.h alone.

#include <algorithm>
#include <utility>

#include "kube/store.h"

namespace quorate::kube {

template <Projection T>
const T* Store<T>::find(const ObjectKey& key) const {
  auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : found->get();
}

template <Projection T>
const Meta* Store<T>::find_meta(const ObjectKey& key) const {
  const T* object = find(key);
  return object ? &object->meta : nullptr;
}

template <Projection T>
std::vector<const T*> Store<T>::sorted(std::vector<const T*> found) {
  std::sort(found.begin(), found.end(),
            [](const T* a, const T* b) { return a->meta.key < b->meta.key; });
  return found;
}

template <Projection T>
std::vector<const T*> Store<T>::all() const {
  std::vector<const T*> found;
  found.reserve(objects_.size());
  for (const auto& object : objects_) found.push_back(object.get());
  return sorted(std::move(found));
}

template <Projection T>
std::vector<const T*> Store<T>::in_namespace(std::string_view ns) const {
  std::vector<const T*> found;
  for (const auto& object : objects_)
    if (object->meta.key.ns == ns) found.push_back(object.get());
  return sorted(std::move(found));
}

template <Projection T>
std::vector<const T*> Store<T>::owned_by(const Uid& owner) const {
  auto found = by_owner_.find(owner.value());
  return found == by_owner_.end() ? std::vector<const T*>() : sorted(found->second);
}

template <Projection T>
std::vector<const T*> Store<T>::labelled(std::string_view name, std::string_view value) const {
  CHECK(std::find(options_.indexed_labels.begin(), options_.indexed_labels.end(), name) !=
            options_.indexed_labels.end(),
        "label {} is not indexed", name);
  auto found = by_label_.find(label_index_key(name, value));
  return found == by_label_.end() ? std::vector<const T*>() : sorted(found->second);
}

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
  const Meta& meta = decoded.object ? decoded.object->meta : decoded.meta;
  const auto version = meta.resource_version;
  const ObjectKey key = meta.key;
  take(collected_, key);
  kept_.erase(key);
  collected_unreadable_.erase(key);
  if (!decoded.object) {
    collected_unreadable_.emplace(key, *decoded.error);
  } else if (const T* known = find(key);
             known && known->meta.uid == meta.uid && known->meta.resource_version == version) {
    kept_.insert(key);
  } else {
    collected_.insert(std::move(decoded.object));
  }
  return {};
}

template <Projection T>
void Store<T>::on_init_done(const ResourceVersion& position) {
  collecting_ = false;
  Objects before = std::exchange(objects_, std::exchange(collected_, {}));
  std::vector<ObjectKey> changed;
  for (const auto& object : objects_) changed.push_back(object->meta.key);
  for (const auto& key : kept_) objects_.insert(take(before, key));
  kept_ = {};
  for (const auto& object : before)
    if (!objects_.contains(object->meta.key)) changed.push_back(object->meta.key);
  unreadable_ = std::exchange(collected_unreadable_, {});

  by_owner_.clear();
  by_label_.clear();
  for (const auto& object : objects_) add_to_indexes(*object);
  end_list(position);
  std::sort(changed.begin(), changed.end());
  for (const auto& key : changed) {
    auto old = before.find(key);
    notify(key, old == before.end() ? nullptr : old->get(), find(key));
  }
  before.clear();
  forget_unused();
}

template <Projection T>
Result<void> Store<T>::on_apply(json::PaddedView text) {
  TRY(auto decoded, decode(text));
  const Meta& meta = decoded.object ? decoded.object->meta : decoded.meta;
  const auto version = meta.resource_version;
  const ObjectKey key = meta.key;
  Ptr before = take(objects_, key);
  if (before) remove_from_indexes(*before);
  unreadable_.erase(key);
  const T* after = decoded.object.get();
  if (after) {
    add_to_indexes(*after);
    objects_.insert(std::move(decoded.object));
  } else {
    unreadable_.emplace(key, *decoded.error);
  }
  moved(version);
  notify(key, before.get(), after);
  return {};
}

template <Projection T>
Result<void> Store<T>::on_delete(json::PaddedView text) {
  TRY(auto meta, decode_meta(text));
  if (collecting_) {  // it went while the initial events were still being sent
    take(collected_, meta.key);
    kept_.erase(meta.key);
    collected_unreadable_.erase(meta.key);
    return {};
  }
  Ptr before = take(objects_, meta.key);
  if (before) remove_from_indexes(*before);
  const bool was_unreadable = unreadable_.erase(meta.key) > 0;
  moved(meta.resource_version);
  if (before || was_unreadable) notify(meta.key, before.get(), nullptr);
  before.reset();
  forget_unused_sometimes();
  return {};
}

// An object that is not what the projection expects must not stop the watch of all others: it is
// kept apart, by its metadata alone.
template <Projection T>
auto Store<T>::decode(json::PaddedView text) -> Result<Decoded> {
  Decoded out;
  out.object = std::make_unique<T>();
  auto done = projector_.read(text, [&](json::Reader& root) { read(root, *out.object); });
  if (done && out.object->meta.key.name.empty())
    return fail(Code::kCorrupt, "an object without a name");
  if (done) {
    share(out.object->meta);
    return out;
  }
  out.object.reset();
  out.error = std::move(done).error();
  TRY(out.meta, decode_meta(text));
  report_unreadable(out.meta.key, *out.error);
  return out;
}

template <Projection T>
auto Store<T>::take(Objects& objects, const ObjectKey& key) -> Ptr {
  auto found = objects.find(key);
  if (found == objects.end()) return nullptr;
  // A set gives its elements out as const only because their key must not change while they are
  // in it.
  Ptr object = std::move(const_cast<Ptr&>(*found));
  objects.erase(found);
  return object;
}

template <Projection T>
template <class Visit>
void Store<T>::for_each_index_key(const T& object, Visit visit) {
  for (const auto& owner : object.meta.owners()) visit(by_owner_, owner.uid.value());
  for (const auto& name : options_.indexed_labels)
    if (auto value = object.meta.label(name)) visit(by_label_, label_index_key(name, *value));
}

template <Projection T>
void Store<T>::add_to_indexes(const T& object) {
  for_each_index_key(object,
                     [&](Index& index, const std::string& key) { index[key].push_back(&object); });
}

template <Projection T>
void Store<T>::remove_from_indexes(const T& object) {
  for_each_index_key(object, [&](Index& index, const std::string& key) {
    auto found = index.find(key);
    if (found == index.end()) return;
    std::erase(found->second, &object);
    if (found->second.empty()) index.erase(found);
  });
}

template <Projection T>
void Store<T>::notify(const ObjectKey& key, const T* before, const T* after) {
  for (const auto& subscriber : subscribers_) subscriber(Change{key, before, after});
}

}  // namespace quorate::kube
