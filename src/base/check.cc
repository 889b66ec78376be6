#include "base/check.h"

namespace quorate {

void broken_invariant(const char* condition, const char* file, int line,
                      const std::string& detail) {
  auto text = fmt::format("{}:{}: broken invariant: {}", file, line, condition);
  if (!detail.empty()) text += ": " + detail;
  throw BrokenInvariant(text);
}

}  // namespace quorate
