#include "apiserver/protobuf.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "apiserver/builtin_types.h"
#include "apiserver/schema.h"
#include "base/bytes.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

using namespace std::string_view_literals;
using Special = Schema::Special;
using Type = Schema::Type;

constexpr std::string_view kMagic = "k8s\0"sv;

tl::unexpected<Error> corrupt(std::string_view what) {
  return fail(Code::kCorrupt, fmt::format("protobuf: {}", what));
}

// One field of a message, as it stands on the wire.
struct Field {
  std::uint32_t number = 0;
  std::uint64_t value = 0;   // if it is a number
  std::string_view bytes{};  // if it is a text or a message
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }

  Result<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return corrupt("a number is cut off");
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return corrupt("a number is too long");
  }

  Result<Field> next() {
    constexpr std::uint64_t kVarint = 0, kEight = 1, kBytes = 2, kFour = 5;
    TRY(const auto key, varint());
    Field field{.number = static_cast<std::uint32_t>(key >> 3)};
    if (field.number == 0) return corrupt("a field of number 0");
    const auto wire = key & 7;
    if (wire == kVarint) {
      TRY(field.value, varint());
      return field;
    }
    std::uint64_t length = wire == kEight ? 8 : 4;
    if (wire == kBytes) {
      TRY(length, varint());
    } else if (wire != kEight && wire != kFour) {
      return corrupt(fmt::format("a field of wire type {}", wire));
    }
    if (length > rest_.size()) return corrupt(fmt::format("field {} is cut off", field.number));
    field.bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return field;
  }

 private:
  std::string_view rest_;
};

// The last field of this number in a message.
Result<Field> find_field(std::string_view message, std::uint32_t number) {
  Field found;
  for (Reader reader(message); !reader.done();) {
    TRY(const auto field, reader.next());
    if (field.number == number) found = field;
  }
  return found;
}

Result<json::Value> text_of(const Field& field) {
  if (!is_valid_utf8(field.bytes))
    return corrupt(fmt::format("field {} is no valid UTF-8", field.number));
  return json::Value(field.bytes);
}

Result<json::Value> decode(const Schema& schema, const Field& field);

// Seconds and nanoseconds; nothing at all is a time that was not set.
Result<json::Value> decode_time(std::string_view message, bool micro) {
  if (message.empty()) return json::Value();
  TRY(const auto seconds, find_field(message, 1));
  TRY(const auto nanos, find_field(message, 2));
  const json::MicroTime time(std::chrono::seconds(static_cast<std::int64_t>(seconds.value)));
  if (micro)
    return json::Value(json::render_micro_time(
        time + std::chrono::microseconds(static_cast<std::int64_t>(nanos.value) / 1000)));
  return json::Value(
      json::render_time(std::chrono::time_point_cast<std::chrono::milliseconds>(time)));
}

Result<json::Value> decode_int_or_string(std::string_view message) {
  TRY(const auto type, find_field(message, 1));
  TRY(const auto number, find_field(message, 2));
  TRY(const auto text, find_field(message, 3));
  if (type.value == 1) return text_of(text);
  return json::Value(static_cast<std::int64_t>(number.value));
}

Result<json::Value> decode_special(Special special, std::string_view message) {
  if (special == Special::kBytes) return json::Value(encode_base64(message));
  if (special == Special::kTime || special == Special::kMicroTime)
    return decode_time(message, special == Special::kMicroTime);
  TRY(const auto inner, find_field(message, 1));
  if (special == Special::kQuantity) return text_of(inner);
  if (inner.bytes.empty()) return json::Value();
  return json::parse(inner.bytes);  // kRaw: the JSON of managed fields
}

// Whether the field stands in this message itself, or in one that Go embeds in it.
const std::string* find_name(const Schema& schema, std::uint32_t inside, std::uint32_t number) {
  for (const auto& name : schema.order) {
    const auto& property = schema.properties.at(name);
    if (property.number == number && property.inside == inside) return &name;
  }
  return nullptr;
}

bool is_embedded(const Schema& schema, std::uint32_t number) {
  for (const auto& [name, property] : schema.properties)
    if (property.inside == number) return true;
  return false;
}

Result<void> put_entry(const Schema& schema, std::string_view entry, json::Value& map) {
  if (!map.is_object()) map = json::Object();
  TRY(const auto key, find_field(entry, 1));
  TRY(const auto value, find_field(entry, 2));
  TRY(const auto name, text_of(key));
  TRY(auto decoded, decode(*schema.additional_properties, value));
  map.as_object()[name.as_string()] = std::move(decoded);
  return {};
}

Result<void> put_element(const Schema& schema, const Field& field, json::Value& list) {
  if (!list.is_array()) list = json::Array();
  // Numbers may stand side by side.
  if (schema.items->type == Type::kInteger && !field.bytes.empty()) {
    for (Reader reader(field.bytes); !reader.done();) {
      TRY(const auto number, reader.varint());
      list.as_array().emplace_back(static_cast<std::int64_t>(number));
    }
    return {};
  }
  TRY(auto decoded, decode(*schema.items, field));
  list.as_array().push_back(std::move(decoded));
  return {};
}

Result<void> decode_fields(const Schema& schema, std::string_view message, std::uint32_t inside,
                           json::Object& out) {
  for (Reader reader(message); !reader.done();) {
    TRY(const auto field, reader.next());
    const auto* name = find_name(schema, inside, field.number);
    if (!name) {
      if (inside == 0 && is_embedded(schema, field.number))
        TRY(decode_fields(schema, field.bytes, field.number, out));
      continue;
    }
    const auto& type = *schema.properties.at(*name).schema;
    if (type.type == Type::kArray) {
      TRY(put_element(type, field, out[*name]));
    } else if (type.additional_properties) {
      TRY(put_entry(type, field.bytes, out[*name]));
    } else {
      TRY(auto value, decode(type, field));
      if (!value.is_null()) out[*name] = std::move(value);
    }
  }
  return {};
}

Result<json::Value> decode(const Schema& schema, const Field& field) {
  if (schema.int_or_string) return decode_int_or_string(field.bytes);
  if (schema.special != Special::kNone) return decode_special(schema.special, field.bytes);
  switch (schema.type) {
    case Type::kString:
      return text_of(field);
    case Type::kBoolean:
      return json::Value(field.value != 0);
    case Type::kInteger:
    case Type::kNumber:
      return json::Value(static_cast<std::int64_t>(field.value));
    case Type::kObject:
    case Type::kArray:
    case Type::kAny:
      break;
  }
  json::Object object;
  TRY(decode_fields(schema, field.bytes, 0, object));
  return json::Value(std::move(object));
}

}  // namespace

Result<json::Value> parse_protobuf(std::string_view body) {
  if (!body.starts_with(kMagic)) return corrupt("the body does not begin with k8s");
  body.remove_prefix(kMagic.size());
  TRY(const auto names, find_field(body, 1));
  TRY(const auto content, find_field(body, 2));
  TRY(const auto api_version, find_field(names.bytes, 1));
  TRY(const auto kind, find_field(names.bytes, 2));
  json::Object object;
  TRY(object["apiVersion"], text_of(api_version));
  TRY(object["kind"], text_of(kind));
  const bool of_events = api_version.bytes == "events.k8s.io/v1";
  const auto type = find_builtin_type((of_events ? "events." : "") + std::string(kind.bytes));
  if (type) TRY(decode_fields(*type, content.bytes, 0, object));
  return json::Value(std::move(object));
}

}  // namespace quorate::apiserver
