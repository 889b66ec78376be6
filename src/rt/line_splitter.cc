#include "rt/line_splitter.h"

#include <algorithm>

namespace quorate::rt {

void LineSplitter::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto room = bytes.substr(0, longest_ - begun_.size());
    const auto end = room.find('\n');
    begun_.append(room.substr(0, end));
    const bool whole = end != std::string_view::npos;
    bytes.remove_prefix(whole ? end + 1 : room.size());
    if (!whole && begun_.size() < longest_) return;
    on_line_(begun_);
    begun_.clear();
  }
}

void LineSplitter::flush() {
  if (!begun_.empty()) on_line_(begun_);
  begun_.clear();
}

}  // namespace quorate::rt
