#include "datadir/crc32c.h"

#include <array>
#include <cstring>

namespace quorate::datadir {
namespace {

// Eight bytes at a time, each through a table of its own ("slicing by 8").
using Table = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Table make_table() {
  constexpr std::uint32_t kReversedPolynomial = 0x82f63b78;
  Table table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kReversedPolynomial : 0);
    table[0][i] = crc;
  }
  for (std::size_t slice = 1; slice < 8; ++slice)
    for (std::size_t i = 0; i < 256; ++i) {
      const auto last = table[slice - 1][i];
      table[slice][i] = (last >> 8) ^ table[0][last & 0xff];
    }
  return table;
}

constexpr Table kTable = make_table();

}  // namespace

std::uint32_t crc32c(std::uint32_t before, std::string_view bytes) {
  std::uint32_t crc = ~before;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + 4, 4);
    low ^= crc;
    crc = kTable[7][low & 0xff] ^ kTable[6][(low >> 8) & 0xff] ^ kTable[5][(low >> 16) & 0xff] ^
          kTable[4][low >> 24] ^ kTable[3][high & 0xff] ^ kTable[2][(high >> 8) & 0xff] ^
          kTable[1][(high >> 16) & 0xff] ^ kTable[0][high >> 24];
  }
  for (; left > 0; ++at, --left)
    crc = (crc >> 8) ^ kTable[0][(crc ^ static_cast<unsigned char>(*at)) & 0xff];
  return ~crc;
}

}  // namespace quorate::datadir
