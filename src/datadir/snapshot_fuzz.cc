// A snapshot file from any bytes: it is one, or corrupt; it is never anything else.

#include <sys/mman.h>

#include <cstdint>

#include "base/check.h"
#include "datadir/snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate::datadir;
  Descriptor file(::memfd_create("snapshot", MFD_CLOEXEC));
  CHECK(file && ::write(file.get(), data, size) == static_cast<ssize_t>(size));
  FileReader reader(std::move(file), size);
  const auto snapshot = read_snapshot(reader);
  CHECK(snapshot ? snapshot->index > 0 : snapshot.error() == quorate::Code::kCorrupt);
  return 0;
}
