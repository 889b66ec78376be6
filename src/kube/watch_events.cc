#include "kube/watch_events.h"

#include "kube/status.h"

namespace quorate::kube {
namespace {

// What the machine has to know of an event's object before the sink may have it.
struct EventHead {
  ResourceVersion version;
  bool ends_initial_events = false;
};

void read(json::Reader& object, EventHead& out) {
  object.fields([&](std::string_view key, json::Reader& metadata) {
    if (key != "metadata") return;
    metadata.fields([&](std::string_view name, json::Reader& value) {
      if (name == "resourceVersion") {
        out.version = ResourceVersion(std::string(value.text()));
      } else if (name == "annotations") {
        value.fields([&](std::string_view annotation, json::Reader& text) {
          if (annotation == "k8s.io/initial-events-end")
            out.ends_initial_events = text.text() == "true";
        });
      }
    });
  });
}

}  // namespace

Result<void> WatchEvents::take(json::PaddedView line) {
  auto type = WatchMachine::EventType::kUnknown;
  std::string_view object;
  TRY(readable(projector_.read_event(line, [&](std::string_view name, json::Reader& value) {
    type = WatchMachine::parse_type(name);
    object = value.raw();
  })));
  ++taken_;
  // The object stands inside the line, so the line's padding is its own.
  const auto text = json::PaddedView::trust(object);
  if (type == WatchMachine::EventType::kError) {
    TRY(auto status, readable(json::project<Status>(projector_, text)));
    return fail(to_error(status, Effect::kRead));
  }
  TRY(auto head, readable(json::project<EventHead>(projector_, text)));
  switch (machine_.on_event(type, head.version, head.ends_initial_events)) {
    case WatchMachine::Meaning::kInitApply:
      TRY(readable(sink_.on_init_apply(text)));
      break;
    case WatchMachine::Meaning::kApply:
      TRY(readable(sink_.on_apply(text)));
      break;
    case WatchMachine::Meaning::kDelete:
      TRY(readable(sink_.on_delete(text)));
      break;
    case WatchMachine::Meaning::kInitDone:
      sink_.on_init_done(head.version);
      break;
    case WatchMachine::Meaning::kPosition:
      sink_.on_position(head.version);
      break;
    case WatchMachine::Meaning::kNone:
      if (machine_.state() == WatchMachine::State::kEmpty)
        return fail(Code::kGone, "the server's versions went back");
      break;
  }
  return {};
}

}  // namespace quorate::kube
