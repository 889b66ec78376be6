#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/describe.h"
#include "api/identity.h"
#include "api/pod_template.h"
#include "api/span.h"
#include "api/text_table.h"
#include "api/validate.h"
#include "api/version.h"
#include "base/ids.h"
#include "base/time.h"
#include "json/document.h"
#include "json/quantity.h"

// Reads values of described types from JSON.
namespace quorate::api {

// Where we are in the document, and what was found wrong so far.
class DecodeContext {
 public:
  enum class Mode { kStrict, kLenient };  // lenient: what is wrong reads as absent
  DecodeContext(Mode mode, std::string root) : mode_(mode), path_(std::move(root)) {}

  void complain(std::string message) { problems_.push_back({path_, std::move(message)}); }
  bool lenient() const { return mode_ == Mode::kLenient; }
  const Problems& problems() const { return problems_; }
  std::string& path() { return path_; }

 private:
  Mode mode_;
  std::string path_;
  Problems problems_;
};

// Adds a name or an index to the path for as long as it lives.
class PathStep {
 public:
  PathStep(DecodeContext& context, std::string_view name)
      : path_(context.path()), length_(path_.size()) {
    if (!path_.empty()) path_ += '.';
    path_ += name;
  }
  PathStep(DecodeContext& context, std::size_t index)
      : path_(context.path()), length_(path_.size()) {
    path_ += '[' + std::to_string(index) + ']';
  }
  ~PathStep() { path_.resize(length_); }
  PathStep(const PathStep&) = delete;
  PathStep& operator=(const PathStep&) = delete;

 private:
  std::string& path_;
  std::size_t length_;
};

// Scalars: each complains and returns false if the value is not one of its type.
bool decode(DecodeContext& context, const json::Value& in, bool& out);
bool decode(DecodeContext& context, const json::Value& in, std::int64_t& out);
bool decode(DecodeContext& context, const json::Value& in, int& out);
bool decode(DecodeContext& context, const json::Value& in, std::string& out);
bool decode(DecodeContext& context, const json::Value& in, EtcdVersion& out);
bool decode(DecodeContext& context, const json::Value& in, json::Quantity& out);
bool decode(DecodeContext& context, const json::Value& in, WallTime& out);
bool decode(DecodeContext& context, const json::Value& in, Span& out);
bool decode(DecodeContext& context, const json::Value& in, Uid& out);
bool decode(DecodeContext& context, const json::Value& in, Ordinal& out);
bool decode(DecodeContext& context, const json::Value& in, ClusterId& out);
bool decode(DecodeContext& context, const json::Value& in, MemberId& out);
bool decode(DecodeContext& context, const json::Value& in, TextTable& out);
bool decode(DecodeContext& context, const json::Value& in, RawObject& out);

// The field is not one of `known`: says so, and which was probably meant.
void complain_unknown(DecodeContext& context, std::string_view field,
                      std::span<const std::string_view> known);
void complain_enum(DecodeContext& context, std::string_view text,
                   std::span<const std::string_view> allowed);
void complain_type(DecodeContext& context, const json::Value& in, std::string_view wanted);

template <NamedEnum E>
bool decode(DecodeContext& context, const json::Value& in, E& out) {
  std::string text;
  if (!decode(context, in, text)) return false;
  if (auto value = enum_value<E>(text)) {
    out = *value;
    return true;
  }
  std::vector<std::string_view> allowed;
  for (const auto& [value, name] : EnumNames<E>::kNames) allowed.push_back(name);
  complain_enum(context, text, allowed);
  return false;
}

template <class T>
bool decode(DecodeContext& context, const json::Value& in, std::optional<T>& out) {
  T value{};
  if (!decode(context, in, value)) return false;
  out = std::move(value);
  return true;
}

template <class T>
bool decode(DecodeContext& context, const json::Value& in, std::vector<T>& out) {
  const auto* array = in.if_array();
  if (!array) {
    complain_type(context, in, "a list");
    return false;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    PathStep step(context, i);
    T element{};
    if (decode(context, (*array)[i], element))
      out.push_back(std::move(element));
    else if (!context.lenient())
      return false;
  }
  return true;
}

// Visits a type's fields, taking each from the object.
template <class T>
class FieldDecoder {
 public:
  FieldDecoder(DecodeContext& context, const json::Object& in, T& out,
               std::vector<std::string_view>& known)
      : context_(context), in_(in), out_(out), known_(known) {}

  void type(std::string_view) {}
  void rule(const CelRule&) {}

  template <class F>
  void field(const About& about, F T::*member) {
    known_.push_back(about.name);
    PathStep step(context_, about.name);
    const auto* value = in_.if_contains(about.name);
    if (!value || value->is_null()) {
      if (about.required) complain_missing();
      return;
    }
    F decoded{};
    if (decode(context_, *value, decoded))
      out_.*member = std::move(decoded);
    else
      whole_ = false;
  }

  template <class F>
  void flat(F T::*member) {
    FieldDecoder<F> inner(context_, in_, out_.*member, known_);
    describe(inner, static_cast<const F*>(nullptr));
    whole_ = whole_ && inner.whole();
  }

  bool whole() const { return whole_; }

 private:
  void complain_missing() {
    context_.complain("must be given");
    whole_ = false;
  }

  DecodeContext& context_;
  const json::Object& in_;
  T& out_;
  std::vector<std::string_view>& known_;
  bool whole_ = true;
};

// Objects. An object whose field is wrong is wrong as a whole, unless we are lenient and the field
// may be absent.
template <class T>
  requires(std::is_class_v<T>)
bool decode(DecodeContext& context, const json::Value& in, T& out) {
  const auto* object = in.if_object();
  if (!object) {
    complain_type(context, in, "an object");
    return false;
  }
  std::vector<std::string_view> known;
  FieldDecoder<T> decoder(context, *object, out, known);
  describe(decoder, static_cast<const T*>(nullptr));
  if (context.lenient()) return decoder.whole();
  bool whole = decoder.whole();
  for (const auto& member : *object) {
    if (std::find(known.begin(), known.end(), member.key()) != known.end()) continue;
    complain_unknown(context, member.key(), known);
    whole = false;
  }
  return whole;
}

}  // namespace quorate::api
