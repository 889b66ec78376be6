#include "operator/metrics_page.h"

namespace quorate::op {

void MetricsPage::family(std::string_view name, std::string_view kind, std::string_view help) {
  name_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
}

void MetricsPage::label(std::string_view name, std::string_view value, bool& first) {
  text_ += first ? "{" : ",";
  first = false;
  text_ += name;
  text_ += "=\"";
  for (char c : value) {
    if (c == '\\' || c == '"') text_ += '\\';
    if (c == '\n')
      text_ += "\\n";
    else
      text_ += c;
  }
  text_ += '"';
}

void MetricsPage::line(std::string_view suffix, Labels labels, std::string_view bound) {
  text_ += name_;
  text_ += suffix;
  bool first = true;
  for (const auto& [name, value] : labels) label(name, value, first);
  if (!bound.empty()) label("le", bound, first);
  if (!first) text_ += '}';
}

void MetricsPage::histogram(const Histogram& histogram, Labels labels) {
  const auto put = [&](std::string_view suffix, std::string_view bound, auto value) {
    line(suffix, labels, bound);
    fmt::format_to(std::back_inserter(text_), " {}\n", value);
  };
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i)
    put("_bucket", fmt::format("{}", Histogram::kBounds[i]), so_far += histogram.counts[i]);
  put("_bucket", "+Inf", histogram.count);
  put("_sum", "", histogram.seconds);
  put("_count", "", histogram.count);
}

}  // namespace quorate::op
