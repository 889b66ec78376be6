#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/document.h"
#include "json/function_ref.h"

namespace quorate::json {

// Typed projections: small structs filled straight from JSON text, without a document in between.
//
//   struct PodView { std::string name; std::string phase; };
//
//   void read(json::Reader& in, PodView& out) {        // found by argument-dependent lookup
//     in.fields([&](std::string_view key, json::Reader& value) {
//       if (key == "metadata") value.fields([&](std::string_view k, json::Reader& v) {
//         if (k == "name") out.name = v.text();
//       });
//       else if (key == "status") ...
//     });
//   }
//
//   json::Projector projector;                         // one per stream or loop, reused
//   TRY(auto pod, json::project<PodView>(projector, text));

class Projector;

// A value in the text under way. Each is read at most once (checked), in the order of the text;
// what is not read is skipped at little cost, and checked no further than where it ends.
//
// Null reads like an absent field: the zero of its type. A failure is remembered, not returned:
// after the first one every read gives zeros, iterations end, and the Projector's call returns the
// failure with the path to it, `spec.containers[0].name: expected a string, found a number`.
// Malformed text is kCorrupt; well-formed text of another type than asked for is kInvalid.
//
// Views are valid until the Projector's next call: copy what is kept.
class Reader {
 public:
  enum class Kind { kObject, kArray, kString, kNumber, kFlag, kNull };
  [[nodiscard]] Kind kind();  // looks, does not read

  [[nodiscard]] std::string_view text();
  [[nodiscard]] std::int64_t integer();  // kInvalid outside of int64 and for fractions
  [[nodiscard]] double number();
  [[nodiscard]] bool flag();
  // A string's content or a number as it is written: quantities and int-or-string fields.
  [[nodiscard]] std::string_view text_or_number();
  // The value's own text, whatever it is; its inside is checked when it is parsed.
  [[nodiscard]] std::string_view raw();
  // The value as a document.
  [[nodiscard]] Value document(const Limits& limits = {});

  // Each member of an object, in order; a key given twice comes twice. Nothing for null.
  void fields(FunctionRef<void(std::string_view key, Reader& value)> each);
  // Each element of an array. Nothing for null.
  void items(FunctionRef<void(Reader& value)> each);

  // The projection's own complaint about this value.
  void fail(Code code, std::string message);
  [[nodiscard]] bool failed() const;

  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

 private:
  friend class Projector;
  struct Context;
  friend struct ReaderAccess;
  Reader(Context& context, void* value) : context_(&context), value_(value) {}

  Context* context_;
  void* value_;  // the parser's own cursor
  bool root_ = false;
  bool read_ = false;
};

// A text after which kPadding more bytes may be read (whatever they are): parsed in place, where a
// plain string_view is copied first.
class PaddedView {
 public:
  static constexpr std::size_t kPadding = 64;
  // The caller vouches for the bytes behind the text.
  static PaddedView trust(std::string_view text) { return PaddedView(text); }
  std::string_view text() const { return text_; }

 private:
  explicit PaddedView(std::string_view text) : text_(text) {}
  std::string_view text_;
};

// The parser and its buffers, about three times the largest text seen. Not for two threads at once,
// nor for a call from inside a call.
class Projector {
 public:
  explicit Projector(Limits limits = {});
  ~Projector();
  Projector(Projector&&) noexcept;
  Projector& operator=(Projector&&) noexcept;

  // Reads one object or array that is the whole text.
  Result<void> read(std::string_view text, FunctionRef<void(Reader& root)> body);
  Result<void> read(PaddedView text, FunctionRef<void(Reader& root)> body);

  // Reads one event of a watch, {"type": T, "object": O}, in either order of the two. `body` gets
  // T, valid during the call, and O.
  Result<void> read_event(PaddedView line,
                          FunctionRef<void(std::string_view type, Reader& object)> body);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

template <class T, class Text>
[[nodiscard]] Result<T> project(Projector& projector, const Text& text) {
  T out{};
  if (auto done = projector.read(text, [&](Reader& root) { read(root, out); }); !done)
    return fail(std::move(done).error());
  return out;
}

}  // namespace quorate::json
