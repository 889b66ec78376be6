// Selectors from any text or document: what is accepted is the same through its text.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/selector.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate::json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Labels labels = {{"a", "b"}, {"app", "etcd"}, {"n", "3"}};
  const auto check = [&](const LabelSelector& selector) {
    const bool matched = selector.matches(labels);
    const auto again_text = selector.text();
    if (!again_text) return;
    const auto again = LabelSelector::parse(*again_text);
    CHECK(again && *again == selector && again->matches(labels) == matched);
  };
  if (const auto selector = LabelSelector::parse(text)) check(*selector);
  if (const auto value = parse(text))
    if (const auto selector = LabelSelector::from_json(*value)) check(*selector);
  if (const auto selector = FieldSelector::parse(text)) {
    const auto again = FieldSelector::parse(selector->text());
    CHECK(again && *again == *selector);
  }
  return 0;
}
