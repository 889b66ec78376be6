// Any bytes as a file of kept objects: whatever is read reads back the same after it was written,
// and stays the same with the bytes gone that were cut off.

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "pki/digest.h"
#include "sandbox/object_log.h"

namespace quorate::sandbox {
namespace {

void check(std::string_view text) {
  const auto read = read_log(text);
  if (!read) return;
  auto kept = *read;
  kept.cut = 0;
  CHECK(*read_log(text.substr(0, text.size() - read->cut)) == kept);
  CHECK(*read_log(render_log(kept)) == kept);
}

// Each line with the checksum and length that it should have, so that what stands behind it is
// looked at, too.
std::string with_checksums(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    out += pki::sha256_hex(line).substr(0, 16) + " " + std::to_string(line.size()) + " ";
    out += line;
    if (end == std::string_view::npos) break;
    out += "\n";
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace
}  // namespace quorate::sandbox

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate::sandbox;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text);
  check(with_checksums(text));
  return 0;
}
