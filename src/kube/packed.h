#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/ids.h"

// Objects at rest: a struct as one block of memory, without an allocation for each field. A type
// that is packed offers all of its members to a visitor, which writes them or fills them:
//
//   template <class Visit>
//   void each_field(Visit& visit, PodView& view) {    // found by argument-dependent lookup
//     auto& [meta, node, ready] = view;               // a member that is forgotten: no compilation
//     visit(meta, node, ready);
//   }
//
// Members are flags, whole numbers, enumerations, texts, strong ids, times, types with text() and
// parse(), optionals and vectors of them, and structs that have an each_field themselves.
//
// A block lives in our own memory and is read by the type that wrote it, so one that does not fit
// is a broken invariant, not an error.
namespace quorate::kube {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
concept WholeNumber = (std::signed_integral<T> || std::is_enum_v<T>);
template <class T>
concept StrongId = requires(const T& id) { T(id.value()); };
template <class T>
concept TimePoint = requires(const T& time) { time.time_since_epoch().count(); };
template <class T>
concept TimeSpan = requires(const T& span) {
  typename T::period;
  span.count();
};
template <class T>
concept Textual = requires(const T& value) {
  { value.text() } -> std::same_as<std::string>;
  T::parse(std::string_view());
};

// Writes fields, one after the other. Small values are short: numbers have as many bytes as they
// need, flags and the presence of optionals are single bits.
class Packer {
 public:
  template <class... Fields>
  void operator()(Fields&... fields) {
    (put(fields), ...);
  }

  // What was written since the last call of clear(), valid until the next call.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  void clear();

 private:
  template <class T>
  void put(T& value) {
    using Bare = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Bare, bool>) {
      put_flag(value);
    } else if constexpr (WholeNumber<Bare>) {
      put_signed(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_same_v<Bare, std::uint64_t>) {
      put_word(value);
    } else if constexpr (std::is_same_v<Bare, std::string>) {
      put_text(value);
    } else if constexpr (kIsOptional<Bare>) {
      put_flag(value.has_value());
      if (value) put(*value);
    } else if constexpr (kIsVector<Bare>) {
      put_size(value.size());
      for (auto& element : value) put(element);
    } else if constexpr (StrongId<Bare>) {
      put(value.value());
    } else if constexpr (TimeSpan<Bare>) {
      put_signed(value.count());
    } else if constexpr (TimePoint<Bare>) {
      put_signed(value.time_since_epoch().count());
    } else if constexpr (Textual<Bare>) {
      put_text(value.text());
    } else {
      each_field(*this, value);
    }
  }
  void put_flag(bool value);
  void put_size(std::uint64_t value);
  void put_signed(std::int64_t value);
  void put_word(std::uint64_t value);  // an id: all bits alike
  void put_text(std::string_view value);

  std::string bytes_;
  std::size_t flags_at_ = 0;  // the byte that takes the next flag
  int flags_left_ = 0;        // room in it
};

// Fills fields from what a Packer has written, in the same order.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  // To be called last: nothing may be left.
  void finish() const {
    CHECK(rest_.empty(), "{} bytes of a packed object are left", rest_.size());
  }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = get_flag();
    } else if constexpr (WholeNumber<T>) {
      value = static_cast<T>(get_signed());
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      value = get_word();
    } else if constexpr (std::is_same_v<T, std::string>) {
      get_text(value);
    } else if constexpr (kIsOptional<T>) {
      value.reset();
      if (get_flag()) get(value.emplace());
    } else if constexpr (kIsVector<T>) {
      value.clear();
      for (auto left = get_size(); left > 0; --left) get(value.emplace_back());
    } else if constexpr (StrongId<T>) {
      std::remove_cvref_t<decltype(value.value())> bare{};
      get(bare);
      value = T(std::move(bare));
    } else if constexpr (TimeSpan<T>) {
      value = T(get_signed());
    } else if constexpr (TimePoint<T>) {
      value = T(typename T::duration(get_signed()));
    } else if constexpr (Textual<T>) {
      std::string text;
      get_text(text);
      auto parsed = T::parse(text);
      CHECK(parsed, "\"{}\" was packed and cannot be read", text);
      value = *parsed;
    } else {
      each_field(*this, value);
    }
  }
  std::string_view take(std::size_t size);
  bool get_flag();
  std::uint64_t get_size();
  std::int64_t get_signed();
  std::uint64_t get_word();
  void get_text(std::string& out);

  std::string_view rest_;
  unsigned flags_ = 0;  // those of the last byte of flags that were not read yet
  int flags_left_ = 0;
};

template <class T>
concept Packable = requires(Packer& visit, T& value) { each_field(visit, value); };

// A namespaced name that is kept elsewhere.
struct KeyView {
  KeyView(std::string_view of_ns, std::string_view of_name) : ns(of_ns), name(of_name) {}
  KeyView(const ObjectKey& key) : ns(key.ns), name(key.name) {}  // NOLINT: the same, borrowed
  std::string_view ns;
  std::string_view name;
  friend auto operator<=>(const KeyView&, const KeyView&) = default;
};

// The block of an object: its key, which is compared without unpacking, and its fields. One
// pointer in size.
class Packed {
 public:
  Packed() = default;
  Packed(KeyView key, std::string_view fields);

  // The block, by which key_of() and fields_of() know it; it does not move.
  [[nodiscard]] const char* get() const { return block_.get(); }
  [[nodiscard]] static KeyView key_of(const char* block);
  [[nodiscard]] static std::string_view fields_of(const char* block);

 private:
  std::unique_ptr<char[]> block_;
};

}  // namespace quorate::kube
