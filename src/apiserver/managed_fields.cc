#include "apiserver/managed_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "apiserver/builtin_types.h"
#include "apiserver/managed_fields_typed.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kPointer = "/metadata/managedFields";
constexpr std::string_view kLastApplied =
    "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration";
constexpr std::size_t kMostUpdaters = 10;

// One line of managedFields. Who it is: manager, operation and subresource, and for updates the
// version; appliers keep their entry from version to version.
struct Entry {
  std::string manager;
  bool applied = false;
  std::string api_version;
  std::string subresource;
  std::string time;
  FieldSet fields;

  using Id = std::tuple<std::string, bool, std::string, std::string>;
  Id id() const { return {manager, applied, applied ? "" : api_version, subresource}; }
  std::string_view operation() const { return applied ? "Apply" : "Update"; }
};
using Entries = std::map<Entry::Id, Entry>;

// Metadata that the server keeps, and what only holds other fields: owned by nobody.
const FieldSet& stripped() {
  static const FieldSet kStripped = FieldSet::of_fields(
      {"apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace",
       "metadata.creationTimestamp", "metadata.selfLink", "metadata.uid", "metadata.clusterName",
       "metadata.generation", "metadata.managedFields", "metadata.resourceVersion"});
  return kStripped;
}

// Nothing if an entry is not well-formed: then all are taken for lost, as the real server does.
std::optional<Entries> read_entries(const json::Value& object) {
  Entries entries;
  const auto* list = json::find(object, kPointer);
  if (!list || !list->is_array()) return entries;
  for (const auto& item : list->get_array()) {
    Entry entry;
    entry.manager = json::text_or(item, "/manager", "");
    const auto operation = json::text_or(item, "/operation", "");
    entry.applied = operation == "Apply";
    entry.api_version = json::text_or(item, "/apiVersion", "");
    entry.subresource = json::text_or(item, "/subresource", "");
    entry.time = json::text_or(item, "/time", "");
    if ((operation != "Apply" && operation != "Update") || entry.api_version.empty() ||
        json::text_or(item, "/fieldsType", "") != "FieldsV1")
      return std::nullopt;
    if (const auto* fields = json::find(item, "/fieldsV1")) {
      auto set = FieldSet::parse(*fields);
      if (!set) return std::nullopt;
      entry.fields = std::move(*set);
    }
    entries[entry.id()] = std::move(entry);
  }
  return entries;
}

// Ordered as the real server orders: by operation, time, manager, version, subresource.
void write_entries(json::Value& object, const std::vector<Entry>& entries) {
  json::remove(object, kPointer);
  if (entries.empty()) return;
  std::vector<const Entry*> ordered;
  for (const auto& entry : entries) ordered.push_back(&entry);
  std::sort(ordered.begin(), ordered.end(), [](const Entry* a, const Entry* b) {
    return std::tuple(a->operation(), std::string_view(a->time), std::string_view(a->manager),
                      std::string_view(a->api_version), std::string_view(a->subresource)) <
           std::tuple(b->operation(), std::string_view(b->time), std::string_view(b->manager),
                      std::string_view(b->api_version), std::string_view(b->subresource));
  });
  json::Array list;
  for (const Entry* entry : ordered) {
    json::Object item{{"manager", entry->manager},
                      {"operation", entry->operation()},
                      {"apiVersion", entry->api_version}};
    if (!entry->time.empty()) item["time"] = entry->time;
    item["fieldsType"] = "FieldsV1";
    item["fieldsV1"] = entry->fields.render();
    if (!entry->subresource.empty()) item["subresource"] = entry->subresource;
    list.push_back(std::move(item));
  }
  // An object always has metadata, so that this cannot fail.
  (void)json::put(object, kPointer, std::move(list));
}

void write_entries(json::Value& object, const Entries& entries) {
  std::vector<Entry> all;
  for (const auto& [id, entry] : entries) all.push_back(entry);
  write_entries(object, all);
}

json::Value without_managed(const json::Value& object) {
  json::Value copy = object;
  json::remove(copy, kPointer);
  return copy;
}

