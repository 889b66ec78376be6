// Any exit code and termination message, as a container of a member may leave them.

#include <cstdint>

#include "api/last_words.h"
#include "api/launch_report.h"
#include "base/bytes.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate;
  if (size == 0) return 0;
  const int code = data[0];
  const std::string_view message(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto report = api::read_launch_report(code, message);
  CHECK(report.has_value() == (code >= launch::kExitLost && code <= launch::kExitDamaged));
  if (report) CHECK(report->code == code && report->reason.size() <= message.size());
  const auto words = api::last_words(message);
  CHECK(words.size() <= 300);
  if (is_valid_utf8(message)) CHECK(is_valid_utf8(words), "it stands in status");
  if (api::says_log_is_short(message)) CHECK(message.find("ommit") != std::string_view::npos);
  return 0;
}
