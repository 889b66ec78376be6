#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace quorate::json {

// Whole JSON documents, on Boost.JSON: for what we build, patch or store as it is. For objects read
// from a server in numbers see projection.h, which is thirty times smaller and faster.
using Value = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;
using String = boost::json::string;

struct Limits {
  std::size_t bytes = std::size_t{8} << 20;  // of text
  std::size_t depth = 128;                   // of nested objects and arrays
};

// One JSON value and nothing after it (RFC 8259). kCorrupt with the byte offset for malformed text,
// invalid UTF-8, a key given twice in one object, and numbers beyond a double; kInvalid for what
// passes a limit. Integers stay exact from -2^63 to 2^64-1, others become doubles.
[[nodiscard]] Result<Value> parse(std::string_view text, const Limits& limits = {});

// Compact text, keys in the order of insertion. Doubles keep a point or an exponent, so that what
// was a double is read back as one; those that are not finite render as null.
[[nodiscard]] std::string render(const Value& value);

// Compact text with keys sorted at every level: equal documents give equal bytes. For hashes.
[[nodiscard]] std::string render_sorted(const Value& value);

// Paths are JSON pointers (RFC 6901): "" is the value itself, "/metadata/labels/a", "/items/0";
// `~1` stands for `/` and `~0` for `~` inside a name.
[[nodiscard]] std::string escape_pointer(std::string_view name);

// What stands at the pointer, or nullptr. Never throws; a malformed pointer finds nothing. The
// overloads for temporaries are gone because the answer points into the document.
[[nodiscard]] const Value* find(const Value& value, std::string_view pointer);
[[nodiscard]] Value* find(Value& value, std::string_view pointer);
const Value* find(const Value&& value, std::string_view pointer) = delete;

// What stands at the pointer, as a type: kNotFound if nothing or null stands there, kInvalid if it
// is of another type. Both errors begin with the pointer: `/spec/replicas: expected an integer,
// found a string`. Views and pointers point into the document.
[[nodiscard]] Result<std::string_view> text_at(const Value& value, std::string_view pointer);
[[nodiscard]] Result<std::int64_t> integer_at(const Value& value, std::string_view pointer);
[[nodiscard]] Result<double> number_at(const Value& value, std::string_view pointer);
[[nodiscard]] Result<bool> flag_at(const Value& value, std::string_view pointer);
[[nodiscard]] Result<const Object*> object_at(const Value& value, std::string_view pointer);
[[nodiscard]] Result<const Array*> array_at(const Value& value, std::string_view pointer);

// The text at the pointer, or the fallback if there is no text there.
[[nodiscard]] std::string_view text_or(const Value& value, std::string_view pointer,
                                       std::string_view fallback);

// Puts `content` at the pointer, making the objects on the way; kInvalid if something that is not
// an object stands in the way (array elements may be replaced, or appended by index = size or `-`).
Result<void> put(Value& value, std::string_view pointer, Value content);

// Removes what stands at the pointer; false if nothing did. The order of the rest is kept.
bool remove(Value& value, std::string_view pointer);

// Equal as JSON: numbers by value, so that 1 equals 1.0 (Boost.JSON's == tells them apart).
[[nodiscard]] bool equal(const Value& a, const Value& b);

// "an object", "a string", ...: for messages.
[[nodiscard]] std::string_view kind_name(const Value& value);

}  // namespace quorate::json
