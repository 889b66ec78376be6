// Documents from any text: what is accepted renders to a text that reads back as the same.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/document.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate::json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = parse(text);
  const Value nothing;
  (void)find(nothing, text);
  if (!value) return 0;
  const auto again = parse(render(*value));
  CHECK(again && *again == *value);
  CHECK(render_sorted(*again) == render_sorted(*value));
  CHECK(equal(*again, *value));
  return 0;
}
