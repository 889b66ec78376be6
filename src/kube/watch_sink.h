#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "json/projection.h"

namespace quorate::kube {

// Hears what a watcher sees. The vocabulary lets a cache be swapped as a whole: Init, any number of
// InitApply, InitDone; then Apply and Delete one by one; Init again after a gap that could not be
// bridged. An Init that is followed by another Init came to nothing: what was applied in between is
// void. Between Init and InitDone an object may come again (the later one counts) or be deleted.
//
// Objects are texts that are valid during the call alone. An error means that the text is no object
// at all; the list is begun anew then.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  virtual void on_init() = 0;
  virtual Result<void> on_init_apply(json::PaddedView object) = 0;
  virtual void on_init_done(const ResourceVersion& position) = 0;
  virtual Result<void> on_apply(json::PaddedView object) = 0;
  virtual Result<void> on_delete(json::PaddedView object) = 0;
  // Nothing changed up to this version (a bookmark).
  virtual void on_position(const ResourceVersion& position) = 0;
};

}  // namespace quorate::kube
