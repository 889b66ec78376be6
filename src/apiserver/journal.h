#pragma once

namespace quorate::apiserver {

struct Event;

// Where a storage writes a change down before anybody learns of it. Without one, objects last as
// long as the process.
class Journal {
 public:
  virtual ~Journal() = default;

  // The change is about to be made. It returns when the change cannot be lost any more; if that
  // cannot be had it does not return, because an API must not go on that forgets what it has
  // acknowledged.
  virtual void commit(const Event& event) = 0;
};

}  // namespace quorate::apiserver
