#include "apiserver/views.h"

#include <utility>

#include "apiserver/builtin_types.h"

namespace quorate::apiserver {

namespace {

// v1 Event on the left, events.k8s.io/v1 Event on the right. Only these two kinds are one.
constexpr std::pair<const char*, const char*> kEventNames[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

void rename(json::Object& object, const char* from, const char* to) {
  if (auto* found = object.if_contains(from)) {
    object[to] = json::Value(*found);
    object.stable_erase(from);
  }
}

}  // namespace

json::Value to_view(const Kind& kind, json::Value stored) {
  if (!kind.stored_as || !stored.is_object()) return stored;
  auto& object = stored.get_object();
  object["apiVersion"] = kind.api_version();
  for (const auto& [core, events] : kEventNames) rename(object, core, events);
  decode_typed(stored, kind.rules->schema());  // what is left out when empty differs
  return stored;
}

Decoded view_of(const Kind& kind, const Record& record) {
  if (!kind.stored_as) return record.decoded();
  return std::make_shared<const json::Value>(to_view(kind, record.value()));
}

json::Value to_stored(const Kind& kind, json::Value view) {
  if (!kind.stored_as || !view.is_object()) return view;
  auto& object = view.get_object();
  object["apiVersion"] = kind.stored_as->api_version();
  for (const auto& [core, events] : kEventNames) rename(object, events, core);
  decode_typed(view, kind.stored_as->rules->schema());
  return view;
}

}  // namespace quorate::apiserver