// What an object is before there is one.
json::Value empty_object(const json::Value& like, const Schema& schema) {
  json::Value empty = schema.struct_type ? make_zero(schema) : json::Value(json::Object{});
  empty.as_object()["apiVersion"] = json::text_or(like, "/apiVersion", "");
  empty.as_object()["kind"] = json::text_or(like, "/kind", "");
  return empty;
}

Comparison compare_without(const json::Value& from, const json::Value& to, const Schema& schema,
                           const FieldSet& reset) {
  auto out = compare(from, to, schema);
  out.removed = out.removed.without_below(reset);
  out.modified = out.modified.without_below(reset);
  out.added = out.added.without_below(reset);
  return out;
}

// Takes what has changed away from everybody but `self`.
void yield_ownership(Entries& entries, const Comparison& change, const Entry::Id* self) {
  const auto written = change.modified.united(change.added);
  for (auto entry = entries.begin(); entry != entries.end();) {
    if (!self || entry->first != *self)
      entry->second.fields = entry->second.fields.difference(written).difference(change.removed);
    entry = entry->second.fields.empty() ? entries.erase(entry) : std::next(entry);
  }
}

// The oldest updaters become one, so that there are never more than ten.
void cap_updaters(Entries& entries) {
  std::vector<Entry::Id> updaters;
  for (const auto& [id, entry] : entries)
    if (!entry.applied) updaters.push_back(id);
  if (updaters.size() <= kMostUpdaters) return;
  std::sort(updaters.begin(), updaters.end(), [&](const Entry::Id& a, const Entry::Id& b) {
    return std::tie(entries.at(a).time, a) < std::tie(entries.at(b).time, b);
  });
  std::map<std::string, Entry::Id> first_of_version;
  auto left = updaters.size();
  for (std::size_t i = 0; i < updaters.size() && left > kMostUpdaters; ++i) {
    const Entry entry = entries.at(updaters[i]);
    const auto [first, is_first] = first_of_version.emplace(entry.api_version, updaters[i]);
    if (is_first) continue;
    Entry bucket;
    bucket.manager = "ancient-changes";
    bucket.api_version = entry.api_version;
    const auto id = bucket.id();
    if (!entries.contains(id)) {
      bucket.fields = entries.at(first->second).fields;
      entries.erase(first->second);
      entries.emplace(id, bucket);
    }
    auto& ancient = entries.at(id);
    ancient.fields = ancient.fields.united(entry.fields);
    ancient.time = entry.time;
    entries.erase(updaters[i]);
    --left;
  }
}

void own_changes(Entries& entries, const Comparison& change, Entry self, std::string time) {
  yield_ownership(entries, change, nullptr);
  auto taken = change.modified.united(change.added).difference(stripped());
  if (!taken.empty()) {
    auto& mine = entries.try_emplace(self.id(), self).first->second;
    mine.fields = mine.fields.united(taken);
    mine.time = std::move(time);
  }
  cap_updaters(entries);
}

bool is_reset(const json::Value& object) {
  const auto* list = json::find(object, kPointer);
  if (!list || !list->is_array()) return false;
  const auto& array = list->get_array();
  return array.empty() ||
         (array.size() == 1 && array[0].is_object() && array[0].get_object().empty());
}

Entries entries_of_update(const json::Value& object, const json::Value& live,
                          const Writer& writer) {
  if (writer.subresource.empty()) {
    if (is_reset(object)) return {};
    if (auto sent = read_entries(object); sent && !sent->empty()) return std::move(*sent);
  }
  return read_entries(live).value_or(Entries{});
}

Entry make_entry(const Writer& writer, bool applied) {
  return {writer.manager.empty() ? "unknown" : writer.manager,
          applied,
          writer.api_version,
          writer.subresource,
          "",
          {}};
}

// ---- The usual update: by whoever wrote before, to what they own. Only a time changes. ----

// Nothing is said of owners that is not so already.
bool keeps_owners(const json::Value& object, const json::Value& live, const Writer& writer) {
  const auto* owners = json::find(live, kPointer);
  if (!owners || !owners->is_array() || owners->get_array().empty()) return false;
  const auto* sent = json::find(object, kPointer);
  return !writer.subresource.empty() || !sent || json::equal(*sent, *owners);
}

std::array<std::string_view, 4> id_of(const json::Value& item) {
  return {json::text_or(item, "/manager", ""), json::text_or(item, "/operation", ""),
          json::text_or(item, "/apiVersion", ""), json::text_or(item, "/subresource", "")};
}

