#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/changes.h"

namespace quorate::cmd {

// What one look has found: a page, and the same in statements. Documents (JSON and its kind) have
// none.
struct Seen {
  std::string page;
  cli::Statements statements;
};

// Shows looks on standard output, one after the other. On a terminal each page is drawn over the
// last; what stood there before can be scrolled back to. Elsewhere a line with the time comes for
// everything that has changed. Documents are written anew, on a terminal, too, when they change.
class Display {
 public:
  explicit Display(bool documents) : documents_(documents) {}

  // A look that failed is told, on standard error where lines or documents are written; what was
  // seen before it still counts.
  void show(const Result<Seen>& look, WallTime now);

 private:
  void draw(const std::string& page);
  void tell(const Seen& seen, WallTime now);
  void tell_failure(const std::string& why, WallTime now);

  bool documents_;
  bool begun_ = false;
  std::string shown_;  // the page or document of the last look
  cli::Statements told_;
  std::string failure_;  // empty if the last look did not fail
};

}  // namespace quorate::cmd
