#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "datadir/descriptor.h"

// Reading files whose content nobody vouches for: front to back, through a buffer of fixed size,
// whatever lengths they claim.
namespace quorate::datadir {

// kCorrupt is said of content; any other code means that the file could not be read.
class FileReader {
 public:
  // kCorrupt if it is no regular file: reading a pipe or a device might never end.
  static Result<FileReader> open(const std::string& path);
  explicit FileReader(Descriptor file, std::uint64_t size);

  std::uint64_t size() const { return size_; }
  std::uint64_t position() const { return base_ + at_; }
  std::uint64_t left() const { return size_ - position(); }

  // The next bytes, at most as many as this; none only at the end. The view holds until the next
  // call.
  Result<std::string_view> take(std::uint64_t most);
  // kCorrupt if the file ends before.
  Result<unsigned char> byte();
  Result<void> skip(std::uint64_t bytes);
  void seek(std::uint64_t position);

  // CRC-32C of everything that was taken since the beginning was set.
  void begin_checksum(std::uint32_t before);
  std::uint32_t checksum();

 private:
  static constexpr std::size_t kBuffer = 128 * 1024;
  Result<void> fill();

  Descriptor file_;
  std::uint64_t size_ = 0;
  std::unique_ptr<char[]> buffer_;
  std::uint64_t base_ = 0;  // where the buffer is in the file
  std::size_t filled_ = 0;
  std::size_t at_ = 0;
  std::uint32_t checksum_ = 0;
  std::size_t summed_ = 0;  // up to where in the buffer
};

// The fields of a protobuf message of known length that begins where the reader stands.
class MessageReader {
 public:
  MessageReader(FileReader& file, std::uint64_t length)
      : file_(file), end_(file.position() + length) {}

  enum class Kind { kNumber, kBytes };
  struct Field {
    std::uint32_t number = 0;
    Kind kind{};
    std::uint64_t value = 0;  // or how many bytes follow
  };
  // Nothing at the end. What was left unread of the field before is skipped.
  Result<std::optional<Field>> next();
  // The message in the field that was read last.
  MessageReader enter(const Field& field) const { return {file_, field.value}; }

 private:
  Result<std::uint64_t> varint();

  FileReader& file_;
  std::uint64_t end_;
  std::uint64_t next_ = 0;  // where the next field begins; 0: here
};

}  // namespace quorate::datadir
