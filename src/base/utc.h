#pragma once

#include <chrono>
#include <string>

namespace quorate {

// A time as RFC 3339 writes it, to the second and without its zone: "2026-01-02T15:04:05". Callers
// add fraction and "Z".
[[nodiscard]] std::string render_utc(std::chrono::sys_seconds time);

}  // namespace quorate
