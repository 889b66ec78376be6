// The columns of custom kinds, as their definitions declare them, and those of scales.

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "apiserver/table_cells.h"
#include "apiserver/table_printers.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

// One column of a custom kind: what stands at a place, as the column's type says.
struct CustomCell {
  std::string pointer;
  std::string type;

  json::Value cell(const json::Value& object, WallTime now) const {
    const auto* value = json::find(object, pointer);
    if (!value || value->is_null()) return nullptr;
    if (type == "string") return value->is_string() ? *value : json::Value(json::render(*value));
    if (type == "date")
      return value->is_string() ? json::Value(time_since(object, pointer, now)) : json::Value();
    if (type == "boolean") return value->is_bool() ? *value : json::Value();
    if (!value->is_number()) return nullptr;
    const auto number = value->to_number<double>();
    if (type == "number") return number;
    if (value->is_double()) return static_cast<std::int64_t>(std::trunc(number));
    return *value;
  }
};

CustomCell age_cell() { return {"/metadata/creationTimestamp", "date"}; }

Result<std::string> pointer_of(std::string_view path) {
  std::string pointer;
  for (const auto name : split(path, '.')) {
    if (name.find_first_of("[]()*?@'\"\\") != std::string_view::npos)
      return fail(Code::kInvalid,
                  fmt::format("additionalPrinterColumns: jsonPath {} is more than a row of fields, "
                              "which is not held here",
                              path));
    if (!name.empty()) pointer += "/" + json::escape_pointer(name);
  }
  return pointer;
}

Printer make_printer(std::vector<Column> columns, std::vector<CustomCell> cells) {
  columns.insert(columns.begin(), name_column());
  return {std::move(columns), [cells = std::move(cells)](const json::Value& object, WallTime now) {
            Row row{.cells = {text_of(object, "/metadata/name")}};
            for (const auto& one : cells) row.cells.push_back(one.cell(object, now));
            return row;
          }};
}

}  // namespace

Result<Printer> make_custom_printer(const json::Value& version) {
  std::vector<Column> columns;
  std::vector<CustomCell> cells;
  const auto& given_columns = list_of(version, "/additionalPrinterColumns");
  if (given_columns.empty()) return make_printer({{"Age", "date"}}, {age_cell()});
  for (const auto& given : given_columns) {
    const auto path = text_of(given, "/jsonPath");
    TRY(auto pointer, pointer_of(path));
    const auto type = text_of(given, "/type");
    columns.push_back(
        {.name = text_of(given, "/name"),
         .type = type,
         .priority = static_cast<int>(number_of(given, "/priority")),
         .format = text_of(given, "/format"),
         .description = or_else(
             text_of(given, "/description"),
             fmt::format("Custom resource definition column (in JSONPath format): {}", path))});
    cells.push_back({std::move(pointer), type});
  }
  return make_printer(std::move(columns), std::move(cells));
}

const Printer& scale_printer() {
  static const Printer kPrinter =
      make_printer({{"Desired", "integer", 0, "", "Number of desired replicas"},
                    {"Available", "integer", 0, "", "Number of actual replicas"},
                    {"Age", "date"}},
                   {{"/spec/replicas", "integer"}, {"/status/replicas", "integer"}, age_cell()});
  return kPrinter;
}

}  // namespace quorate::apiserver
