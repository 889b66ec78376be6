#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "datadir/crc32c.h"
#include "datadir/wal.h"

// Writes segments and snapshots byte by byte as etcd does, for tests.
namespace quorate::datadir {

class ProtoWriter {
 public:
  ProtoWriter& number(unsigned field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  ProtoWriter& bytes(unsigned field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

class WalWriter {
 public:
  // The first record of every segment: the checksum that the one before ended with.
  explicit WalWriter(std::uint32_t before = 0) : checksum_(before) {
    frame(ProtoWriter().number(1, 4).number(2, before).text());
  }

  WalWriter& metadata(std::uint64_t member, std::uint64_t cluster) {
    return record(1, ProtoWriter().number(1, member).number(2, cluster).text());
  }
  WalWriter& entry(EntryId id, std::string_view data = "x") {
    return record(
        2, ProtoWriter().number(1, 0).number(2, id.term).number(3, id.index).bytes(4, data).text());
  }
  WalWriter& state(std::uint64_t term, std::uint64_t commit) {
    return record(3, ProtoWriter().number(1, term).number(2, 1).number(3, commit).text());
  }
  WalWriter& snapshot(EntryId id) {
    return record(5, ProtoWriter().number(1, id.index).number(2, id.term).text());
  }
  WalWriter& record(std::uint64_t type, std::string_view data) {
    checksum_ = crc32c(checksum_, data);
    frame(ProtoWriter().number(1, type).number(2, checksum_).bytes(3, data).text());
    return *this;
  }

  std::uint32_t checksum() const { return checksum_; }
  const std::string& text() const { return text_; }
  // As on disk: room is made for more than was written.
  std::string preallocated(std::size_t more = 4096) const {
    return text_ + std::string(more, '\0');
  }

 private:
  void frame(const std::string& bytes) {
    const std::uint64_t padding = (8 - bytes.size() % 8) % 8;
    std::uint64_t field = bytes.size();
    if (padding != 0) field |= (0x80 | padding) << 56;
    for (unsigned i = 0; i < 8; ++i) text_ += static_cast<char>(field >> (8 * i));
    text_ += bytes + std::string(padding, '\0');
  }

  std::uint32_t checksum_;
  std::string text_;
};

inline std::string render_snapshot(EntryId id, std::string_view content = "{}") {
  const auto metadata = ProtoWriter()
                            .bytes(1, ProtoWriter().number(1, 7).text())
                            .number(2, id.index)
                            .number(3, id.term)
                            .text();
  const auto data = ProtoWriter().bytes(1, content).bytes(2, metadata).text();
  return ProtoWriter().number(1, crc32c(0, data)).bytes(2, data).text();
}

}  // namespace quorate::datadir
