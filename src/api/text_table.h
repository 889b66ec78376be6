#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quorate::api {

// Texts by key, in the order of the keys, each key once: labels, annotations, options. Compact,
// because every cluster has several and most are empty.
class TextTable {
 public:
  struct Entry {
    std::string key;
    std::string value;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  TextTable() = default;
  TextTable(std::initializer_list<std::pair<std::string_view, std::string_view>> entries);

  void set(std::string_view key, std::string value);  // in place of what was there
  [[nodiscard]] const std::string* find(std::string_view key) const;
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }
  friend bool operator==(const TextTable&, const TextTable&) = default;

  template <class Visit>
  friend void each_field(Visit& visit, TextTable& table) {
    visit(table.entries_);
  }
  template <class Visit>
  friend void each_field(Visit& visit, Entry& entry) {
    visit(entry.key, entry.value);
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace quorate::api
