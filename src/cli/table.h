#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quorate::cli {

// Marks on a terminal; in a pipe, or where NO_COLOR is set, there are none.
enum class Mark { kPlain, kGood, kWarning, kBad, kFaint, kBold };
class Paint {
 public:
  explicit Paint(bool colours) : colours_(colours) {}
  [[nodiscard]] std::string operator()(Mark mark, std::string_view text) const;

 private:
  bool colours_;
};

// As much of a line as fits; one that is cut ends with "…". Marks take no room, and end with it.
[[nodiscard]] std::string cut_line(std::string_view line, std::size_t columns);

// Text in columns, three spaces apart, without borders: what people and `awk` can both read. The
// last column is never padded.
class Table {
 public:
  struct Cell {
    Cell(std::string content, Mark how = Mark::kPlain) : text(std::move(content)), mark(how) {}
    Cell(std::string_view content, Mark how = Mark::kPlain) : text(content), mark(how) {}
    Cell(const char* content, Mark how = Mark::kPlain) : text(content), mark(how) {}
    std::string text;
    Mark mark = Mark::kPlain;
  };

  explicit Table(std::vector<std::string> head) : head_(std::move(head)) {}
  void add(std::vector<Cell> row);  // one cell a column; an empty one shows as `-`
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string render(const Paint& paint, std::string_view indent = "") const;

 private:
  std::vector<std::string> head_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace quorate::cli
