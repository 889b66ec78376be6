#include "node/keyed_object.h"

#include "base/bytes.h"

namespace quorate::node {
namespace {

enum class Encoding { kPlain, kBase64 };

void read_data(json::Reader& in, Encoding encoding, TextMap& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (encoding == Encoding::kPlain) {
      out.insert_or_assign(std::string(key), std::string(value.text()));
      return;
    }
    auto bytes = decode_base64(value.text());
    if (bytes)
      out.insert_or_assign(std::string(key), std::move(*bytes));
    else
      value.fail(bytes.error().code(), bytes.error().text());
  });
}

}  // namespace

void read(json::Reader& in, SecretView& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata")
      read(value, out.meta);
    else if (key == "data")
      read_data(value, Encoding::kBase64, out.data);
  });
}

void read(json::Reader& in, ConfigMapView& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "metadata")
      read(value, out.meta);
    else if (key == "data")
      read_data(value, Encoding::kPlain, out.data);
    else if (key == "binaryData")
      read_data(value, Encoding::kBase64, out.data);
  });
}

}  // namespace quorate::node
