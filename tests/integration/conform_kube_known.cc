#include "conform_kube_known.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/strings.h"

namespace quorate::conform {

namespace {

constexpr std::string_view kMark = "<!-- known differences -->";

// The text between the first and the last backtick of a cell; cells may escape `|` as `\|`.
std::string code_of(std::string_view cell) {
  const auto first = cell.find('`');
  const auto last = cell.rfind('`');
  if (first == std::string_view::npos || first == last) return "";
  std::string text(cell.substr(first + 1, last - first - 1));
  for (auto at = text.find("\\|"); at != std::string::npos; at = text.find("\\|"))
    text.erase(at, 1);
  return text;
}

std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells(1);
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] == '|' && row[i - 1] != '\\')
      cells.emplace_back();
    else
      cells.back() += row[i];
  }
  return cells;
}

void remove_at(json::Value& value, std::span<const std::string_view> names) {
  if (names.empty()) return;
  if (auto* array = value.if_array()) {
    for (std::size_t i = 0; i < array->size(); ++i)
      if (names[0] == "*" || names[0] == fmt::to_string(i)) {
        if (names.size() == 1)
          (*array)[i] = nullptr;
        else
          remove_at((*array)[i], names.subspan(1));
      }
    return;
  }
  auto* object = value.if_object();
  if (!object) return;
  for (auto member = object->begin(); member != object->end();) {
    const bool matches = names[0] == "*" || names[0] == std::string_view(member->key());
    if (matches && names.size() == 1) {
      member = object->stable_erase(member);
      continue;
    }
    if (matches) remove_at(member->value(), names.subspan(1));
    ++member;
  }
}

Reply without(Reply reply, const std::vector<std::string>& pointers) {
  for (const auto& pointer : pointers) {
    const auto names = split(pointer, '/');
    remove_at(reply, std::span(names).subspan(1));
  }
  return reply;
}

}  // namespace

std::vector<KnownDifference> read_known_differences(std::string_view document) {
  const auto at = document.find(kMark);
  if (at == std::string_view::npos) throw std::runtime_error("no table of known differences");
  std::vector<KnownDifference> known;
  for (const auto line : split(document.substr(at + kMark.size()), '\n')) {
    if (!line.starts_with("| `")) continue;
    const auto cells = cells_of(line);
    if (cells.size() < 5 || trim(cells[4]).empty())
      throw std::runtime_error(fmt::format("a known difference without a reason: {}", line));
    KnownDifference difference{
        code_of(cells[0]), std::regex(code_of(cells[1])), std::regex(code_of(cells[2])), {}, 0};
    for (const auto field : split(code_of(cells[3]), ' '))
      if (!field.empty()) difference.fields.emplace_back(field);
    known.push_back(std::move(difference));
  }
  return known;
}

bool agree(const std::string& request, const Reply& real, const Reply& ours,
           std::vector<KnownDifference>& known) {
  if (json::equal(real, ours)) return true;
  const auto text = json::render_sorted(real);
  Reply left = real, right = ours;
  std::vector<KnownDifference*> mattered;
  for (auto& difference : known) {
    if (!std::regex_search(request, difference.request) ||
        !std::regex_search(text, difference.answer))
      continue;
    auto less_left = without(left, difference.fields);
    auto less_right = without(right, difference.fields);
    if (differences(left, right, 1000).size() != differences(less_left, less_right, 1000).size())
      mattered.push_back(&difference);
    left = std::move(less_left);
    right = std::move(less_right);
  }
  if (!json::equal(left, right)) return false;
  for (auto* difference : mattered) ++difference->used;
  return true;
}

}  // namespace quorate::conform
