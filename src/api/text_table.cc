#include "api/text_table.h"

#include <algorithm>

namespace quorate::api {
namespace {

bool comes_before(const TextTable::Entry& entry, std::string_view key) { return entry.key < key; }

}  // namespace

TextTable::TextTable(std::initializer_list<std::pair<std::string_view, std::string_view>> entries) {
  for (const auto& [key, value] : entries) set(key, std::string(value));
}

void TextTable::set(std::string_view key, std::string value) {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), key, comes_before);
  if (at != entries_.end() && at->key == key)
    at->value = std::move(value);
  else
    entries_.insert(at, {std::string(key), std::move(value)});
}

const std::string* TextTable::find(std::string_view key) const {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), key, comes_before);
  return at != entries_.end() && at->key == key ? &at->value : nullptr;
}

}  // namespace quorate::api
