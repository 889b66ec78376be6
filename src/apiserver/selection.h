#pragma once

#include <string>
#include <string_view>

#include "apiserver/storage.h"
#include "json/selector.h"

namespace quorate::apiserver {

// What a list or a watch asks for: a namespace or all, labels and fields.
struct Selection {
  std::string ns;  // empty: all
  json::LabelSelector labels = json::LabelSelector::everything();
  json::FieldSelector fields;

  [[nodiscard]] bool matches(const Kind& kind, const ObjectKey& key, const Record& record) const;
};

// Labels and selectable fields of an object, packed into one text for Record::index.
[[nodiscard]] std::string make_index(const Kind& kind, const json::Value& object);

}  // namespace quorate::apiserver
