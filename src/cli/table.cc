#include "cli/table.h"

#include <algorithm>

#include "base/check.h"

namespace quorate::cli {
namespace {

constexpr std::size_t kGap = 3;

// Letters as a terminal counts them: bytes that continue a letter of UTF-8 take no room.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

const char* sequence(Mark mark) {
  switch (mark) {
    case Mark::kPlain:
      return "";
    case Mark::kGood:
      return "\x1b[32m";
    case Mark::kWarning:
      return "\x1b[33m";
    case Mark::kBad:
      return "\x1b[31m";
    case Mark::kFaint:
      return "\x1b[2m";
    case Mark::kBold:
      return "\x1b[1m";
  }
  return "";
}

}  // namespace

std::string Paint::operator()(Mark mark, std::string_view text) const {
  if (!colours_ || mark == Mark::kPlain || text.empty()) return std::string(text);
  return sequence(mark) + std::string(text) + "\x1b[0m";
}

std::string cut_line(std::string_view line, std::size_t columns) {
  std::string out;
  std::size_t room = columns;
  std::size_t fits = 0;  // of `out`, when one letter less has room
  bool marked = false;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '\x1b') {
      const auto end = std::min(line.find('m', at), line.size() - 1);
      out += line.substr(at, end + 1 - at);
      at = end + 1;
      marked = true;
      continue;
    }
    std::size_t letter = 1;
    while (at + letter < line.size() && width(line.substr(at + letter, 1)) == 0) ++letter;
    if (room == 0) {
      out.resize(fits);
      return out + "…" + (marked ? "\x1b[0m" : "");
    }
    if (--room == 0) fits = out.size();
    out += line.substr(at, letter);
    at += letter;
  }
  return out;
}

void Table::add(std::vector<Cell> row) {
  CHECK(row.size() == head_.size(), "{} cells in a table of {} columns", row.size(), head_.size());
  for (auto& cell : row)
    if (cell.text.empty()) cell.text = "-";
  rows_.push_back(std::move(row));
}

std::string Table::render(const Paint& paint, std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < head_.size(); ++i) {
    widths.push_back(width(head_[i]));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], width(row[i].text));
  }
  std::string out;
  const auto put = [&](std::size_t column, Mark mark, const std::string& text) {
    out += paint(mark, text);
    if (column + 1 < head_.size()) out.append(widths[column] - width(text) + kGap, ' ');
  };
  out += indent;
  for (std::size_t i = 0; i < head_.size(); ++i) put(i, Mark::kFaint, head_[i]);
  out += '\n';
  for (const auto& row : rows_) {
    out += indent;
    for (std::size_t i = 0; i < row.size(); ++i) put(i, row[i].mark, row[i].text);
    out += '\n';
  }
  return out;
}

}  // namespace quorate::cli
