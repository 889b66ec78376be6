#include "api/launch_report.h"

#include "json/document.h"

namespace quorate::api {

std::optional<LaunchReport> read_launch_report(int exit_code, std::string_view message) {
  if (exit_code < launch::kExitLost || exit_code > launch::kExitDamaged) return std::nullopt;
  LaunchReport report{static_cast<launch::ExitCode>(exit_code), std::string(message), true};
  if (auto document = json::parse(message)) {
    auto reason = json::text_or(*document, "/reason", "");
    if (!reason.empty()) report.reason = std::string(reason);
    report.holds_data = json::flag_at(*document, "/data").value_or(true);
  }
  return report;
}

}  // namespace quorate::api
