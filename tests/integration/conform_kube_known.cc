#include "conform_kube_known.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <stdexcept>

#include "base/strings.h"
#include "conform_kube_servers.h"

namespace quorate::conform {

namespace {

constexpr std::string_view kMark = "<!-- known differences -->";
constexpr std::string_view kUpTo = " up to ";

// The texts between backticks; cells may escape `|` as `\|`.
std::vector<std::string> codes_of(std::string_view cell) {
  std::vector<std::string> codes;
  const auto parts = split(cell, '`');
  for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
    std::string text(parts[i]);
    for (auto at = text.find("\\|"); at != std::string::npos; at = text.find("\\|"))
      text.erase(at, 1);
    codes.push_back(std::move(text));
  }
  return codes;
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

KnownDifference read_row(std::string_view line) {
  const auto cells = cells_of(line);
  const auto refuse = [&](std::string_view why) {
    throw std::runtime_error(fmt::format("known differences: {}: {}", why, line));
  };
  if (cells.size() < 5 || trim(cells[4]).empty()) refuse("a row without a reason");
  const auto id = codes_of(cells[0]), request = codes_of(cells[1]), answer = codes_of(cells[2]);
  if (id.size() != 1 || request.size() != 1 || answer.size() != 1) refuse("a row without a cell");
  KnownDifference difference{id[0], std::regex(request[0]), std::regex(answer[0]), {}, 0};
  for (const auto& code : codes_of(cells[3])) {
    const auto parts = cut(code, kUpTo);
    difference.exempt.push_back(
        parts ? Exempt{std::string(parts->before), std::string(parts->after)} : Exempt{code, ""});
  }
  if (difference.exempt.empty()) refuse("a row that exempts nothing");
  return difference;
}

// Whether the value itself is to go.
bool exempted(json::Value& value, const std::string& up_to) {
  if (up_to.empty()) return true;
  if (auto* text = value.if_string())
    if (const auto at = std::string_view(*text).find(up_to); at != std::string_view::npos)
      text->resize(at + up_to.size());
  return false;
}

void leave_out(json::Value& value, std::span<const std::string_view> names,
               const std::string& up_to) {
  const auto matches = [&](std::string_view name) { return names[0] == "*" || names[0] == name; };
  if (auto* array = value.if_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (!matches(fmt::to_string(i))) continue;
      if (names.size() > 1)
        leave_out((*array)[i], names.subspan(1), up_to);
      else if (exempted((*array)[i], up_to))
        (*array)[i] = nullptr;
    }
  } else if (auto* object = value.if_object()) {
    for (auto member = object->begin(); member != object->end();) {
      const bool meant = matches(member->key());
      if (meant && names.size() == 1 && exempted(member->value(), up_to)) {
        member = object->stable_erase(member);
        continue;
      }
      if (meant && names.size() > 1) leave_out(member->value(), names.subspan(1), up_to);
      ++member;
    }
  }
}

Reply without(Reply reply, const std::vector<Exempt>& exempt) {
  for (const auto& one : exempt) {
    const auto names = split(one.pointer, '/');
    leave_out(reply, std::span(names).subspan(1), one.up_to);
  }
  return reply;
}

void collect(const json::Value& a, const json::Value& b, const std::string& at, std::size_t most,
             std::vector<std::string>& out) {
  if (out.size() >= most || json::equal(a, b)) return;
  if (a.is_object() && b.is_object()) {
    std::set<std::string> keys;
    for (const auto& [key, value] : a.get_object()) keys.insert(std::string(key));
    for (const auto& [key, value] : b.get_object()) keys.insert(std::string(key));
    for (const auto& key : keys) {
      const auto* left = a.get_object().if_contains(key);
      const auto* right = b.get_object().if_contains(key);
      const auto pointer = at + "/" + json::escape_pointer(key);
      if (left && right)
        collect(*left, *right, pointer, most, out);
      else if (out.size() < most)
        out.push_back(pointer);
    }
    return;
  }
  if (a.is_array() && b.is_array()) {
    const auto &left = a.get_array(), &right = b.get_array();
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      const auto pointer = fmt::format("{}/{}", at, i);
      if (i < left.size() && i < right.size())
        collect(left[i], right[i], pointer, most, out);
      else if (out.size() < most)
        out.push_back(pointer);
    }
    return;
  }
  out.push_back(at);
}

}  // namespace

std::vector<KnownDifference> read_known_differences(std::string_view document) {
  const auto at = document.find(kMark);
  if (at == std::string_view::npos) throw std::runtime_error("no table of known differences");
  std::vector<KnownDifference> known;
  for (const auto line : split(document.substr(at + kMark.size()), '\n'))
    if (line.starts_with("| `")) known.push_back(read_row(line));
  return known;
}

std::vector<KnownDifference> known_differences(std::string_view prefix) {
  auto known = read_known_differences(read_document());
  std::erase_if(known, [&](const KnownDifference& one) {
    if (!prefix.empty()) return !one.id.starts_with(prefix);
    return one.id.starts_with(kOfControllers) || one.id.starts_with(kOfForms) ||
           one.id.starts_with(kOfOpenapi) || one.id.starts_with(kOfKubectl);
  });
  return known;
}

Agreement compare_replies(const std::string& request, const Reply& real, const Reply& ours,
                          std::vector<KnownDifference>& known) {
  if (json::equal(real, ours)) return Agreement::kEqual;
  const auto text = json::render_sorted(real);
  Reply left = real, right = ours;
  std::vector<KnownDifference*> mattered;
  for (auto& difference : known) {
    if (!std::regex_search(request, difference.request) ||
        !std::regex_search(text, difference.answer))
      continue;
    auto less_left = without(left, difference.exempt);
    auto less_right = without(right, difference.exempt);
    if (differences(left, right, 1000) != differences(less_left, less_right, 1000))
      mattered.push_back(&difference);
    left = std::move(less_left);
    right = std::move(less_right);
  }
  if (!json::equal(left, right)) return Agreement::kDifferent;
  for (auto* difference : mattered) ++difference->used;
  return Agreement::kListed;
}

std::pair<Reply, Reply> without_known(const std::string& request, const Reply& real,
                                      const Reply& ours,
                                      const std::vector<KnownDifference>& known) {
  const auto text = json::render_sorted(real);
  std::pair<Reply, Reply> left{real, ours};
  for (const auto& difference : known) {
    if (!std::regex_search(request, difference.request) ||
        !std::regex_search(text, difference.answer))
      continue;
    left = {without(left.first, difference.exempt), without(left.second, difference.exempt)};
  }
  return left;
}

std::vector<std::string> differences(const json::Value& a, const json::Value& b, std::size_t most) {
  std::vector<std::string> out;
  collect(a, b, "", most, out);
  return out;
}

}  // namespace quorate::conform
