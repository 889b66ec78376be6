// YAML from any text: what is accepted renders to a text that reads back as the same.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate::json;
  const YamlLimits limits{.bytes = 1 << 16, .depth = 32, .values = 10'000};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto documents = parse_yaml_stream(text, limits);
  if (!documents) return 0;
  for (const auto& document : *documents) {
    for (const auto& [pointer, position] : document.positions)
      CHECK(position.line >= 1 && position.column >= 1);
    const auto again = parse_yaml(render_yaml(document.value));
    CHECK(again && equal(again->value, document.value), "{}", render(document.value));
  }
  return 0;
}
