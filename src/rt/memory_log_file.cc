#include "rt/memory_log_file.h"

namespace quorate::rt {

void MemoryLogFile::show(const Remains& remains) const {
  if (on_moment) on_moment(remains);
}

Result<std::string> MemoryLogFile::read(Bytes limit) {
  if (!synced_) return fail(Code::kNotFound, "read: no such file");
  if (synced_->size() > static_cast<std::size_t>(limit.value()))
    return fail(Code::kInvalid, "read: too large");
  return *synced_;
}

Result<void> MemoryLogFile::replace(const std::string& contents) {
  open_ = false;
  show(synced_);  // whatever has come of what is written aside
  if (left_ && contents.size() > *left_)
    return fail(Code::kUnavailable, "replace: no space left on device");
  show(contents);  // renamed; until the directory is synced it may be either
  show(synced_);
  synced_ = contents;
  open_ = true;
  show(synced_);
  return {};
}

// A file that has grown and was not synced may have any part of what is new, and nulls for pages
// that did not make it.
Result<void> MemoryLogFile::append(std::string_view bytes) {
  if (!open_) return fail(Code::kUnavailable, "append: it is not open");
  const auto before = *synced_;
  const auto fits = left_ ? std::min(*left_, bytes.size()) : bytes.size();
  constexpr std::size_t kSector = 32;  // far smaller than any disk's
  for (std::size_t size = 0; size <= fits; ++size) {
    show(before + std::string(bytes.substr(0, size)));
    if (size % kSector != 0) continue;
    show(before + std::string(bytes.substr(0, size)) + std::string(fits - size, '\0'));
    show(before + std::string(size, '\0') + std::string(bytes.substr(size, fits - size)));
  }
  if (fits < bytes.size()) {
    open_ = false;
    synced_ = before + std::string(bytes.substr(0, fits));
    return fail(Code::kUnavailable, "append: no space left on device");
  }
  synced_ = before + std::string(bytes);
  show(synced_);
  return {};
}

}  // namespace quorate::rt
