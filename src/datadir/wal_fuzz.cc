// A segment from any bytes: it ends somewhere, and what is whole of it reads the same alone.

#include <sys/mman.h>

#include <cstdint>

#include "base/check.h"
#include "datadir/wal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate::datadir;
  const auto open = [&](std::size_t length) {
    Descriptor file(::memfd_create("segment", MFD_CLOEXEC));
    CHECK(file && ::write(file.get(), data, length) == static_cast<ssize_t>(length));
    return FileReader(std::move(file), length);
  };
  auto file = open(size);
  const auto segment = read_segment(file);
  CHECK(segment.has_value(), "{}", segment.error().text());
  CHECK(segment->offset <= size);
  CHECK((segment->end == Segment::End::kClean) == segment->damage.empty());
  if (segment->end == Segment::End::kDamaged) return 0;  // some of the last record may have counted
  auto begin = open(segment->offset);
  const auto again = read_segment(begin);
  CHECK(again && again->end == Segment::End::kClean);
  CHECK(again->metadata == segment->metadata && again->last_entry == segment->last_entry &&
        again->commit == segment->commit && again->snapshot == segment->snapshot);
  return 0;
}
