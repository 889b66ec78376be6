#include "json/extent.h"

#include <algorithm>

namespace quorate::json {

Extent measure(const Value& value) {
  Extent whole;
  const auto add = [&](const Value& part) {
    const Extent inner = measure(part);
    whole.values += inner.values;
    whole.bytes += inner.bytes;
    whole.depth = std::max(whole.depth, inner.depth);
  };
  if (const auto* text = value.if_string()) whole.bytes = text->size();
  if (const auto* array = value.if_array())
    for (const auto& element : *array) add(element);
  if (const auto* object = value.if_object())
    for (const auto& member : *object) {
      whole.bytes += member.key().size();
      add(member.value());
    }
  if (value.is_structured()) ++whole.depth;
  return whole;
}

}  // namespace quorate::json
