#include "api/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "api/cluster_fields.h"
#include "api/decoder.h"
#include "api/encoder.h"
#include "api/member_fields.h"
#include "base/strings.h"
#include "json/timestamp.h"

namespace quorate::api {

// ---- Scalars in ----

void complain_type(DecodeContext& context, const json::Value& in, std::string_view wanted) {
  context.complain(fmt::format("must be {}, not {}", wanted, json::kind_name(in)));
}

void complain_unknown(DecodeContext& context, std::string_view field,
                      std::span<const std::string_view> known) {
  PathStep step(context, field);
  if (auto meant = nearest_name(field, known))
    context.complain(fmt::format("there is no such field; did you mean {}?", *meant));
  else
    context.complain("there is no such field");
}

void complain_enum(DecodeContext& context, std::string_view text,
                   std::span<const std::string_view> allowed) {
  context.complain(fmt::format("\"{}\" must be one of {}", text, join(allowed, ", ")));
}

bool decode(DecodeContext& context, const json::Value& in, bool& out) {
  if (!in.is_bool()) {
    complain_type(context, in, "true or false");
    return false;
  }
  out = in.get_bool();
  return true;
}

bool decode(DecodeContext& context, const json::Value& in, std::int64_t& out) {
  if (in.is_int64()) {
    out = in.get_int64();
    return true;
  }
  if (in.is_uint64())
    context.complain(fmt::format("{} is too large", in.get_uint64()));
  else if (in.is_double())
    context.complain(fmt::format("{} must be a whole number", in.get_double()));
  else
    complain_type(context, in, "a whole number");
  return false;
}

bool decode(DecodeContext& context, const json::Value& in, int& out) {
  std::int64_t wide = 0;
  if (!decode(context, in, wide)) return false;
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    context.complain(fmt::format("{} does not fit into 32 bits", wide));
    return false;
  }
  out = static_cast<int>(wide);
  return true;
}

bool decode(DecodeContext& context, const json::Value& in, std::string& out) {
  const auto* text = in.if_string();
  if (!text) {
    complain_type(context, in, "a string");
    return false;
  }
  out.assign(text->data(), text->size());
  return true;
}

bool decode(DecodeContext& context, const json::Value& in, EtcdVersion& out) {
  std::string text;
  if (!decode(context, in, text)) return false;
  auto version = parse_etcd_version(text);
  if (!version) {
    context.complain(version.error().message());
    return false;
  }
  out = *version;
  return true;
}

bool decode(DecodeContext& context, const json::Value& in, json::Quantity& out) {
  // As the CRD says; a fraction is written as a string.
  if (!in.is_string() && !in.is_int64()) {
    complain_type(context, in, "a string or a whole number");
    return false;
  }
  auto quantity = json::Quantity::from_json(in);
  if (!quantity) {
    context.complain(
        fmt::format("{}: must be {}", quantity.error().message(), kQuantityRule.words));
    return false;
  }
  out = *quantity;
  return true;
}

bool decode(DecodeContext& context, const json::Value& in, WallTime& out) {
  std::string text;
  if (!decode(context, in, text)) return false;
  auto time = json::parse_time(text);
  if (!time) {
    context.complain(time.error().message());
    return false;
  }
  out = *time;
  return true;
}

bool decode(DecodeContext& context, const json::Value& in, Span& out) {
  std::string text;
  if (!decode(context, in, text)) return false;
  auto span = parse_span(text);
  if (!span) {
    context.complain(fmt::format("\"{}\" must be {}", text, kSpanRule.words));
    return false;
  }
  out = *span;
  return true;
}

bool decode(DecodeContext& context, const json::Value& in, Uid& out) {
  std::string text;
  if (!decode(context, in, text)) return false;
  out = Uid(std::move(text));
  return true;
}

bool decode(DecodeContext& context, const json::Value& in, Ordinal& out) {
  int number = 0;
  if (!decode(context, in, number)) return false;
  out = Ordinal(number);
  return true;
}

