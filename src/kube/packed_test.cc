#include "kube/packed.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "base/time.h"
#include "json/quantity.h"
#include "kube/arbitrary_fields_test.h"
#include "kube/object.h"

namespace quorate::kube {
namespace {

enum class Colour { kRed, kGreen, kBlue };

struct Inner {
  bool on = false;
  std::string text;
};
template <class Visit>
void each_field(Visit& visit, Inner& inner) {
  auto& [on, text] = inner;
  visit(on, text);
}

// One of everything that can be packed.
struct Everything {
  bool first = false;
  int small = 0;
  std::int64_t large = 0;
  std::uint64_t word = 0;
  Colour colour = Colour::kRed;
  std::string text;
  Uid uid;
  MemberId member;
  Ordinal ordinal;
  WallTime time;
  json::Quantity quantity;
  std::optional<std::string> maybe;
  std::vector<Inner> list;
  std::optional<Inner> inner;
  bool flags[10] = {};
};
template <class Visit>
void each_field(Visit& visit, Everything& all) {
  auto& [first, small, large, word, colour, text, uid, member, ordinal, time, quantity, maybe, list,
         inner, flags] = all;
  visit(first, small, large, word, colour, text, uid, member, ordinal, time, quantity, maybe, list,
        inner);
  for (bool& flag : flags) visit(flag);
}

TEST(Packed, GivesBackWhatItWasGiven) {
  EXPECT_TRUE(survives_packing<Everything>());
  EXPECT_TRUE(survives_packing<Head>());
}

std::string unpack_text(const std::string& text) {
  Inner inner{true, text};
  const auto bytes = pack(inner);
  Inner again;
  Unpacker unpacker(bytes);
  each_field(unpacker, again);
  unpacker.finish();
  return again.text;
}

TEST(Packed, KeepsTextsThatLookLikeShortOnes) {
  for (const std::string text : {"",
                                 "0",
                                 "00",
                                 "007",
                                 "7",
                                 "-7",
                                 "+7",
                                 "123456789012345678",
                                 "1234567890123456789",
                                 "18446744073709551616",
                                 "a",
                                 "ab",
                                 "AB",
                                 "abc",
                                 "0abc",
                                 "ab ",
                                 "5f0c6e1e-8f6b-4a3e-9a36-0d1b2c3d4e5f",
                                 "5F0C6E1E-8F6B-4A3E-9A36-0D1B2C3D4E5F",
                                 "5f0c6e1e-8f6b-4a3e-9a36-0d1b2c3d4e5",
                                 "5f0c6e1e08f6b-4a3e-9a36-0d1b2c3d4e5f",
                                 "5f0c6e1e-8f6b-4a3e-9a36-0d1b2c3d4e5-"})
    EXPECT_EQ(unpack_text(text), text);
}

TEST(Packed, KeepsNumbersAtTheirEnds) {
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{63}, std::int64_t{64}, std::int64_t{-64},
        std::int64_t{-65}, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    Everything all;
    all.large = number;
    const auto bytes = pack(all);
    Everything again;
    Unpacker unpacker(bytes);
    each_field(unpacker, again);
    EXPECT_EQ(again.large, number);
  }
}

// The shapes that the budget of the operator's memory rests on.
TEST(Packed, IsShort) {
  const auto size = [](const std::string& text) {
    Inner inner{false, text};
    return pack(inner).size() - 1;  // the flag's
  };
  EXPECT_EQ(size("5f0c6e1e-8f6b-4a3e-9a36-0d1b2c3d4e5f"), 17u);
  EXPECT_EQ(size("9f86d081884c7d65"), 9u);
  EXPECT_EQ(size("899797"), 4u);
  EXPECT_EQ(size("node-1"), 7u);
  Everything all;
  for (bool& flag : all.flags) flag = true;
  EXPECT_EQ(pack(all).size(), pack(*std::make_unique<Everything>()).size());
}

TEST(Packed, ABlockThatDoesNotFitIsABrokenInvariant) {
  Everything all;
  all.text = "some text";
  all.list = {{true, "5f0c6e1e-8f6b-4a3e-9a36-0d1b2c3d4e5f"}, {false, "9f86d081884c7d65"}};
  all.inner = Inner{true, "123456"};
  const auto bytes = pack(all);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    EXPECT_THROW(
        {
          Everything again;
          Unpacker unpacker(cut);
          each_field(unpacker, again);
        },
        BrokenInvariant);
  }
  const auto longer = bytes + "x";
  Everything again;
  Unpacker unpacker(longer);
  each_field(unpacker, again);
  EXPECT_THROW(unpacker.finish(), BrokenInvariant);
}

TEST(Packed, HasItsKeyInFront) {
  const std::string name(300, 'n');
  const Packed block(KeyView("ns", name), "fields");
  EXPECT_EQ(Packed::key_of(block.get()), KeyView("ns", name));
  EXPECT_EQ(Packed::fields_of(block.get()), "fields");
  const Packed bare(KeyView("", "x"), "");
  EXPECT_EQ(Packed::key_of(bare.get()), KeyView("", "x"));
  EXPECT_EQ(Packed::fields_of(bare.get()), "");
}

}  // namespace
}  // namespace quorate::kube
