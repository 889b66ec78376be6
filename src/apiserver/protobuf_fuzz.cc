// Bodies of any bytes: what is read is a document that can be written and read again.

#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/protobuf.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // With the beginning that every body has, which chance would not find.
  for (const auto& body : {std::string(bytes), std::string("k8s\0", 4) + std::string(bytes)})
    if (const auto parsed = apiserver::parse_protobuf(body)) {
      const auto again = json::parse(json::render(*parsed));
      CHECK(again && json::equal(*again, *parsed));
    }
  return 0;
}
