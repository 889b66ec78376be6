// An answer that is no success comes from a server, or from whatever stands before it: it becomes
// an error with the answer's code, whatever its body holds.

#include <cstdint>
#include <cstdlib>

#include "kube/status.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  using quorate::kube::Effect;
  quorate::net::Response answer;
  answer.status = 400 + data[0] % 200;
  if (data[1] & 1) answer.headers.emplace_back("content-type", "application/json");
  if (data[1] & 2) answer.headers.emplace_back("retry-after", std::to_string(data[1]));
  answer.body.assign(reinterpret_cast<const char*>(data + 2), size - 2);
  const Effect effect = data[1] & 4 ? Effect::kRead : Effect::kWrite;
  const auto error = quorate::kube::to_error(answer, effect);
  if (error.status() != answer.status || error.message().empty()) std::abort();
  if (error.retry_after() && *error.retry_after() > std::chrono::hours(1)) std::abort();
  (void)quorate::kube::is_already_exists(error);
  (void)quorate::kube::is_budget_exhausted(error);
  (void)quorate::kube::is_version_too_large(error);
  return 0;
}
