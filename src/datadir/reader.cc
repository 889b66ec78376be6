#include "datadir/reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "datadir/crc32c.h"

namespace quorate::datadir {
namespace {

Error ends_early() { return {Code::kCorrupt, "it ends in the middle of something"}; }

}  // namespace

// ---- FileReader ----

Result<FileReader> FileReader::open(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return fail(errno_error("open " + path, errno));
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return fail(errno_error("stat " + path, errno));
  if (!S_ISREG(facts.st_mode)) return fail(Code::kCorrupt, path + " is no ordinary file");
  return FileReader(std::move(file), static_cast<std::uint64_t>(facts.st_size));
}

FileReader::FileReader(Descriptor file, std::uint64_t size)
    : file_(std::move(file)), size_(size), buffer_(std::make_unique<char[]>(kBuffer)) {}

// Goes on behind the buffer. What is behind the size that the file had at first is not looked at.
Result<void> FileReader::fill() {
  checksum_ = checksum();
  base_ += at_;
  at_ = summed_ = filled_ = 0;
  const auto most = std::min<std::uint64_t>(kBuffer, size_ - base_);
  while (filled_ == 0 && most > 0) {
    const auto got = ::pread(file_.get(), buffer_.get(), most, static_cast<off_t>(base_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error("read", errno));
    if (got == 0) size_ = base_;  // it was cut while we read it
    if (got == 0) break;
    filled_ = static_cast<std::size_t>(got);
  }
  return {};
}

Result<std::string_view> FileReader::take(std::uint64_t most) {
  if (at_ == filled_ && position() < size_) TRY(fill());
  const auto count = std::min<std::uint64_t>(most, filled_ - at_);
  std::string_view out(buffer_.get() + at_, count);
  at_ += count;
  return out;
}

Result<unsigned char> FileReader::byte() {
  TRY(auto one, take(1));
  if (one.empty()) return fail(ends_early());
  return static_cast<unsigned char>(one.front());
}

Result<void> FileReader::skip(std::uint64_t bytes) {
  while (bytes > 0) {
    TRY(auto some, take(bytes));
    if (some.empty()) return fail(ends_early());
    bytes -= some.size();
  }
  return {};
}

void FileReader::seek(std::uint64_t position) {
  base_ = std::min(position, size_);
  at_ = summed_ = filled_ = 0;
}

void FileReader::begin_checksum(std::uint32_t before) {
  checksum_ = before;
  summed_ = at_;
}

std::uint32_t FileReader::checksum() {
  checksum_ = crc32c(checksum_, {buffer_.get() + summed_, at_ - summed_});
  summed_ = at_;
  return checksum_;
}

// ---- MessageReader ----

Result<std::uint64_t> MessageReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (file_.position() >= end_) return fail(ends_early());
    TRY(const auto byte, file_.byte());
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return fail(Code::kCorrupt, "a number is too long");
}

Result<std::optional<MessageReader::Field>> MessageReader::next() {
  if (next_ > file_.position()) TRY(file_.skip(next_ - file_.position()));
  if (file_.position() >= end_) return std::optional<Field>();
  TRY(const auto tag, varint());
  Field field;
  field.number = static_cast<std::uint32_t>(tag >> 3);
  constexpr std::uint64_t kVarint = 0;
  constexpr std::uint64_t kFixed64 = 1;
  constexpr std::uint64_t kLength = 2;
  constexpr std::uint64_t kFixed32 = 5;
  const auto wire = tag & 7;
  if (wire == kVarint) {
    TRY(field.value, varint());
    next_ = file_.position();
    return std::optional(field);
  }
  field.kind = Kind::kBytes;
  if (wire == kLength) {
    TRY(field.value, varint());
  } else if (wire == kFixed64 || wire == kFixed32) {
    field.value = wire == kFixed64 ? 8 : 4;
  } else {
    return fail(Code::kCorrupt, "a field is of an unknown kind");
  }
  if (field.value > end_ - file_.position()) return fail(ends_early());
  next_ = file_.position() + field.value;
  return std::optional(field);
}

}  // namespace quorate::datadir
