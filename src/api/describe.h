#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "api/span.h"
#include "api/text_rules.h"
#include "base/ids.h"

// How our resource types are described, once. A type T of the API has a function
//
//   template <class Visitor> void describe(Visitor& visit, const T*) {
//     visit.type("What it is.");
//     visit.field({.name = "replicas", .text = "How many ...", .defaulted = true}, &T::replicas);
//   }
//
// and everything else is a visitor: decoding, encoding, the check of declared limits, the CRD's
// schema and the reference page. Visitors have
//
//   type(text)                    what the type is
//   field(About, &T::member)      one field
//   flat(&T::member)              a member whose fields stand in the object itself
//   rule(CelRule)                 a CEL rule on the object
namespace quorate::api {

// A rule in the CRD alone: what it says is checked by validate.cc, too.
struct CelRule {
  std::string_view rule;
  std::string_view message;
};

// What is to be said of a field.
struct About {
  std::string_view name;
  std::string_view text{};
  bool required = false;
  bool defaulted = false;  // absent means the value that it has in a value-initialized T
  std::optional<std::int64_t> minimum{};
  std::optional<std::int64_t> maximum{};
  const TextRule* rule = nullptr;      // of a text; of each in a list or table
  const TextRule* key_rule = nullptr;  // of the keys of a table
  std::size_t max_items = 0;           // of a list or table; 0: neither
  std::string_view list_key{};         // its elements are told apart by this field
  bool positive = false;               // of a quantity
  std::optional<Bytes> at_least{};     // of a quantity
  std::optional<Span> shortest{};      // of a span of time
  std::optional<Span> longest{};
};

// Visits nothing: for asking whether a type is described.
struct NullVisitor {
  void type(std::string_view) {}
  void rule(const CelRule&) {}
  template <class M>
  void field(const About&, M) {}
  template <class M>
  void flat(M) {}
};
template <class T>
concept Described = requires(NullVisitor& visit, const T* type) { describe(visit, type); };

// The names of an enumeration's values, in the API.
template <class E>
struct EnumNames;  // static constexpr std::array<std::pair<E, std::string_view>, N> kNames;

template <class E>
concept NamedEnum = requires { EnumNames<E>::kNames; };

template <NamedEnum E>
constexpr std::string_view enum_name(E value) {
  for (const auto& [one, name] : EnumNames<E>::kNames)
    if (one == value) return name;
  return {};
}

template <NamedEnum E>
constexpr std::optional<E> enum_value(std::string_view text) {
  for (const auto& [one, name] : EnumNames<E>::kNames)
    if (name == text) return one;
  return std::nullopt;
}

}  // namespace quorate::api