// Sets the time of `self` and answers true; or changes nothing and answers false, and the sets must
// be looked at.
bool only_time_changes(json::Array& owners, const Comparison& change, const Entry& self,
                       const std::string& time) {
  const auto taken = change.modified.united(change.added).difference(stripped());
  const std::array<std::string_view, 4> self_id{self.manager, self.operation(), self.api_version,
                                                self.subresource};
  json::Object* own = nullptr;
  for (auto item = owners.begin(); item != owners.end(); ++item) {
    const auto id = id_of(*item);
    const bool twice =
        std::any_of(owners.begin(), item, [&](const auto& one) { return id_of(one) == id; });
    const auto* fields = json::find(*item, "/fieldsV1");
    if (twice || !fields || !fields->is_object()) return false;
    if (change.removed.meets(fields->get_object())) return false;
    if (id != self_id) {
      if (taken.meets(fields->get_object())) return false;
      continue;
    }
    if (!taken.lies_in(fields->get_object())) return false;
    own = &item->as_object();
  }
  if (taken.empty()) return true;
  if (!own || !own->contains("time")) return false;
  (*own)["time"] = time;
  // As write_entries orders them.
  const auto key = [](const json::Value& item) {
    const auto [manager, operation, version, subresource] = id_of(item);
    return std::tuple(operation, json::text_or(item, "/time", ""), manager, version, subresource);
  };
  std::sort(owners.begin(), owners.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return true;
}

// Removes what this applier applied before, applies no more, and nobody else owns.
json::Value prune_unapplied(const json::Value& merged, const FieldSet& last, const Entries& entries,
                            const Schema& schema) {
  if (last.empty()) return merged;
  const auto last_named = with_named_fields(last, schema);
  const auto merged_named = with_named_fields(fields_of(merged, schema), schema);
  auto pruned = without_fields(merged, last_named, schema);

  FieldSet owned;
  for (const auto& [id, entry] : entries) owned = owned.united(entry.fields);
  const auto kept =
      with_named_fields(fields_of(pruned, schema), schema).united(with_named_fields(owned, schema));
  pruned = without_fields(merged, merged_named.difference(kept), schema);

  const auto pruned_named = with_named_fields(fields_of(pruned, schema), schema);
  return without_fields(merged, merged_named.difference(pruned_named).intersection(last_named),
                        schema);
}

std::string describe(const Entry& entry) {
  auto text = quoted(entry.manager);
  if (!entry.subresource.empty())
    text += fmt::format(" with subresource {}", quoted(entry.subresource));
  if (!entry.applied) text += fmt::format(" using {}", entry.api_version);
  return text;
}

// What somebody else owns among the changes, by manager.
std::vector<std::pair<const Entry*, FieldSet>> find_conflicts(const Entries& entries,
                                                              const Comparison& change,
                                                              const Entry::Id& self) {
  std::vector<std::pair<const Entry*, FieldSet>> conflicts;
  const auto written = change.modified.united(change.added);
  for (const auto& [id, entry] : entries) {
    if (id == self) continue;
    if (auto both = entry.fields.intersection(written); !both.empty())
      conflicts.emplace_back(&entry, std::move(both));
  }
  return conflicts;
}

// `kubectl apply --server-side` after client-side applies: what the annotation says was applied,
// and still stands, may be taken over.
FieldSet takeover_of_kubectl(const json::Value& live, const Schema& schema) {
  auto last = json::parse(json::text_or(live, kLastApplied, ""));
  if (!last || !last->is_object() ||
      json::text_or(*last, "/apiVersion", "") != json::text_or(live, "/apiVersion", "-"))
    return {};
  const auto change = compare(*last, live, schema);
  return fields_of(*last, schema)
      .difference(change.modified)
      .difference(change.added)
      .difference(change.removed);
}

Applied refused(int status, std::string error) {
  Applied out;
  out.failure.status = status;
  out.failure.error = std::move(error);
  return out;
}

// Group, version and kind as the real server's messages say them: `/v1, Kind=Pod`.
std::string describe_kind(const json::Value& object) {
  const std::string version(json::text_or(object, "/apiVersion", ""));
  return fmt::format("{}, Kind={}",
                     version.find('/') == std::string::npos ? "/" + version : version,
                     json::text_or(object, "/kind", ""));
}

std::string describe_object(const json::Value& object) {
  return fmt::format("{}/{}; {}", json::text_or(object, "/metadata/namespace", ""),
                     json::text_or(object, "/metadata/name", ""), describe_kind(object));
}

// Whether objects are equal but for one member, of which `same` decides; what stands for one that
// is absent is null.
template <class Same>
bool same_but_for(const json::Value& a, const json::Value& b, std::string_view name, Same same) {
  if (!a.is_object() || !b.is_object()) return json::equal(a, b);
  const auto& left = a.get_object();
  const auto& right = b.get_object();
  static const json::Value kAbsent;
  const auto* mine = left.if_contains(name);
  const auto* theirs = right.if_contains(name);
  if (left.size() - (mine ? 1 : 0) != right.size() - (theirs ? 1 : 0)) return false;
  if (!same(mine ? *mine : kAbsent, theirs ? *theirs : kAbsent)) return false;
  return std::all_of(left.begin(), left.end(), [&](const auto& member) {
    if (member.key() == name) return true;
    const auto* other = right.if_contains(member.key());
    return other && json::equal(member.value(), *other);
  });
}

}  // namespace