namespace {

template <class Id>
bool decode_hex_id(DecodeContext& context, const json::Value& in, Id& out) {
  std::string text;
  if (!decode(context, in, text)) return false;
  auto id = Id::parse(text);
  if (!id || !kHexIdRule.holds(text)) {
    context.complain(fmt::format("\"{}\" must be {}", text, kHexIdRule.words));
    return false;
  }
  out = Id(id->value());
  return true;
}

}  // namespace

bool decode(DecodeContext& context, const json::Value& in, ClusterId& out) {
  return decode_hex_id(context, in, out);
}
bool decode(DecodeContext& context, const json::Value& in, MemberId& out) {
  return decode_hex_id(context, in, out);
}

bool decode(DecodeContext& context, const json::Value& in, TextTable& out) {
  const auto* object = in.if_object();
  if (!object) {
    complain_type(context, in, "an object");
    return false;
  }
  bool whole = true;
  for (const auto& member : *object) {
    PathStep step(context, member.key());
    if (const auto* text = member.value().if_string()) {
      out.set(member.key(), std::string(text->data(), text->size()));
    } else {
      complain_type(context, member.value(), "a string, in quotes");
      whole = false;
    }
  }
  return whole || context.lenient();
}

bool decode(DecodeContext& context, const json::Value& in, RawObject& out) {
  if (!in.is_object()) {
    complain_type(context, in, "an object");
    return false;
  }
  // Nothing in it says nothing.
  out.text = in.get_object().empty() ? "" : json::render_sorted(in);
  return true;
}

// ---- Scalars out ----

json::Value encode_value(bool value) { return json::Value(value); }
json::Value encode_value(std::int64_t value) { return json::Value(value); }
json::Value encode_value(int value) { return json::Value(value); }
json::Value encode_value(const std::string& value) { return json::Value(value); }
json::Value encode_value(const EtcdVersion& value) { return json::Value(value.text()); }
json::Value encode_value(const json::Quantity& value) { return json::Value(value.text()); }
json::Value encode_value(const WallTime& value) { return json::Value(json::render_time(value)); }
json::Value encode_value(const Span& value) { return json::Value(render_span(value)); }
json::Value encode_value(const Uid& value) { return json::Value(value.value()); }
json::Value encode_value(const Ordinal& value) { return json::Value(value.value()); }
json::Value encode_value(const ClusterId& value) { return json::Value(value.text()); }
json::Value encode_value(const MemberId& value) { return json::Value(value.text()); }
json::Value encode_value(const TextTable& value) {
  json::Object out;
  for (const auto& [key, text] : value) out[key] = text;
  return out;
}

json::Value encode_value(const RawObject& value) { return value.value(); }

// ---- Whole objects ----

namespace {

template <class T>
Result<T> decode_strictly(const json::Value& in, std::string root) {
  DecodeContext context(DecodeContext::Mode::kStrict, std::move(root));
  T out{};
  if (decode(context, in, out)) return out;
  return fail(Code::kInvalid, text(context.problems()));
}

template <class T>
T decode_leniently(const json::Value& in, std::string root) {
  DecodeContext context(DecodeContext::Mode::kLenient, std::move(root));
  T out{};
  decode(context, in, out);
  return out;
}

}  // namespace

Result<ClusterSpec> decode_cluster_spec(const json::Value& spec) {
  return decode_strictly<ClusterSpec>(spec, "spec");
}
Result<MemberSpec> decode_member_spec(const json::Value& spec) {
  return decode_strictly<MemberSpec>(spec, "spec");
}
ClusterStatus decode_cluster_status(const json::Value& status) {
  return decode_leniently<ClusterStatus>(status, "status");
}
MemberStatus decode_member_status(const json::Value& status) {
  return decode_leniently<MemberStatus>(status, "status");
}

std::string canonical_text(const PlacementSpec& placement) {
  return json::render_sorted(encode_value(placement));
}
std::string canonical_text(const ServicesSpec& services) {
  return json::render_sorted(encode_value(services));
}

json::Value encode(const ClusterSpec& spec) { return encode_value(spec); }
json::Value encode(const ClusterStatus& status) { return encode_value(status); }
json::Value encode(const MemberSpec& spec) { return encode_value(spec); }
json::Value encode(const MemberStatus& status) { return encode_value(status); }

}  // namespace quorate::api
