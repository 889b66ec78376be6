#include "apiserver/controller_events.h"

#include <algorithm>
#include <chrono>

#include "apiserver/controller_objects.h"

namespace quorate::apiserver {

namespace {

constexpr std::chrono::hours kKept(1);  // kube-apiserver's --event-ttl

// Every write leaves its time with its manager.
WallTime last_written(const json::Value& event, WallTime otherwise) {
  auto last = time_at(event, "/metadata/creationTimestamp").value_or(otherwise);
  if (const auto managers = json::array_at(event, "/metadata/managedFields"))
    for (const auto& manager : **managers)
      last = std::max(last, time_at(manager, "/time").value_or(last));
  return last;
}

}  // namespace

EventController::EventController(rt::Runtime runtime, Verbs& verbs)
    : Controller(runtime, verbs, "event-ttl") {}

void EventController::note(const Change& change) {
  if (&change.kind() == kinds().events && !change.deleted()) mark_after(change.work(), kKept);
}

void EventController::reconcile(const WorkKey& work) {
  const auto event = look_at(*work.kind, work.key);
  if (!event) return;
  const auto age = now() - last_written(*event, now());
  if (age < kKept) return mark_after(work, kKept - age);
  (void)verbs().remove(*work.kind, work.key);
}

}  // namespace quorate::apiserver
