// A segment from any bytes: it ends somewhere, and what is whole of it reads the same alone. Twice:
// the bytes as they are, and as the data of records whose checksums are right.

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "datadir/wal.h"
#include "datadir/wal_writer_test.h"

namespace quorate::datadir {
namespace {

FileReader open(std::string_view text) {
  Descriptor file(::memfd_create("segment", MFD_CLOEXEC));
  CHECK(file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  return FileReader(std::move(file), text.size());
}

void try_segment(std::string_view text) {
  auto file = open(text);
  const auto segment = read_segment(file);
  CHECK(segment.has_value(), "{}", segment.error().text());
  CHECK(segment->offset <= text.size());
  CHECK((segment->end == Segment::End::kClean) == segment->damage.empty());
  auto begin = open(text.substr(0, segment->offset));
  const auto again = read_segment(begin);
  CHECK(again && again->end == Segment::End::kClean && again->offset == segment->offset);
  CHECK(again->metadata == segment->metadata && again->last_entry == segment->last_entry &&
        again->commit == segment->commit && again->snapshot == segment->snapshot);
}

// A type, a length, and as many bytes.
std::string with_checksums(std::string_view bytes) {
  WalWriter out;
  while (bytes.size() >= 2) {
    const auto type = static_cast<unsigned char>(bytes[0]) % 7u;
    const auto length =
        std::min<std::size_t>(static_cast<unsigned char>(bytes[1]), bytes.size() - 2);
    out.record(type, bytes.substr(2, length));
    bytes.remove_prefix(2 + length);
  }
  return out.preallocated(16);
}

}  // namespace
}  // namespace quorate::datadir

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  quorate::datadir::try_segment(bytes);
  quorate::datadir::try_segment(quorate::datadir::with_checksums(bytes));
  return 0;
}
