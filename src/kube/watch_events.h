#pragma once

#include <cstdint>

#include "json/projection.h"
#include "kube/watch_machine.h"
#include "kube/watch_sink.h"

namespace quorate::kube {

// Bytes that cannot be taken for what they should be are kCorrupt to the machine, whatever was
// wrong with them: the list is begun anew.
template <class T>
Result<T> readable(Result<T> result) {
  if (!result) return fail(std::move(result).error().as(Code::kCorrupt));
  return result;
}

// Reads the lines of a watch, {"type": ..., "object": ...}, and hands their objects to the sink as
// the machine says.
class WatchEvents {
 public:
  WatchEvents(WatchMachine& machine, WatchSink& sink) : machine_(machine), sink_(sink) {}

  // One line. A failure ends the stream: the Status of an ERROR event, kGone if versions went back,
  // kCorrupt for what is no event.
  Result<void> take(json::PaddedView line);

  [[nodiscard]] std::uint64_t taken() const { return taken_; }

 private:
  WatchMachine& machine_;
  WatchSink& sink_;
  json::Projector projector_;
  std::uint64_t taken_ = 0;
};

}  // namespace quorate::kube
