#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/function_ref.h"
#include "json/projection.h"

namespace quorate::json {

// A growing buffer whose content may always be parsed in place.
class PaddedBuffer {
 public:
  void append(std::string_view piece);
  void clear();  // gives the memory back if it has become large
  [[nodiscard]] PaddedView view() const;
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// Cuts a stream that arrives in arbitrary pieces into lines: watch streams, logs. Keeps only the
// line that is not complete yet; lines inside one piece are not copied where that can be avoided.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t ceiling) : ceiling_(ceiling) {}

  // Calls `line` for each line that this piece completes, without its line end (\n or \r\n); empty
  // lines are left out. The first failure of `line` ends the call and is returned; kInvalid if a
  // line passes the ceiling. After a failure the splitter is done.
  Result<void> push(std::string_view piece, FunctionRef<Result<void>(PaddedView line)> line);

  // Bytes of the line that is not complete: not 0 at the end of a stream that was cut.
  [[nodiscard]] std::size_t pending() const { return partial_.size(); }

 private:
  std::size_t ceiling_;
  PaddedBuffer partial_;
};

// What a list says beside its items.
struct ListMetadata {
  std::string resource_version;
  std::string continue_token;  // empty on the last page
  std::int64_t remaining = 0;  // remainingItemCount, if the server says it
};

// Takes a Kubernetes list, {"kind": .., "metadata": {..}, "items": [..]}, apart while it arrives:
// memory holds one item, not the page. Fields may come in any order; those not named here are
// skipped.
class ListSplitter {
 public:
  // `ceiling` bounds one item, the metadata, and each key; what is skipped is not kept.
  explicit ListSplitter(std::size_t ceiling);
  ~ListSplitter();
  ListSplitter(ListSplitter&&) noexcept;
  ListSplitter& operator=(ListSplitter&&) noexcept;

  // Calls `item` with the text of each item (an object) that this piece completes. The first
  // failure of `item` ends the call and is returned; kCorrupt if the text is no list, kInvalid if
  // it passes the ceiling. After a failure the splitter is done.
  Result<void> push(std::string_view piece, FunctionRef<Result<void>(PaddedView item)> item);

  // At the end of the text: the list's metadata; kCorrupt if the list is not complete. A text that
  // is a complete object of another kind (a Status) is kInvalid.
  [[nodiscard]] Result<ListMetadata> finish();

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace quorate::json