void track_update(json::Value& object, const json::Value& live, const Schema& schema,
                  const Writer& writer, const FieldSet& reset) {
  const auto self = make_entry(writer, false);
  const auto time = json::render_time(writer.now);
  if (live.is_null()) {
    auto entries = entries_of_update(object, live, writer);
    json::remove(object, kPointer);
    const auto before = empty_object(object, schema);
    own_changes(entries, compare_without(before, object, schema, reset), self, time);
    return write_entries(object, entries);
  }
  const auto change = compare_without(live, object, schema, reset);
  if (keeps_owners(object, live, writer)) {
    const auto& owners = *json::find(live, kPointer);
    const auto* sent = json::find(object, kPointer);
    if (!sent || !json::equal(*sent, owners)) (void)json::put(object, kPointer, owners);
    auto& written = json::find(object, kPointer)->as_array();
    if (only_time_changes(written, change, self, time)) return;
  }
  auto entries = entries_of_update(object, live, writer);
  json::remove(object, kPointer);
  // An object that has lost its owners is left alone until somebody applies.
  if (entries.empty()) return;
  own_changes(entries, change, self, time);
  write_entries(object, entries);
}

// The real server takes the owners of the replicas for owners of a Scale, of another version, and
// back: on the way updaters lose their time, and one that owned more is there twice.
void track_scale(json::Value& object, const json::Value& live, std::string_view replicas,
                 const Writer& writer) {
  auto dotted = std::string(replicas.substr(1));
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  const auto path = FieldSet::of_fields({dotted});
  auto own = make_entry(writer, false);
  own.fields = path;
  const bool changed = !json::equal(json::integer_at(object, replicas).value_or(0),
                                    json::integer_at(live, replicas).value_or(0));
  std::vector<Entry> entries;
  bool owned = false;  // by anybody: what nobody owns is not tracked
  for (auto& [id, entry] : read_entries(live).value_or(Entries{})) {
    const bool owns = !entry.fields.intersection(path).empty();
    const bool kept = owns && !changed;
    owned |= owns;
    if (owns && (!entry.applied || !kept)) {
      auto rest = entry;
      rest.fields = entry.fields.difference(path);
      if (!rest.fields.empty()) entries.push_back(std::move(rest));
    } else {
      entries.push_back(entry);
    }
    if (!kept || entry.applied) continue;
    auto scale = entry;
    scale.fields = path;
    scale.time.clear();
    entries.push_back(std::move(scale));
  }
  // None are not written in a Scale, and so are nobody's.
  const bool some = json::integer_at(object, replicas).value_or(0) != 0;
  if (changed && owned && some) entries.push_back(std::move(own));
  write_entries(object, entries);
}

