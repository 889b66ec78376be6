#pragma once

#include <cstdint>
#include <string_view>

namespace quorate::datadir {

// CRC-32C (Castagnoli) of `bytes` that follow others whose checksum is `before`; 0 at the
// beginning.
[[nodiscard]] std::uint32_t crc32c(std::uint32_t before, std::string_view bytes);

}  // namespace quorate::datadir
