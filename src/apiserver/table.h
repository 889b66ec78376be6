#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "json/document.h"

namespace quorate::apiserver {

// Objects as lines for people, as `kubectl get` prints them: meta.k8s.io Tables.

// How a column calls itself. Columns of a priority above 0 are for `-o wide`.
struct Column {
  std::string name;
  std::string type = "string";
  int priority = 0;
  std::string format = {};
  std::string description = {};  // of custom kinds alone: nobody shows them
};

struct Row {
  json::Array cells;  // one for each column
  json::Array conditions = {};
};

// How a kind prints its objects. `now`: ages are told in words.
struct Printer {
  std::vector<Column> columns;
  std::function<Row(const json::Value& object, WallTime now)> print;
};

// nullptr if there is none; every built-in kind has one. Lives as long as the program.
[[nodiscard]] const Printer* find_builtin_printer(std::string_view kind);
// From the additionalPrinterColumns of a CRD's version: the name, then those. kInvalid for a
// jsonPath that is more than a row of fields.
[[nodiscard]] Result<Printer> make_custom_printer(const json::Value& version);
// Of an autoscaling/v1 Scale.
[[nodiscard]] const Printer& scale_printer();

// The columnDefinitions of a table.
[[nodiscard]] json::Array render_columns(const Printer& printer);

}  // namespace quorate::apiserver