Applied apply_configuration(const json::Value& live, const json::Value& config,
                            const Schema& schema, const Writer& writer, bool force,
                            const FieldSet& reset) {
  if (json::text_or(config, "/apiVersion", "") != writer.api_version)
    return refused(400, "invalid object type: " + describe_kind(config));
  if (const auto* sent = json::find(config, kPointer); sent && !sent->is_null())
    return refused(400, "metadata.managedFields must be nil");
  if (auto misfit = find_misfit(config, schema))
    return refused(500, fmt::format("failed to create typed patch object ({}): {}",
                                    describe_object(config), *misfit));

  const auto before = live.is_null() ? empty_object(config, schema) : without_managed(live);
  auto entries = read_entries(live).value_or(Entries{});
  const auto time = json::render_time(writer.now);
  if (entries.empty() && !live.is_null()) {
    Writer earlier = writer;
    earlier.manager = "before-first-apply";
    own_changes(entries, compare_without(empty_object(live, schema), before, schema, reset),
                make_entry(earlier, false), time);
  }

  auto self = make_entry(writer, true);
  const auto id = self.id();
  FieldSet last;
  if (const auto mine = entries.find(id); mine != entries.end()) {
    last = mine->second.fields;
    self.time = mine->second.time;
  }
  self.fields = fields_of(config, schema).without_below(reset);
  entries[id] = self;
  auto object = prune_unapplied(merge_typed(before, config, schema), last, entries, schema);

  const auto change = compare_without(before, object, schema, reset);
  auto conflicts = find_conflicts(entries, change, id);
  if (!force && !conflicts.empty()) {
    const auto allowed =
        writer.manager == "kubectl" ? takeover_of_kubectl(before, schema) : FieldSet();
    Applied out;
    out.failure.status = 409;
    for (const auto& [entry, fields] : conflicts)
      for (const auto& field : fields.difference(allowed).texts())
        out.failure.conflicts.push_back({describe(*entry), field});
    if (!out.failure.conflicts.empty()) return out;
  }
  yield_ownership(entries, change, &id);
  if (const auto mine = entries.find(id); mine != entries.end()) {
    mine->second.fields = mine->second.fields.difference(stripped());
    if (!json::equal(before, object)) mine->second.time = time;
    if (mine->second.fields.empty()) entries.erase(mine);
  }
  if (writer.manager == "kubectl" && !json::text_or(object, kLastApplied, "").empty()) {
    json::Value applied = config;
    json::remove(applied, kLastApplied);
    (void)json::put(object, kLastApplied, json::Value(json::render(applied) + "\n"));
  }
  write_entries(object, entries);
  Applied out;
  out.object = std::move(object);
  return out;
}

std::string conflict_message(const std::vector<ApplyConflict>& conflicts) {
  if (conflicts.size() == 1)
    return fmt::format("Apply failed with 1 conflict: conflict with {}: {}", conflicts[0].manager,
                       conflicts[0].field);
  std::map<std::string, std::vector<std::string>> by_manager;
  for (const auto& conflict : conflicts) by_manager[conflict.manager].push_back(conflict.field);
  std::vector<std::string> lines;
  for (const auto& [manager, fields] : by_manager) {
    lines.push_back(fmt::format("conflicts with {}:", manager));
    for (const auto& field : fields) lines.push_back("- " + field);
  }
  return fmt::format("Apply failed with {} conflicts: {}", conflicts.size(),
                     fmt::join(lines, "\n"));
}

json::Array conflict_causes(const std::vector<ApplyConflict>& conflicts) {
  json::Array causes;
  for (const auto& conflict : conflicts)
    causes.push_back(json::Object{{"reason", "FieldManagerConflict"},
                                  {"message", "conflict with " + conflict.manager},
                                  {"field", conflict.field}});
  return causes;
}

bool same_but_for_managed_times(const json::Value& object, const json::Value& old) {
  if (!object.is_object() || !old.is_object()) return json::equal(object, old);
  const auto same_entry = [](const json::Value& a, const json::Value& b) {
    return same_but_for(a, b, "time", [](const auto&, const auto&) { return true; });
  };
  const auto same_owners = [&](const json::Value& a, const json::Value& b) {
    if (!a.is_array() || !b.is_array()) return json::equal(a, b);
    return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(),
                      b.get_array().end(), same_entry);
  };
  const auto same_metadata = [&](const json::Value& a, const json::Value& b) {
    return same_but_for(a, b, "managedFields", same_owners);
  };
  return same_but_for(object, old, "metadata", same_metadata);
}

}  // namespace quorate::apiserver
