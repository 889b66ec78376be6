#pragma once

#include <fmt/format.h>
#include <rapidcheck.h>

#include <string>

#include "kube/packed.h"

// Arbitrary values of anything that can be packed, and what they hold as text: for property tests.
namespace quorate::kube {

// Fills every field, each time differently. RapidCheck chooses the seed alone: what it draws one by
// one costs a thousand times as much as packing it.
class Filler {
 public:
  explicit Filler(std::uint64_t seed) : state_(seed) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (fill(fields), ...);
  }

 private:
  std::uint64_t any() {  // splitmix64
    auto bits = state_ += 0x9e3779b97f4a7c15ULL;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebULL;
    return bits ^ (bits >> 31U);
  }

  // Numbers of all lengths.
  std::uint64_t any_number() {
    const auto bits = any();
    return bits >> (any() % 64);
  }

  // Texts of the shapes that are packed in a way of their own, of those that only look so, and any.
  std::string any_text() {
    const auto bits = any_number();
    switch (any() % 6) {
      case 0:
        return fmt::format("{:08x}-{:04x}-4a3e-9a36-0d1b2c3d4e5f", bits & 0xffffffff, bits >> 48U);
      case 1:
        return fmt::format("{}", bits);
      case 2:
        return fmt::format("0{}", bits);
      case 3:
        return fmt::format("{:x}", bits);
      case 4:
        return fmt::format("{:X}", bits);
      default: {
        std::string text(any() % 200, ' ');
        for (char& c : text) c = static_cast<char>(any());
        return text;
      }
    }
  }

  template <class T>
  void fill(T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      value = any_text();
    } else if constexpr (std::is_same_v<T, bool>) {
      value = any() % 2 == 0;
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(any() % 3);
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(any() % 2 == 0 ? any_number() : ~any_number());
    } else if constexpr (kIsOptional<T>) {
      value.reset();
      if (any() % 2 == 0) fill(value.emplace());
    } else if constexpr (kIsVector<T>) {
      value.clear();
      for (auto left = any() % 4; left > 0; --left) fill(value.emplace_back());
    } else if constexpr (StrongId<T>) {
      std::remove_cvref_t<decltype(value.value())> bare{};
      fill(bare);
      value = T(std::move(bare));
    } else if constexpr (TimeSpan<T>) {
      value = T(static_cast<std::int64_t>(any_number()));
    } else if constexpr (TimePoint<T>) {
      value = T(typename T::duration(static_cast<std::int64_t>(any_number())));
    } else if constexpr (Textual<T>) {
      value = *T::parse(std::to_string(any() % (1 << 20)));
    } else {
      each_field(*this, value);
    }
  }

  std::uint64_t state_;
};

// What every field holds, as text.
class Lister {
 public:
  template <class... Fields>
  void operator()(Fields&... fields) {
    (list(fields), ...);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <class T>
  void list(T& value) {
    using Bare = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Bare, std::string>) {
      text_ += fmt::format("\"{}\" ", value);
    } else if constexpr (std::is_enum_v<Bare>) {
      text_ += fmt::format("{} ", static_cast<int>(value));
    } else if constexpr (std::is_integral_v<Bare>) {
      text_ += fmt::format("{} ", value);
    } else if constexpr (kIsOptional<Bare>) {
      text_ += value ? "some " : "none ";
      if (value) list(*value);
    } else if constexpr (kIsVector<Bare>) {
      text_ += fmt::format("{}: ", value.size());
      for (auto& element : value) list(element);
    } else if constexpr (StrongId<Bare>) {
      list(value.value());
    } else if constexpr (TimeSpan<Bare>) {
      text_ += fmt::format("{} ", value.count());
    } else if constexpr (TimePoint<Bare>) {
      text_ += fmt::format("{} ", value.time_since_epoch().count());
    } else if constexpr (Textual<Bare>) {
      text_ += value.text() + " ";
    } else {
      each_field(*this, value);
    }
  }
  std::string text_;
};

template <class T>
std::string list_fields(T& value) {
  Lister lister;
  each_field(lister, value);
  return lister.text();
}

template <class T>
std::string pack(T& value) {
  Packer packer;
  each_field(packer, value);
  return std::string(packer.bytes());
}

// What was packed is what is unpacked, whatever it is.
template <class T>
bool survives_packing() {
  return rc::check("what is packed is unpacked the same", [](std::uint64_t seed) {
    T value{};
    Filler filler(seed);
    each_field(filler, value);
    const auto bytes = pack(value);
    T again{};
    each_field(filler, again);  // what was there before does not show through
    Unpacker unpacker(bytes);
    each_field(unpacker, again);
    unpacker.finish();
    RC_ASSERT(list_fields(again) == list_fields(value));
  });
}

}  // namespace quorate::kube
