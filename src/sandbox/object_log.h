#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace quorate::sandbox {

// The text in which the sandbox keeps its objects. No I/O; object_store.h says why nothing
// acknowledged is lost.
//
//   CHECKSUM LENGTH {"format":"quorate sandbox objects 1","version":41,"objects":2}
//   CHECKSUM LENGTH {"version":12,"resource":"v1/pods","namespace":"n","name":"a","object":{...}}
//   CHECKSUM LENGTH {"version":41,...}
//   CHECKSUM LENGTH {"version":42,"resource":"v1/pods","namespace":"n","name":"a"}
//
// The first line and as many objects as it says are what stood at its version, in the order of
// their versions; they are written as a whole. Each line behind is one commit, of the next version:
// an object as it is from then on, or without `object` its removal. A line is a commit once its
// line feed is on the disk.

// One object at a version, or its removal.
struct LogEntry {
  std::int64_t version = 0;
  std::string resource;  // apiVersion and plural name: "v1/pods", "quorate.io/v1alpha1/etcds"
  ObjectKey key;
  std::string object;  // compact JSON; empty: it is gone

  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

// Everything that stands, one entry for each object.
struct LogContents {
  std::int64_t version = 0;       // of the latest commit
  std::vector<LogEntry> objects;  // in the order of their versions
  std::size_t cut = 0;            // bytes at the end that were no commit yet, and are left out

  friend bool operator==(const LogContents&, const LogContents&) = default;
};

[[nodiscard]] std::string render_log(const LogContents& contents);
[[nodiscard]] std::string render_entry(const LogEntry& entry);

// What a log says. A line that is not whole counts as a commit that never was, if nothing whole
// stands behind it. kCorrupt, naming the line, for everything else that render_log and render_entry
// do not write.
[[nodiscard]] Result<LogContents> read_log(std::string_view text);

}  // namespace quorate::sandbox
