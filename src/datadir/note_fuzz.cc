// Any bytes as a note: one is believed only if it is what render_note writes.

#include <cstdint>

#include "base/check.h"
#include "datadir/note.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto note = datadir::parse_note(text);
  if (note)
    CHECK(datadir::render_note(*note) == text);
  else
    CHECK(note.error() == Code::kCorrupt, "{}", note.error().text());
  return 0;
}
