#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "api/describe.h"
#include "api/identity.h"
#include "api/pod_template.h"
#include "api/span.h"
#include "api/text_table.h"
#include "api/version.h"
#include "base/ids.h"
#include "base/time.h"
#include "json/document.h"
#include "json/quantity.h"

// Writes values of described types as JSON.
namespace quorate::api {

json::Value encode_value(bool value);
json::Value encode_value(std::int64_t value);
json::Value encode_value(int value);
json::Value encode_value(const std::string& value);
json::Value encode_value(const EtcdVersion& value);
json::Value encode_value(const json::Quantity& value);
json::Value encode_value(const WallTime& value);
json::Value encode_value(const Span& value);
json::Value encode_value(const Uid& value);
json::Value encode_value(const Ordinal& value);
json::Value encode_value(const ClusterId& value);
json::Value encode_value(const MemberId& value);
json::Value encode_value(const TextTable& value);
json::Value encode_value(const RawObject& value);

template <NamedEnum E>
json::Value encode_value(const E& value) {
  return json::Value(enum_name(value));
}

template <class T>
json::Value encode_value(const std::vector<T>& values);
template <class T>
  requires(std::is_class_v<T>)
json::Value encode_value(const T& value);

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

// Visits a type's fields, putting each into the object. What an absent field means anyway is left
// out, unless it must be there or people want to see it (defaults).
template <class T>
class FieldEncoder {
 public:
  FieldEncoder(const T& in, json::Object& out) : in_(in), out_(out) {}

  void type(std::string_view) {}
  void rule(const CelRule&) {}

  template <class F>
  void field(const About& about, F T::*member) {
    const F& value = in_.*member;
    if constexpr (IsOptional<F>::value) {
      if (value) out_[about.name] = encode_value(*value);
    } else {
      static const T absent{};
      if (about.required || about.defaulted || !(value == absent.*member))
        out_[about.name] = encode_value(value);
    }
  }

  template <class F>
  void flat(F T::*member) {
    FieldEncoder<F> inner(in_.*member, out_);
    describe(inner, static_cast<const F*>(nullptr));
  }

 private:
  const T& in_;
  json::Object& out_;
};

template <class T>
json::Value encode_value(const std::vector<T>& values) {
  json::Array out;
  for (const auto& value : values) out.push_back(encode_value(value));
  return out;
}

template <class T>
  requires(std::is_class_v<T>)
json::Value encode_value(const T& value) {
  json::Object out;
  FieldEncoder<T> encoder(value, out);
  describe(encoder, static_cast<const T*>(nullptr));
  return out;
}

}  // namespace quorate::api
