// Quantities, durations and times from any text: what is accepted keeps its value through its text.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/duration.h"
#include "json/quantity.h"
#include "json/timestamp.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate::json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto quantity = Quantity::parse(text)) {
    const auto again = Quantity::parse(quantity->text());
    CHECK(again && *again == *quantity && again->text() == quantity->text());
    CHECK(again->bytes() == quantity->bytes() && again->millis() == quantity->millis());
  }
  if (const auto duration = parse_duration(text)) {
    CHECK(parse_duration(render_duration(*duration)) == *duration);
    (void)render_duration_short(*duration);
  }
  if (const auto time = parse_micro_time(text)) {
    // A leap second or an offset may lead out of the four-digit years.
    const auto rendered = render_micro_time(*time);
    if (const auto again = parse_micro_time(rendered)) CHECK(*again == *time);
  }
  return 0;
}
