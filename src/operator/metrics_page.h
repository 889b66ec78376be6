#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "operator/histogram.h"

namespace quorate::op {

struct Label {
  std::string_view name;
  std::string_view value;
};
using Labels = std::initializer_list<Label>;

// A page of metrics in Prometheus' text format: families one after the other, each with its help,
// its type and its samples.
class MetricsPage {
 public:
  // What follows belongs to it. Names have their unit as a suffix; counters end in _total.
  void family(std::string_view name, std::string_view kind, std::string_view help);
  template <class Number>
  void sample(Number value, Labels labels = {}) {
    line("", labels, "");
    fmt::format_to(std::back_inserter(text_), " {}\n", value);
  }
  // A family of one sample.
  template <class Number>
  void one(std::string_view name, std::string_view kind, std::string_view help, Number value) {
    family(name, kind, help);
    sample(value);
  }
  // Samples of a family of kind histogram.
  void histogram(const Histogram& histogram, Labels labels = {});

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void line(std::string_view suffix, Labels labels, std::string_view bound);
  void label(std::string_view name, std::string_view value, bool& first);

  std::string text_;
  std::string name_;
};

}  // namespace quorate::op
